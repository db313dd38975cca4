"""Is it sparse? Asked without scipy.sparse, whose import takes longer than reading a small table."""

from __future__ import annotations

import sys
from typing import Any


def is_sparse(X: Any) -> bool:
    """Say whether X is a sparse matrix or array of scipy: where scipy.sparse was not imported, nothing is."""
    sparse = sys.modules.get("scipy.sparse")
    return sparse is not None and bool(sparse.issparse(X))
