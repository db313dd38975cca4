"""Coverage clustering: rows explained by the lists of their bags."""
