"""Answers about the rows of parts, never gathered: made part by part when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from sidelight.data.bag_lists import BagLists
from sidelight.data.parts import Part, PartedRows
from sidelight.errors import InvalidData


class ByPart:
    """What a method of a fitted model says about the rows of parts.

    Iterating yields one array for each part; ``np.asarray`` gathers all of them in the order in which the user gave the
    rows, for results that fit into memory.
    """

    def __init__(
        self, parts: PartedRows | None, method: Callable[..., Any] | None, with_bags: bool, n_rows: int
    ) -> None:
        self.parts, self.method, self.with_bags, self.n_rows = parts, method, with_bags, n_rows

    def __len__(self) -> int:
        return self.n_rows

    @property
    def shape(self) -> tuple[int]:
        """One answer for each row."""
        return (self.n_rows,)

    def refuse_without_rows(self) -> None:
        """Refuse to answer where the rows are not known."""
        if self.parts is None or self.method is None:
            raise InvalidData(
                f"The labels of {self.n_rows} rows were never gathered, and the model was loaded without the rows. "
                "Ask again with parts.apply(model.predict)."
            )

    def each(self) -> Iterator[tuple[Part, NDArray[Any]]]:
        """Yield every part with what is said about its rows."""
        self.refuse_without_rows()
        assert self.parts is not None  # that was the question
        for part in self.parts.parts():
            yield part, self.of_rows(part.rows(), part.lists())

    def of_rows(self, rows: NDArray[Any], lists: BagLists | None) -> NDArray[Any]:
        """Ask about some rows and their bags."""
        assert self.method is not None  # the caller has parts
        assert self.parts is not None
        rows = np.asarray(rows, dtype=np.float64)
        if not self.with_bags:
            return np.asarray(self.method(rows))
        assert lists is not None  # rows are in bags
        return np.asarray(self.method(rows, bags=lists.as_bags(self.parts.classes)))

    def __iter__(self) -> Iterator[NDArray[Any]]:
        return (answers for _, answers in self.each())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        gathered: NDArray[Any] | None = None
        for part, answers in self.each():
            if gathered is None:
                gathered = np.empty((self.n_rows, *answers.shape[1:]), dtype=answers.dtype)
            gathered[part.numbers()] = answers
        return np.asarray(gathered, dtype=dtype)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.n_rows} rows, made part by part)"

    def __archive__(self) -> dict[str, Any]:
        return {"n_rows": self.n_rows}

    @classmethod
    def __unarchive__(cls, state: dict[str, Any]) -> Self:
        return cls(None, None, False, int(state["n_rows"]))
