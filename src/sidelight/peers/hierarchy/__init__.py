"""Other people's methods for label sets with gaps."""
