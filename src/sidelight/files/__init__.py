"""FILES: from what people have to a Dataset and back, one module for each format."""

from sidelight.lazy import lazy_names

__getattr__, __dir__, __all__ = lazy_names(
    __name__,
    {"parts": ("Parts",), "reading": ("read",), "writing": ("write",), "material.folder": ("from_folder",)},
)
