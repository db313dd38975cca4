"""One module for each kind of result: ``page(result) -> Page`` says WHAT to show, in sentences, pictures and tables.

A page never computes: what it shows is in the result. What was read, left out and heard is added here, for every job.
"""

from __future__ import annotations

from importlib import import_module

from sidelight.report.page import Page
from sidelight.report.pages.reading import about_reading, reading_sections
from sidelight.results import Result


def page_of(result: Result) -> Page:
    """Turn a result into its page."""
    page: Page = import_module(f"sidelight.report.pages.{result.page}").page(result)
    sentences = [*page.sentences, *result.heard, *about_reading(result.reading)]
    return Page(page.title, sentences, [*page.sections, *reading_sections(result.reading)])


__all__ = ["page_of"]
