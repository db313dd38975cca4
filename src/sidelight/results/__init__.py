"""FINDINGS: what jobs found, as numbers and tables without a sentence; jobs make them, pages and JSON show them."""

from sidelight.results.base import Columns, Map, Reading, Result, big, columns_of
from sidelight.results.truth import Truth, cross_table

__all__ = ["Columns", "Map", "Reading", "Result", "Truth", "big", "columns_of", "cross_table"]
