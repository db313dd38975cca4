"""PARTS OF PAGES: plain functions that take numbers and names and return markup, for reports and for the studio.

They know nothing of jobs. Their looks are in ``page.css``, what happens on hover, tap and keys is in ``page.js``; both
files are inlined in a report and can be served as they are.
"""

from sidelight.app.report.components.charts import bars, figure, histogram, lines
from sidelight.app.report.components.heat import blocks, heat
from sidelight.app.report.components.maps import gallery, media, picture, profile, row_map
from sidelight.app.report.components.markup import (
    Markup,
    card,
    cards,
    clip,
    command,
    contents,
    element,
    escape,
    facts,
    files,
    folded,
    glossary,
    join,
    notice,
)
from sidelight.app.report.components.tables import number, percent, table
from sidelight.app.report.components.trees import Branch, tree, tree_picture

__all__ = [
    "bars", "blocks", "card", "cards", "command", "contents", "facts", "figure", "files", "folded", "gallery",
    "glossary", "heat", "histogram", "lines", "media", "notice", "picture", "profile", "row_map", "table", "tree",
    "tree_picture",
    "Branch", "Markup", "clip", "element", "escape", "join", "number", "percent",
]  # fmt: skip
