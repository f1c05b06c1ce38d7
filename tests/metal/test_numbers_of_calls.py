"""Numbers beyond registers in kernel API calls: named errors.

The error names the call and the argument.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest

import ttnn
from ttnn import kernel_api, metal
from ttnn.base.exceptions import KernelArgumentError, KernelError, TtnnError

CORE = ttnn.CoreCoord(0, 0)
CALLS = {
    name: getattr(kernel_api, name)
    for name in dir(kernel_api)
    if not name.startswith("_") and inspect.isfunction(getattr(kernel_api, name))
}


def given(function: Callable[..., Any], wrong: str, number: int) -> dict[str, Any]:
    """Return a call's arguments: a number for one, 0 for others.

    Only required ones are included.
    """
    parameters = inspect.signature(function).parameters.items()
    required = [name for name, one in parameters if one.default is one.empty and one.kind is not one.VAR_POSITIONAL]
    return {**dict.fromkeys(required, 0), wrong: number}


def outcome(device: ttnn.MeshDevice, kernel: Callable[[], None]) -> str:
    program = metal.create_program()
    metal.create_kernel(program, kernel, CORE, metal.DataMovementConfig())
    try:
        metal.enqueue_program(device.command_queue(), program, True)
    except TtnnError as error:
        device.reset()
        return str(error)
    return ""


def test_no_call_ends_in_an_error_of_a_conversion(device: ttnn.MeshDevice) -> None:
    found = []
    for name, function in CALLS.items():
        for parameter, kind in inspect.signature(function).parameters.items():
            if kind.kind is not kind.POSITIONAL_OR_KEYWORD:
                continue
            arguments = given(function, parameter, -1)
            text = outcome(device, lambda function=function, arguments=arguments: function(**arguments))
            if "Error: " in text and any(word in text for word in ("OverflowError", "integral")):
                found.append(f"{name}({parameter}=-1): {text}")
    assert len(CALLS) > 300
    assert found == []


@pytest.mark.parametrize("number", [-1, 1 << 32, 1 << 70])
def test_number_out_of_range_names_its_argument(device: ttnn.MeshDevice, number: int) -> None:
    def kernel() -> None:
        kernel_api.cb_reserve_back(0, number)

    program = metal.create_program()
    metal.create_kernel(program, kernel, CORE, metal.DataMovementConfig())
    with pytest.raises(KernelArgumentError, match=f"cb_reserve_back: num_pages must be an integer .* got {number}"):
        metal.enqueue_program(device.command_queue(), program, True)


def test_a_number_beyond_range_in_the_kernel_itself_stays_its_own_error(device: ttnn.MeshDevice) -> None:
    def kernel() -> None:
        (1 << 70).to_bytes(1, "little")

    program = metal.create_program()
    metal.create_kernel(program, kernel, CORE, metal.DataMovementConfig())
    with pytest.raises(KernelError, match="OverflowError: int too big to convert"):
        metal.enqueue_program(device.command_queue(), program, True)
