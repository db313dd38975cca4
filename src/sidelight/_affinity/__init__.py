"""NEARNESS: how alike rows or bags are: neighbours, scalings, operators and embeddings."""
