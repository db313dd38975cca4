"""FAMILIES: classes with fit; one file or package per family, strangers to each other."""
