"""What the five documents print, item by item; a chapter of the thesis counts as a document of its own."""

from __future__ import annotations

from documents import b04, p17_3, p17_4, p17_5, pf14, z09, z17
from verdicts import Document

DOCUMENTS: dict[str, Document] = {
    module.DOCUMENT.key: module.DOCUMENT for module in (pf14, z09, z17, p17_3, p17_4, p17_5, b04)
}
