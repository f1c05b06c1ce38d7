"""Host API calls with every wrong argument raise our errors.

The device goes on working.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest
import torch
from broken import nothing

import ttnn
from testkit.parts import CORE, tiles_buffer
from ttnn import metal

WRONG: list[Any] = [
    None,
    -1,
    3,
    1 << 70,
    0.5,
    float("nan"),
    "x",
    b"x",
    [],
    (),
    [1, 2],
    {},
    {1: 2},
    True,
    object(),
    nothing,
    # Their truth and equality are arrays.
    np.arange(3),
    torch.zeros(2, 2),
]
"""Values that hardly any parameter takes."""
Valid = Callable[[ttnn.MeshDevice], dict[str, Any]]


def program_with(device: ttnn.MeshDevice) -> tuple[metal.Program, metal.Kernel, metal.CBHandle]:
    """Return a program with a kernel and a circular buffer."""
    program = metal.create_program()
    kernel = metal.create_kernel(program, nothing, CORE, metal.DataMovementConfig())
    metal.set_runtime_args(program, kernel, CORE, [1])
    return program, kernel, metal.create_circular_buffer(program, CORE, ring())


def ring() -> metal.CircularBufferConfig:
    return metal.CircularBufferConfig(4096, {0: metal.DataFormat.Float16_b}).set_page_size(0, 2048)


def with_program(*names: str, **more: Any) -> Valid:
    """Return arguments `program`, by name, and `more`.

    By these names, its kernel (`kernel`) or buffer (any other name).
    """

    def make(device: ttnn.MeshDevice) -> dict[str, Any]:
        program, kernel, handle = program_with(device)
        chosen = {name: kernel if name == "kernel" else handle for name in names}
        return {"program": program, **chosen, **more}

    return make


def interleaved(device: ttnn.MeshDevice) -> dict[str, Any]:
    return {"device": device, "size": 4096, "page_size": 2048, "buffer_type": metal.BufferType.DRAM}


def sharded(device: ttnn.MeshDevice) -> dict[str, Any]:
    shards = {"tensor_pages": (2, 1), "shard_pages": (1, 1), "cores": [CORE, metal.CoreCoord(1, 0)]}
    return {"device": device, "size": 4096, "page_size": 2048, "buffer_type": metal.BufferType.L1, **shards}


def mesh(device: ttnn.MeshDevice) -> dict[str, Any]:
    local = metal.DeviceLocalBufferConfig(page_size=2048)
    config = metal.ReplicatedBufferConfig(size=4096)
    return {"mesh_buffer_config": config, "device_local_config": local, "mesh_device": device, "address": None}


def queue_and(name: str = "", value: Callable[[ttnn.MeshDevice], Any] | None = None, **more: Any) -> Valid:
    """Return arguments `cq` and one that is made for the device."""

    def make(device: ttnn.MeshDevice) -> dict[str, Any]:
        return {"cq": metal.command_queue(device), **({name: value(device)} if value else {}), **more}

    return make


def one_page(device: ttnn.MeshDevice) -> metal.Buffer:
    return tiles_buffer(device, 1)


SPEC = ttnn.TensorSpec(ttnn.Shape([32, 32]), ttnn.bfloat16, ttnn.TILE_LAYOUT)
ROW = metal.CoreRangeSet([metal.CoreRange(CORE, metal.CoreCoord(1, 0))])
CALLS: list[tuple[Callable[..., Any], Valid]] = [
    (metal.create_kernel, with_program(kernel=nothing, core_spec=metal.CoreCoord(1, 1), config=metal.ComputeConfig())),
    (
        metal.create_kernel_from_string,
        with_program(
            kernel_src_code="def kernel_main(): pass",
            core_spec=metal.CoreCoord(1, 1),
            config=metal.ReaderDataMovementConfig(),
        ),
    ),
    (metal.create_circular_buffer, with_program(core_spec=metal.CoreCoord(1, 1), config=ring())),
    (metal.get_circular_buffer_config, with_program("cb_handle")),
    (metal.update_circular_buffer_total_size, with_program("cb_handle", total_size=2048)),
    (metal.update_circular_buffer_page_size, with_program("cb_handle", buffer_index=0, page_size=1024)),
    (metal.create_semaphore, with_program(core_spec=CORE, initial_value=0)),
    (metal.set_runtime_args, with_program("kernel", core_spec=CORE, args=[2])),
    (metal.set_common_runtime_args, with_program("kernel", args=[2])),
    (metal.get_runtime_args, with_program("kernel", core=CORE)),
    (metal.get_common_runtime_args, with_program("kernel")),
    (metal.CircularBufferConfig, lambda _: {"total_size": 4096, "data_formats": {0: metal.DataFormat.Float16_b}}),
    (ring().set_page_size, lambda _: {"buffer_index": 0, "page_size": 2048}),
    (ring().set_data_format, lambda _: {"buffer_index": 0, "data_format": ttnn.float32}),
    (ring().set_tile_dims, lambda _: {"buffer_index": 0, "tile": ttnn.Tile((32, 32))}),
    (ring().set_total_size, lambda _: {"total_size": 4096}),
    (
        ring().set_globally_allocated_address,
        lambda device: {"buffer": tiles_buffer(device, 2, buffer_type=metal.BufferType.L1), "address_offset": 0},
    ),
    (lambda **given: metal.create_buffer(metal.InterleavedBufferConfig(**given)), interleaved),
    (lambda **given: metal.create_buffer(metal.ShardedBufferConfig(**given)), sharded),
    (metal.create_buffer, lambda device: {"config": metal.InterleavedBufferConfig(**interleaved(device))}),
    (metal.MeshBuffer.create, mesh),
    (metal.deallocate_buffer, lambda device: {"buffer": one_page(device)}),
    (metal.command_queue, lambda device: {"device": device, "id": 0}),
    (metal.enqueue_write_buffer, queue_and("buffer", one_page, src=bytes(2048))),
    (metal.enqueue_read_buffer, queue_and("buffer", one_page)),
    (metal.enqueue_program, queue_and("program", lambda device: program_with(device)[0])),
    (metal.run_program, lambda device: {"device": device, "program": program_with(device)[0]}),
    (
        metal.write_shard,
        lambda device: {
            "mesh_cq": metal.command_queue(device),
            "mesh_buffer": one_page(device),
            "src": bytes(2048),
            "coord": ttnn.MeshCoordinate(0, 0),
        },
    ),
    (
        metal.read_shard,
        lambda device: {
            "mesh_cq": metal.command_queue(device),
            "dst": [],
            "mesh_buffer": one_page(device),
            "coord": ttnn.MeshCoordinate(0, 0),
        },
    ),
    (metal.Program().describe, lambda device: {"device": device}),
    (metal.tilize_nfaces, lambda _: {"rows": np.zeros((32, 64)), "height": 32, "width": 64}),
    (metal.untilize_nfaces, lambda _: {"tiles": np.zeros(2048), "height": 32, "width": 64}),
    (
        metal.tensorspecs_match_with_relaxation,
        lambda _: {"a": SPEC, "b": SPEC, "relaxation": metal.TensorSpecRelaxations()},
    ),
    (ttnn.KernelDescriptor, lambda _: {"core_ranges": ROW, "compile_time_args": [1]}),
    (ttnn.CBDescriptor, lambda _: {"core_ranges": ROW}),
    (ttnn.SemaphoreDescriptor, lambda _: {"core_type": ttnn.CoreType.WORKER, "core_ranges": ROW}),
    (
        metal.assign_global_buffer_to_program,
        lambda device: {"buffer": one_page(device), "program": program_with(device)[0]},
    ),
    (ttnn.ComputeConfigDescriptor, lambda _: {"enable_trisc2_rvv": False}),
    (metal.finish, queue_and()),
    (metal.synchronize, lambda device: {"device": device, "cq_id": 0}),
    (metal.enqueue_record_event, queue_and()),
    (metal.enqueue_wait_for_event, queue_and("event", lambda device: ttnn.record_event(device))),
    (metal.event_query, lambda device: {"event": ttnn.record_event(device)}),
    (metal.replay_trace, lambda device: {"device": device, "cq_id": 0, "trace_id": captured(device)}),
    (metal.release_trace, lambda device: {"device": device, "trace_id": captured(device)}),
    (ttnn.create_global_semaphore, lambda device: {"mesh_device": device, "cores": ROW, "initial_value": 0}),
    (
        ttnn.reset_global_semaphore_value,
        lambda device: {"global_semaphore": ttnn.create_global_semaphore(device, ROW, 0), "reset_value": 1},
    ),
    (
        ttnn.create_global_circular_buffer,
        lambda device: {
            "mesh_device": device,
            "sender_receiver_core_mapping": [(metal.CoreCoord(2, 0), ROW)],
            "size": 4096,
        },
    ),
    (
        metal.write_to_device_l1,
        lambda device: {"device": device, "logical_core": CORE, "address": 500_000, "host_buffer": [1]},
    ),
    (metal.read_from_device_l1, lambda device: {"device": device, "logical_core": CORE, "address": 500_000, "size": 4}),
    (
        metal.write_to_device_dram_channel,
        lambda device: {"device": device, "dram_channel": 0, "address": 1 << 20, "host_buffer": [1]},
    ),
    (
        metal.read_from_device_dram_channel,
        lambda device: {"device": device, "dram_channel": 0, "address": 1 << 20, "size": 4},
    ),
    (
        ttnn.generic_op,
        lambda device: {
            "io_tensors": [ttnn.zeros([1], device=device)] * 2,
            "program_descriptor": ttnn.ProgramDescriptor(),
        },
    ),
]


def captured(device: ttnn.MeshDevice) -> ttnn.MeshTraceId:
    """Return an empty trace."""
    trace = metal.begin_trace_capture(device, 0)
    metal.end_trace_capture(device, 0, trace)
    return trace


def attempt(call: Callable[[], object]) -> str:
    """Call something that may raise an error of ours; return its text.

    Raises:
        Exception: any other.
    """
    try:
        call()
    except ttnn.EngineBugError:
        raise
    except ttnn.TtnnError as error:
        return str(error)
    return "taken"


@pytest.mark.parametrize(("function", "valid"), CALLS, ids=[f"{i}-{f.__name__}" for i, (f, _) in enumerate(CALLS)])
def test_wrong_host_arguments_raise(device: ttnn.MeshDevice, function: Callable[..., Any], valid: Valid) -> None:
    function(**valid(device))
    texts = {
        (name, number): attempt(partial(function, **(valid(device) | {name: value})))
        for name in valid(device)
        for number, value in enumerate(WRONG)
    }
    assert all(texts.values())
    assert len(set(texts.values())) > 1
    function(**valid(device))


@pytest.mark.parametrize(
    "wrong", [None, 1, 2.5, "x", b"y", [1], ["a"], object()], ids=lambda wrong: type(wrong).__name__
)
@pytest.mark.parametrize(
    ("call", "option"),
    [
        (ttnn.ProgramDescriptor, "kernels"),
        (ttnn.ProgramDescriptor, "semaphores"),
        (ttnn.ProgramDescriptor, "cbs"),
        (ttnn.CBDescriptor, "format_descriptors"),
        (ttnn.merge_program_descriptors, "descriptors"),
        (ttnn.get_cb_address, "descriptor"),
        (ttnn.compute_program_descriptor_hash, "program_descriptor"),
        (ttnn.TensorAccessorArgs, "buffer"),
    ],
)
def test_descriptor_fields_of_wrong_kind_raise(call: Any, option: str, wrong: object) -> None:
    with pytest.raises(ttnn.ArgumentError, match="expected"):
        call(**{option: wrong})


@pytest.mark.parametrize("dtype", ["nonsense", "", {0: 1}, object, np.dtype("f8,f4"), np.dtype("S0"), 3], ids=repr)
def test_bytes_are_read_as_numbers_only(device: ttnn.MeshDevice, dtype: Any) -> None:
    with pytest.raises(ttnn.ArgumentError, match="read: "):
        one_page(device).read(dtype)


@pytest.mark.parametrize("words", [[1.5] * 512, torch.rand(512), [[1] * 512], torch.ones(2, 256), ["1"] * 512, {0: 1}])
def test_lists_are_written_if_they_are_words(device: ttnn.MeshDevice, words: Any) -> None:
    page = one_page(device)
    with pytest.raises(ttnn.ArgumentError, match=r"list of 32-bit words, got|B for a buffer of 2048 B"):
        page.write(words)
    page.write([-1] * 512)
    assert set(page.read().tolist()) == {2**32 - 1}
