"""Feature cards: what turns a picture, a sound or a text into numbers, and the runtimes that do it."""
