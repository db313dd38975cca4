"""MEMORY: what outlives a run, such as the answers people gave. Nothing lives here yet."""
