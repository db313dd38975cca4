"""Other people's methods for rows of labelled bags."""
