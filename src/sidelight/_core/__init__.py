"""NUMBERS: arrays in, arrays out. What knows nothing of users, files or estimators belongs here."""
