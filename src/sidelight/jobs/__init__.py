"""WORK: what a command does, without the command line: RunConfig -> run -> files."""
