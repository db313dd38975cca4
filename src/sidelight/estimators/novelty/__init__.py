"""Labels that nobody has named yet: DMNL."""
