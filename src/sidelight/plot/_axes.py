"""How Displays get their axes: matplotlib is imported here, on first use, and never touches the global state."""

from __future__ import annotations

from typing import Any

# Ten colours that stay apart for most people with a colour vision deficiency, in the order they are used.
PALETTE = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#66ccee", "#aa3377", "#bb7733", "#7755bb", "#999999", "#114433")


def axes(ax: Any = None, *, size: tuple[float, float] = (6.0, 4.0)) -> Any:
    """Return ``ax``, or the axes of a new figure that no pyplot window manager knows."""
    return ax if ax is not None else figure(size).subplots()


def figure(size: tuple[float, float] = (6.0, 4.0)) -> Any:
    """Return a new figure."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    made = Figure(figsize=size, layout="constrained")
    FigureCanvasAgg(made)
    return made


def colour(number: int) -> str:
    """Colour of cluster ``number``; they repeat after ten."""
    return PALETTE[number % len(PALETTE)]


def plain(text: object) -> str:
    r"""Return text that is drawn as it is: to matplotlib, what stands between two dollars would be mathematics.

    >>> plain("a$b$c")
    'a\\$b\\$c'
    """
    return str(text).replace("$", r"\$")


def tidy(ax: Any) -> Any:
    """Take away the frame lines that say nothing."""
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def as_png(figure: Any, *, dpi: int = 110) -> bytes:
    """Return the picture as PNG bytes, without a date in it."""
    import io

    stream = io.BytesIO()
    figure.savefig(stream, format="png", dpi=dpi, metadata={"Software": None})
    return stream.getvalue()
