"""PAGES: a Report of sentences, pictures and tables becomes one self-contained HTML file."""

from sidelight.report.page import Report, Section, Table

__all__ = ["Report", "Section", "Table"]
