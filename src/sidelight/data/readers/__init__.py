"""Readers: one file per format, each turning a file people have into rows and side information."""
