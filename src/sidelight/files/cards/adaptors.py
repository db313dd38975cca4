"""Models of other libraries, for people who have them: a few lines each, imported when they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

Describe = Callable[[Sequence[Any]], Iterable[Any]]


def _sentence_transformers(name: str) -> Describe:
    from sentence_transformers import SentenceTransformer

    model = SentenceTransformer(name, device="cpu", trust_remote_code=False)
    return lambda texts: model.encode(list(texts), show_progress_bar=False)


def _fastembed(name: str) -> Describe:
    from fastembed import TextEmbedding

    model = TextEmbedding(name, threads=1)
    return lambda texts: list(model.embed(list(texts)))


def _timm(name: str) -> Describe:
    import timm
    import torch

    model = timm.create_model(name, pretrained=True).eval()
    change = timm.data.create_transform(**timm.data.resolve_model_data_config(model), is_training=False)

    def describe(pictures: Sequence[Any]) -> list[Any]:
        with torch.inference_mode():
            return [model.forward_features(_picture(change, one))[0].float().numpy() for one in pictures]

    return describe


def _open_clip(name: str) -> Describe:
    import open_clip
    import torch

    architecture, _, weights = name.partition("/")
    model, _, change = open_clip.create_model_and_transforms(architecture, pretrained=weights or None)
    model.eval()

    def describe(pictures: Sequence[Any]) -> list[Any]:
        with torch.inference_mode():
            return [model.encode_image(_picture(change, one))[0].float().numpy() for one in pictures]

    return describe


def _picture(change: Any, pixels: Any) -> Any:
    from PIL import Image

    return change(Image.fromarray(pixels))[None]


LOADERS: Mapping[str, Callable[[str], Describe]] = {
    "sentence-transformers": _sentence_transformers,
    "fastembed": _fastembed,
    "timm": _timm,
    "open-clip": _open_clip,
}
