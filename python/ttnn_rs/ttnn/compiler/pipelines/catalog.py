"""Named pipelines: what they are made of, given their options."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from ttnn.compiler.passes.options import Option

__all__ = ["PIPELINES", "Pipeline", "Step"]

Step = tuple[str, str]
"""A pass or pipeline and the text of its options."""


@dataclass(frozen=True)
class Pipeline:
    """A pipeline.

    Attributes:
        name: As it is written on the command line.
        doc: What it does, one line.
        options: Its options.
        steps: Its passes, given the values of its options.
    """

    name: str
    doc: str
    options: tuple[Option, ...]
    steps: Callable[[dict[str, Any]], list[Step]]


_BOOK_TTNN = (
    Option("enable-optimizer", "bool", True, "Choose grids and layouts of outputs."),
    Option("override-grid-sizes", "str", "", "name=RxC,...: grids by location name."),
    Option("override-output-layout", "str", "", "name=RxC:space:layout,...: outputs by location name."),
    Option("sharding-pass-enabled", "bool", False, "Keep chains of operations in L1."),
    Option("system-desc-path", "str", "", "File of a system descriptor."),
    Option("mesh-shape", "str", "", "Chips per dimension of the mesh."),
)


def _given(values: dict[str, Any], **names: str) -> str:
    """Return options text of the values that are given: keyword is the option's name with `_`."""
    parts = []
    for target, source in names.items():
        value = values[source]
        if value not in ("", None):
            text = str(value).lower() if isinstance(value, bool) else str(value)
            parts.append(f"{target.replace('_', '-')}={text}")
    return " ".join(parts)


def _book_ttnn(values: dict[str, Any]) -> list[Step]:
    steps = [
        ("ttir-sliding-window-2d-fix-shapes", ""),
        ("ttir-load-system-desc", _given(values, path="system-desc-path")),
        ("ttir-implicit-device", _given(values, mesh_shape="mesh-shape")),
        (
            "ttir-layout",
            "init-memory-space=system default-memory-space=dram default-device-memory-layout=interleaved",
        ),
    ]
    if values["enable-optimizer"]:
        options = _given(
            values,
            override_grid_sizes="override-grid-sizes",
            override_output_layout="override-output-layout",
            sharding_pass_enabled="sharding-pass-enabled",
        )
        steps.append(("ttir-optimizer", options))
    return [*steps, ("convert-ttir-to-ttnn", "")]


def _book_ttmetal(values: dict[str, Any]) -> list[Step]:
    return [
        ("ttir-load-system-desc", ""),
        ("ttir-implicit-device", _given(values, mesh_shape="mesh-shape")),
        ("ttir-constant-as-fill", ""),
        ("ttir-generic", ""),
        ("ttir-layout", "init-memory-space=l1 default-memory-space=l1 default-device-memory-layout=none"),
        ("ttir-generic-region-operands-to-memref", ""),
        ("ttir-allocate", ""),
        ("convert-ttir-to-ttmetal", ""),
    ]


_ALL = (
    Pipeline(
        "ttir-to-ttnn-backend-pipeline",
        "Lower tensor operations to the TT-NN library.",
        _BOOK_TTNN,
        _book_ttnn,
    ),
    Pipeline(
        "ttir-to-ttmetal-backend-pipeline",
        "Lower tensor operations to commands and kernels.",
        (Option("mesh-shape", "str", "", "Chips per dimension of the mesh."),),
        _book_ttmetal,
    ),
)

PIPELINES: dict[str, Pipeline] = {one.name: one for one in _ALL}
