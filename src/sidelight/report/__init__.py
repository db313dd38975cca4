"""PAGES: a Report of sentences, pictures and tables becomes one self-contained HTML file."""
