"""The result of a run in the studio: where it ended, what people say about its rows, and the run repeated with that."""
