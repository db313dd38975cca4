"""The ask job: a person answers, the session chooses the next question. ``sidelight ask`` is its own command."""

from __future__ import annotations

from sidelight.lazy import functions_of

_here = functions_of(__name__)
DEMOS = {"ask": _here("demo.digits")}
