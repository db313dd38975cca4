"""Several measurements of the same rows, side by side in one matrix."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import scipy.sparse as sp

from sidelight.errors import InvalidData


def stack_channels(channels: Mapping[str, Any]) -> tuple[Any, dict[str, slice]]:
    """Put channels side by side; return the matrix and where each channel is in it.

    Parameters
    ----------
    channels : mapping of str to array
        For each channel a matrix with one row per moment, or one number per moment. When one is sparse, so is X.

    Returns
    -------
    X : ndarray of float64 or CSR array of shape (n_rows, n_columns)
    channels : dict of str to slice
        ``X[:, channels["face"]]`` is the channel ``"face"`` again.

    Examples
    --------
    >>> import sidelight as sl
    >>> X, channels = sl.stack_channels({"face": [[0.1, 0.2], [0.3, 0.4]], "height": [171.0, 164.0]})
    >>> X.shape, channels["height"]
    ((2, 3), slice(2, 3, None))
    """
    if not isinstance(channels, Mapping) or not channels:
        raise InvalidData(
            "stack_channels needs a mapping of channel names to arrays, as in {'face': F, 'height': h}; got "
            f"{'an empty mapping' if isinstance(channels, Mapping) else type(channels).__name__}."
        )
    blocks = {name: _as_block(name, block) for name, block in channels.items()}
    first = next(iter(blocks))
    places, start = {}, 0
    for name, block in blocks.items():
        if block.shape[0] != blocks[first].shape[0]:
            raise InvalidData(
                f"stack_channels: channel {first!r} has {blocks[first].shape[0]} rows but channel {name!r} has "
                f"{block.shape[0]}. Every channel describes the same moments, one row each."
            )
        places[name] = slice(start, start + block.shape[1])
        start += block.shape[1]
    if any(sp.issparse(block) for block in blocks.values()):
        return sp.hstack([sp.csr_array(block) for block in blocks.values()], format="csr"), places
    return np.hstack(list(blocks.values())), places


def _as_block(name: Any, block: Any) -> Any:
    if not isinstance(name, str) or not name:
        raise InvalidData(f"stack_channels: the name of a channel must be a non-empty string, got {name!r}.")
    if sp.issparse(block):
        return block.astype(np.float64)
    try:
        array = np.asarray(block, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise InvalidData(f"stack_channels: channel {name!r} must hold numbers: {error}.") from None
    if array.ndim not in (1, 2) or not array.size:
        raise InvalidData(
            f"stack_channels: channel {name!r} must be a matrix, or one number per row, got shape {array.shape}."
        )
    return array.reshape(len(array), -1)
