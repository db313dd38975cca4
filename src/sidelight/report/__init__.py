"""PAGES: a job's result becomes sentences, pictures and tables, and these one self-contained HTML file."""

from sidelight.report.page import Page, Section, Table, to_html

__all__ = ["Page", "Section", "Table", "to_html"]
