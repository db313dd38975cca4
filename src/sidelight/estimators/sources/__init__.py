"""SOURCES: several channels recorded together, clustered through their co-occurrences, [B04]."""
