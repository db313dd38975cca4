"""A Sphinx extension: formulas become MathML when the pages are built, so that they need no script and no network."""

from __future__ import annotations

import re
from typing import Any
from xml.etree import ElementTree

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.util import logging

_TAG = re.compile(r"\\tag\{([^}]*)\}")
# Browsers draw these alphabets by their letters; the attribute of latex2mathml is not part of MathML Core.
_ALPHABETS = {"double-struck": (0x1D538, 0x1D552, 0x1D7D8), "bold": (0x1D400, 0x1D41A, 0x1D7CE)}
_OLDER = {"C": "ℂ", "H": "ℍ", "N": "ℕ", "P": "ℙ", "Q": "ℚ", "R": "ℝ", "Z": "ℤ"}  # double-struck letters of their own
_LIMITS = {"min", "max"}  # in formulas of their own, what these range over stands below them
_NAMESPACE = "http://www.w3.org/1998/Math/MathML"
logger = logging.getLogger(__name__)


def as_mathml(latex: str, *, is_block: bool) -> str:
    r"""Return the formula as MathML; ``\tag{1}`` becomes a number beside it."""
    tag = _TAG.search(latex)
    root = ElementTree.fromstring(convert(_TAG.sub("", latex), display="block" if is_block else "inline"))
    for part in root.iter():
        if is_block and part.tag == f"{{{_NAMESPACE}}}msub" and part[0].text in _LIMITS:
            part.tag = f"{{{_NAMESPACE}}}munder"
        variant = part.get("mathvariant")
        if variant in _ALPHABETS and part.text:
            part.text = "".join(_letter(character, variant) for character in part.text)
            del part.attrib["mathvariant"]
    ElementTree.register_namespace("", _NAMESPACE)
    drawn = ElementTree.tostring(root, encoding="unicode")
    number = f'<span class="eqno">({tag[1]})</span>' if tag else ""
    return f'<div class="math">{number}{drawn}</div>' if is_block else drawn


def _letter(character: str, variant: str) -> str:
    if variant == "double-struck" and character in _OLDER:
        return _OLDER[character]
    upper, lower, digit = _ALPHABETS[variant]
    for first, last, start in (("A", "Z", upper), ("a", "z", lower), ("0", "9", digit)):
        if first <= character <= last:
            return chr(start + ord(character) - ord(first))
    return character


def _visit(is_block: bool) -> Any:
    def visit(self: Any, node: nodes.Element) -> None:
        drawn = as_mathml(node.astext(), is_block=is_block)
        unknown = re.findall(r"\\\S+", drawn)
        if unknown:
            logger.warning("%s is not understood in the formula %s", unknown[0], node.astext(), location=node)
        self.body.append(drawn)
        raise nodes.SkipNode

    return visit


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx that there is such a way to draw formulas."""
    app.add_html_math_renderer("mathml", (_visit(False), None), (_visit(True), None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
