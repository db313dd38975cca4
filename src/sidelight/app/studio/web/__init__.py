"""SHELL: the studio's server; one file per group of routes, pages with their JSON twins. Only this room has FastAPI."""
