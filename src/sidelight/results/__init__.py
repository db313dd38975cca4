"""FINDINGS: what jobs found, as numbers and tables without a sentence; jobs make them, pages and JSON show them."""

from sidelight.results.base import Columns, Map, Reading, Result, big, columns_of

__all__ = ["Columns", "Map", "Reading", "Result", "big", "columns_of"]
