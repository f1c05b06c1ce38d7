"""Operator calls become programs: which, content, launch results."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import ttnn
from testkit.operands import describe
from ttnn.runtime.programs import Program

TILED = ttnn.TILE_LAYOUT


def tensor(device: ttnn.MeshDevice, shape: tuple[int, ...] = (64, 64), seed: int = 0) -> ttnn.Tensor:
    """Return a bfloat16 tensor in tiles."""
    values = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    return ttnn.Tensor(values, ttnn.bfloat16, device, TILED)


def programs(device: ttnn.MeshDevice, name: str) -> list[Program | str]:
    """Return an operator's programs on a device, or the reason."""
    return [program for key, program in device._resolved.items() if key[0] == name]


def only(device: ttnn.MeshDevice, name: str) -> Program:
    """Return the only program of an operator."""
    (program,) = programs(device, name)
    assert isinstance(program, Program)
    return program


def python_calls(run: Callable[[], Any]) -> int:
    """Return how many Python functions a call runs."""
    count = 0

    def profile(frame: FrameType, event: str, argument: Any) -> None:
        nonlocal count
        count += event == "call"

    sys.setprofile(profile)
    try:
        run()
    finally:
        sys.setprofile(None)
    return count - 1  # `run` itself


def test_a_program_lists_functions_slots_and_settings(device: ttnn.MeshDevice) -> None:
    x = tensor(device)
    ttnn.exp(x)
    ((function, slots, settings),) = only(device, "ttnn.exp").steps
    assert (function, slots) == ("unary", [0, 1])
    assert settings is not None
    assert settings["chain"][0][0] == "exp"


def test_an_operator_made_of_others_is_one_program(device: ttnn.MeshDevice) -> None:
    x, y = tensor(device), tensor(device, seed=1)
    first = describe(ttnn.logaddexp_bw(x, x, y))
    steps = only(device, "ttnn.logaddexp_bw").steps
    assert len(steps) > 1
    assert {slot for _, slots, _ in steps for slot in slots} > {0, 1}
    assert describe(ttnn.logaddexp_bw(x, x, y)) == first


@pytest.mark.parametrize(
    "call",
    [
        lambda x: ttnn.exp(x),
        lambda x: ttnn.add(x, x),
        lambda x: ttnn.add(x, 1.5, memory_config=ttnn.L1_MEMORY_CONFIG),
        lambda x: ttnn.matmul(x, x),
        lambda x: ttnn.sum(x, dim=-1),
        lambda x: ttnn.softmax(x, dim=-1),
        lambda x: ttnn.layer_norm(x),
        lambda x: ttnn.permute(x, (1, 0)),
        lambda x: ttnn.concat([x, x], dim=0),
        lambda x: ttnn.reshape(x, (1, 64, 64)),
        lambda x: ttnn.hypot(x, x),
        lambda x: ttnn.where(x, x, x),
        lambda x: ttnn.add_bw(x, x, x),
    ],
)
def test_a_repeated_call_runs_few_python_functions(call: Callable[[Any], Any], device: ttnn.MeshDevice) -> None:
    x = tensor(device)
    call(x)
    call(x)
    assert python_calls(lambda: call(x)) - 1 <= 12


@pytest.mark.parametrize(
    ("call", "reason"),
    [
        (lambda x, ids: ttnn.embedding(ids, x), "elements are read"),
        (lambda x, ids: ttnn.rand((32, 32), x.device()), "the host draws a seed"),
        (lambda x, ids: ttnn.move(x), "an operand is deallocated"),
    ],
)
def test_what_depends_on_more_than_specifications_is_no_program(
    call: Callable[..., Any], reason: str, device: ttnn.MeshDevice
) -> None:
    ids = ttnn.Tensor(np.zeros((1, 32), np.uint32), ttnn.uint32, device, ttnn.ROW_MAJOR_LAYOUT)
    call(tensor(device).reshape((64, 64)), ids)
    assert reason in device._resolved.values()


def test_results_are_tensors_of_the_caller_where_the_operator_returns_these(device: ttnn.MeshDevice) -> None:
    x, y = tensor(device), tensor(device, seed=1)
    out = ttnn.empty_like(x)
    for _ in range(3):
        assert ttnn.add(x, y, output_tensor=out) is out
        assert ttnn.add_(x, y) is x
    view = [ttnn.reshape(x, (1, 64, 64)) for _ in range(3)][-1]
    assert view.buffers == x.buffers
    ttnn.deallocate(view, force=False)
    assert x.is_allocated()


def test_temporary_tensors_are_freed_at_a_launch(device: ttnn.MeshDevice) -> None:
    x = tensor(device)
    before = device.engine.allocated_bytes()
    for _ in range(3):
        result = ttnn.var(x, -1)
        result.deallocate()
        assert device.engine.allocated_bytes() == before


def test_shared_operands_have_programs_of_their_own(device: ttnn.MeshDevice) -> None:
    x, y, z = tensor(device), tensor(device, seed=1), tensor(device, seed=2)
    for operands in ((x, y, z), (x, x, z), (x, y, x), (x, x, x)):
        expected = describe(ttnn.where(*operands))
        assert describe(ttnn.where(*operands)) == expected
        device.clear_program_cache()
        assert describe(ttnn.where(*operands)) == expected
    for operands in ((x, y, z), (x, x, z), (x, y, x), (x, x, x)):
        ttnn.where(*operands)
    assert len(programs(device, "ttnn.where")) == 4


def test_a_matmul_is_planned_for_the_room_that_tensors_in_l1_leave(device: ttnn.MeshDevice) -> None:
    a, b = tensor(device, (256, 1024)), tensor(device, (1024, 256), 1)
    expected = describe(ttnn.matmul(a, b))
    assert describe(ttnn.matmul(a, b)) == expected
    room = device.compute_with_storage_grid_size()
    cores = room.x * room.y
    free = ttnn.get_memory_view(device, ttnn.BufferType.L1).largest_contiguous_bytes_free_per_bank
    tiles = (free - 200_000) // 2048 * cores
    occupied = ttnn.empty((32, 32 * tiles), ttnn.bfloat16, TILED, device, ttnn.L1_MEMORY_CONFIG)
    try:
        full = describe(ttnn.matmul(a, b))
    except ttnn.OutOfMemoryError:
        full = None
    device.clear_program_cache()
    try:
        again = describe(ttnn.matmul(a, b))
    except ttnn.OutOfMemoryError:
        again = None
    assert full == again
    occupied.deallocate()
    assert describe(ttnn.matmul(a, b)) == expected


def test_steps_of_the_engine_are_named_in_the_runtime_only() -> None:
    package = Path(ttnn.__file__).parent
    tree = ast.parse((package / "runtime/engine_steps.py").read_text())
    listed = next(node for node in tree.body if isinstance(node, ast.Assign))
    steps = set(ast.literal_eval(listed.value))
    assert len(steps) > 30
    found = [
        f"{path.relative_to(package)}:{node.lineno}"
        for path in package.rglob("*.py")
        if path.relative_to(package).parts[0] != "runtime"
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and node.attr in steps
        and isinstance(node.value, ast.Name)
        and node.value.id == "_engine"
    ]
    assert not found
