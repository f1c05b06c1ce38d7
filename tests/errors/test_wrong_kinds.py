"""Errors of public non-operator functions for values of wrong types.

Also those of classes.
"""

from __future__ import annotations

import enum
import inspect
import random
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
import torch

import ttnn
from ttnn.base.exceptions import TtnnError
from ttnn.operation.registry import FastOperation

# They open, close, write files or change what is common to all tests; or they are handed functions of the caller.
CHANGE_THE_WORLD = frozenset(
    [
        "open_device",
        "CreateDevice",
        "CreateDevices",
        "open_mesh_device",
        "create_mesh_device",
        "manage_device",
        "close_device",
        "CloseDevice",
        "CloseDevices",
        "close_mesh_device",
        "SetDefaultDevice",
        "begin_trace_capture",  # the device would refuse to move data from then on
        "dump_device_memory_state",
        "dump_operations",
        "dump_tensor",
        "as_tensor",
        "load_config_from_dictionary",
        "load_config_from_json_file",
        "save_config_to_json_file",
        "manage_config",
        "set_printoptions",
        "register_pre_operation_hook",
        "register_post_operation_hook",
        "register_python_operation",
        "attach_golden_function",
        "deallocate",
        "fatal",
    ]
)
ROUNDS = 3


def values(device: ttnn.MeshDevice, closed: ttnn.MeshDevice) -> list[Any]:
    """Return values of many kinds; some fit somewhere."""
    tensor = ttnn.from_torch(torch.rand(2, 40), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    dead = ttnn.clone(tensor)
    ttnn.deallocate(dead)
    return [
        *(tensor, dead, ttnn.Tensor(np.ones((2, 3), np.float32)), ttnn.Tensor(np.zeros((0, 4), np.float32))),
        *(device, closed, None, True, 0, 1, -1, 2**40, 2**70, -(2**70), 1.5, float("nan"), float("inf"), 1 + 2j),
        *("", "abc", b"x", [], [1, 2], [-1], (2, 3), [[1]], {}, {"a": 1}, object(), int, len),
        *(np.ones((2, 2)), np.zeros(0), torch.rand(4, 4), ttnn.CONFIG, ttnn.Shape([2, 3]), ttnn.Shape([])),
        *(ttnn.bfloat16, ttnn.DataType.INVALID, ttnn.TILE_LAYOUT, ttnn.BufferType.L1, ttnn.Arch.QUASAR),
        *(ttnn.L1_MEMORY_CONFIG, ttnn.L1_HEIGHT_SHARDED_MEMORY_CONFIG, ttnn.TensorMemoryLayout.ND_SHARDED),
        *(ttnn.ShardStrategy.BLOCK, ttnn.ShardOrientation.COL_MAJOR, ttnn.Tile([16, 16]), ttnn.CoreCoord(1, 1)),
        *(ttnn.CoreGrid(x=0, y=0), ttnn.CoreGrid(x=2, y=2), ttnn.CoreRange((0, 0), (1, 1)), ttnn.CoreRangeSet([])),
        *(ttnn.CoreRangeSet([ttnn.CoreRange((0, 0), (1, 1))]), ttnn.MeshShape(1, 1), ttnn.MeshCoordinate(0, 0)),
    ]


def subjects(device: ttnn.MeshDevice) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield public `ttnn` functions and classes, tensor and device methods."""
    for name in dir(ttnn):
        subject = getattr(ttnn, name)
        if name.startswith("_") or name in CHANGE_THE_WORLD or not callable(subject):
            continue
        # Operators have tests of their own, for every entry of the registry; kernels and programs likewise.
        if isinstance(subject, types.ModuleType | FastOperation) or ".metal" in getattr(subject, "__module__", ""):
            continue
        if inspect.isclass(subject) and issubclass(subject, BaseException | enum.Enum):
            continue
        yield f"ttnn.{name}", subject
    host = ttnn.Tensor(np.ones((2, 3), np.float32))
    placed = ttnn.from_torch(torch.rand(2, 40), dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    for kind, owner in (("Tensor", host), ("Tensor", placed)):
        for name in dir(owner):
            if not name.startswith("_") and callable(getattr(owner, name)) and name != "deallocate":
                yield f"{kind}.{name}", getattr(owner, name)
        yield f"{kind}.__getitem__", owner.__getitem__


def is_refusal(error: Exception) -> bool:
    """Return whether an error is ours, or about call parameters.

    The latter is Python's own.
    """
    return isinstance(error, TtnnError | ImportError) or (isinstance(error, TypeError) and "argument" in str(error))


@pytest.mark.parametrize("seed", range(ROUNDS))
def test_values_of_any_kind_get_our_errors(device: ttnn.MeshDevice, seed: int) -> None:
    closed = ttnn.open_device(device_id=9)
    ttnn.close_device(closed)
    choose = random.Random(seed)
    pool = values(device, closed)
    foreign = []
    for name, subject in subjects(device):
        for count in (0, 1, 1, 2, 3, 4):
            arguments = [choose.choice(pool) for _ in range(count)]
            try:
                subject(*arguments)
            except Exception as error:
                if not is_refusal(error):
                    foreign.append(f"{name}{tuple(map(type, arguments))}: {type(error).__name__}: {error}")
    assert foreign == []
    one = ttnn.ones([32, 32], dtype=ttnn.bfloat16, layout=ttnn.TILE_LAYOUT, device=device)
    assert ttnn.to_torch(ttnn.add(one, one)).unique().tolist() == [2.0]


# Those that the other test leaves out, with values that none of them takes.
@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("open_mesh_device", (3,)),
        ("open_mesh_device", (ttnn.MeshShape(1, 1), 0, 0, 1, None, 7)),
        ("open_mesh_device", (ttnn.MeshShape(1, 1), 0, 0, 1, None, None, 7)),
        ("CreateDevices", (3,)),
        ("CloseDevices", (3,)),
        ("CloseDevices", ({0: 1},)),
        ("close_mesh_device", (None,)),
        ("attach_golden_function", (3, len)),
        ("attach_golden_function", (ttnn.add, 4)),
        ("is_trace_capture_active", (3,)),
        ("begin_trace_capture", (None,)),
        ("dump_operations", (1,)),
        ("dump_tensor", (1, 2)),
        ("save_config_to_json_file", (None,)),
        ("save_config_to_json_file", ("",)),
        ("load_config_from_dictionary", ([],)),
        ("register_pre_operation_hook", (3,)),
        ("register_post_operation_hook", (None,)),
        ("SetDefaultDevice", ("x",)),
        ("deallocate", (3,)),
    ],
    ids=repr,
)
def test_what_changes_the_world_refuses_other_kinds(name: str, arguments: tuple[Any, ...]) -> None:
    before = ttnn.get_golden_function(ttnn.add) is not None, ttnn.GetDefaultDevice()
    with pytest.raises(TtnnError):
        getattr(ttnn, name)(*arguments)
    assert before == (ttnn.get_golden_function(ttnn.add) is not None, ttnn.GetDefaultDevice())


def test_a_switch_has_a_name() -> None:
    with pytest.raises(TtnnError, match="expected the name of a switch, got 3"), ttnn.manage_config(3, True):  # type: ignore[arg-type]
        pass


def test_an_operation_has_a_name_and_a_function() -> None:
    with pytest.raises(TtnnError, match="name must be a str, got int"):
        ttnn.register_python_operation(name=3)  # type: ignore[arg-type]
    with pytest.raises(TtnnError, match=r"ttnn\.probe must be a function, got int"):
        ttnn.register_python_operation(name="ttnn.probe")(3)  # type: ignore[arg-type]
