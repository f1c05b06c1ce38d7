"""Modules below `ttnn.operations`: names, pool golden functions, star imports."""

from __future__ import annotations

import ast
import builtins
import importlib
import os
from pathlib import Path
from typing import Any

import pytest
import torch

import ttnn

OPERATIONS = Path(os.environ.get("TTNN_OFFICIAL_WHEEL", "/nowhere")) / "ttnn" / "operations"
wheel = pytest.mark.skipif(not OPERATIONS.is_dir(), reason="TTNN_OFFICIAL_WHEEL names no unpacked wheel")
MODULES = [
    "binary", "binary_backward", "binary_complex", "ccl", "comparison", "complex_unary_backward", "conv2d", "core",
    "creation", "data_movement", "embedding", "losses", "matmul", "normalization", "reduction", "ternary",
    "ternary_backward", "transformer", "unary", "unary_backward", "unary_complex",
]  # fmt: skip


@pytest.mark.parametrize("module", MODULES)
def test_star_import_of_an_operator_module_hides_no_builtin(module: str) -> None:
    names: dict[str, Any] = {}
    exec(f"from ttnn.operations.{module} import *", names)
    assert not {name for name in names if hasattr(builtins, name)}


@pytest.mark.parametrize("module", MODULES)
@wheel
def test_star_import_takes_what_the_official_module_lists(module: str) -> None:
    tree = ast.parse((OPERATIONS / f"{module}.py").read_text())
    listed = [
        ast.unparse(node.value)
        for node in tree.body
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    ]
    if module != "ccl":  # it lists names of its own
        assert listed[-1] == "[]"
    assert importlib.import_module(f"ttnn.operations.{module}").__all__ == []


@pytest.mark.parametrize("module", MODULES)
@wheel
def test_names_of_the_official_module_that_ttnn_has_are_there(module: str) -> None:
    tree = ast.parse((OPERATIONS / f"{module}.py").read_text())
    defined = {node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.ClassDef)}
    for node in tree.body:
        if isinstance(node, ast.Assign):
            defined |= {target.id for target in node.targets if isinstance(target, ast.Name)}
    public = {name for name in defined if not name.startswith("_") and name != "doc"}
    ours = importlib.import_module(f"ttnn.operations.{module}")
    for name in sorted(public):
        if hasattr(ttnn, name):
            assert getattr(ours, name) is getattr(ttnn, name)


def test_other_names_of_a_module_raise_attribute_error() -> None:
    with pytest.raises(AttributeError):
        ttnn.operations.core.no_such_name  # noqa: B018


@pytest.mark.parametrize(
    "options",
    [
        {"kernel_size": (2, 2), "stride": (2, 2), "padding": (0, 0), "dilation": (1, 1)},
        {"kernel_size": (3, 3), "stride": (2, 2), "padding": (1, 1), "dilation": (1, 1)},
        {"kernel_size": (3, 2), "stride": (1, 2), "padding": (1, 0), "dilation": (2, 3)},
        {"kernel_size": (3, 3), "stride": (3, 3), "padding": (1, 1), "dilation": (2, 2)},
        {"kernel_size": (3, 3), "stride": (2, 2), "padding": (0, 0), "dilation": (1, 1), "ceil_mode": True},
    ],
)
def test_golden_maxpool2d_returns_the_values_and_pixels_of_torch(options: dict[str, Any]) -> None:
    from ttnn.operations.pool import golden_maxpool2d

    n, h, w, c = 2, 9, 8, 3
    x = torch.randn(n, h, w, c, generator=torch.Generator().manual_seed(0))
    flat = x.reshape(1, 1, n * h * w, c)
    expected = torch.nn.functional.max_pool2d(x.permute(0, 3, 1, 2), return_indices=True, **options)
    got = golden_maxpool2d(flat, n, h, w, c, **options, return_indices=True)
    assert len(got) == 2
    for ours, reference in zip(got, expected, strict=True):
        assert ours.dtype == reference.dtype
        assert torch.equal(ours, reference.permute(0, 2, 3, 1).reshape(1, 1, -1, c))
    assert torch.equal(golden_maxpool2d(flat, n, h, w, c, **options), got[0])


def test_golden_adaptive_pools_are_those_of_torch() -> None:
    from ttnn.operations.pool import golden_adaptive_avg_pool2d, golden_adaptive_max_pool2d

    n, h, w, c = 2, 9, 8, 3
    x = torch.randn(n, h, w, c, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    flat, image = x.reshape(1, 1, n * h * w, c), x.permute(0, 3, 1, 2)
    for golden, reference in (
        (golden_adaptive_avg_pool2d, torch.nn.functional.adaptive_avg_pool2d),
        (golden_adaptive_max_pool2d, torch.nn.functional.adaptive_max_pool2d),
    ):
        expected = reference(image, (4, 3)).permute(0, 2, 3, 1).reshape(1, 1, -1, c)
        assert torch.allclose(golden(flat, n, h, w, c, (4, 3)), expected, rtol=1e-14)


@wheel
def test_every_golden_function_of_the_official_pool_module_is_there() -> None:
    tree = ast.parse((OPERATIONS / "pool.py").read_text())
    names = [node.name for node in tree.body if isinstance(node, ast.FunctionDef) and node.name.startswith("golden_")]
    assert len(names) == 8
    for name in names:
        assert callable(getattr(ttnn.operations.pool, name))


@pytest.mark.parametrize(
    ("args", "options"),
    [
        (([0, 1], [2, 4]), {}),
        (([0, 1], [2, 4], [1, 1]), {}),
        ((), {"slice_start": [0, 1], "slice_end": [2, 4]}),
        ((), {"slice_start": [0, 1], "slice_end": [2, 4], "slice_step": [1, 1]}),
        ((), {"starts": [0, 1], "ends": [2, 4], "steps": [1, 1]}),
        (([0, 1], [2, 4]), {"slice_step": [1, 1]}),
    ],
)
def test_golden_function_of_slice_takes_the_names_of_the_official_one(args: Any, options: dict[str, Any]) -> None:
    x = torch.arange(15.0).reshape(3, 5)
    assert torch.equal(ttnn.get_golden_function(ttnn.slice)(x, *args, **options), x[0:2, 1:4])


def test_golden_function_of_slice_takes_limits_for_the_first_dimensions() -> None:
    x = torch.arange(15.0).reshape(3, 5)
    assert torch.equal(ttnn.get_golden_function(ttnn.slice)(x, [1], [3]), x[1:3])
