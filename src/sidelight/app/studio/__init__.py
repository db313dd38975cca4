"""The work behind the studio: projects, the model that asks, what people said, and what is seen of it."""
