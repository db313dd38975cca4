"""MEMORY: what outlives a run: answers in a file of JSON lines, and the studio's database (all SQL is in one file)."""
