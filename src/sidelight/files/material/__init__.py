"""Raw material cut into rows: recordings into sounds, photographs into regions, folders of texts."""
