"""PAGES: a job's result becomes sentences, pictures and tables, and these one self-contained HTML file."""

from sidelight.app.report.page import Page, Provenance, Section, to_html

__all__ = ["Page", "Provenance", "Section", "to_html"]
