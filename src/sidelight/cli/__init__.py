"""SHELL: the command line; one file per command: parse, one call into jobs, render."""
