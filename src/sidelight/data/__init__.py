"""KNOWLEDGE: what somebody told us, as frozen objects that are valid from birth."""
