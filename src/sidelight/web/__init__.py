"""SHELL: the web page; one file per route. Nothing lives here yet."""
