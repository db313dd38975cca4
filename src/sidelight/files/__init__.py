"""FILES: from what people have to a Dataset and back, one module for each format."""

from sidelight.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(__name__, {"reading": ("read",), "writing": ("write",)})
