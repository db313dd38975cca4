"""PICTURES: Display objects, the only room that imports matplotlib."""
