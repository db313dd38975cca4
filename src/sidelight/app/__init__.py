"""The application: commands, pages and the studio, on top of the library and the readers."""
