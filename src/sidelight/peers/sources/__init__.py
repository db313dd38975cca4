"""Other people's methods for several channels."""
