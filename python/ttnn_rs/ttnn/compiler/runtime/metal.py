"""Execution of TTMetal binaries of 2024-09.

Each dispatch is a program of `ttnn.metal`, run on the bytes of L1.

Buffers lie where the allocator of the device puts them; the compiler's addresses are translated. What a kernel does are
the steps that stand beside its C++ source. A kernel of data movement puts the pages of the inputs, which are there
already, into the circular buffers; the steps of a compute kernel then find them full, as the compiler expects.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import ml_dtypes
import numpy as np
from numpy.typing import NDArray

import ttnn.kernel_api as api
from ttnn import metal
from ttnn.base.exceptions import FileFormatError, ParameterError, ShapeError, TtnnError, UnsupportedError
from ttnn.compiler.dialects.ttcore.system_desc import SystemDesc
from ttnn.compiler.limits import CORES
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.target.flatbuffer.system_desc import from_table

__all__ = ["run_metal"]

Array = NDArray[Any]
_TYPES: Final[dict[str, tuple[Any, metal.DataFormat]]] = {
    "Float32": (np.float32, metal.DataFormat.Float32),
    "BFloat16": (ml_dtypes.bfloat16, metal.DataFormat.Float16_b),
    "UInt32": (np.uint32, metal.DataFormat.UInt32),
}
_FIDELITIES: Final = ("LoFi", "HiFi2", "HiFi3", "HiFi4")
_OUT: Final = 16
_DRAM_PAGE: Final = 8192


def run_metal(content: Binary, index: int, inputs: Sequence[Array], device: Any) -> list[Array]:
    """Run a program of a TTMetal binary and return its outputs.

    Args:
        content: The binary.
        index: Number of the program.
        inputs: An array for each input.
        device: Where it runs.

    Raises:
        FileFormatError: The binary has no such program, or a command lacks what it needs.
        ParameterError: Another number of inputs than the program has.
        ShapeError: An input of another shape than the program's.
        UnsupportedError: A later language, or a layout or operation that is not executed.
    """
    if content.language != "2024-09":
        raise UnsupportedError("TTMetal binaries of the later languages are not executed.")
    programs = content.values.get("programs", [])
    if not 0 <= index < len(programs):
        raise FileFormatError(f"the binary has programs 0 to {len(programs) - 1}, got {index}.")
    program = programs[index]
    wanted = program.get("inputs", [])
    if len(wanted) != len(inputs):
        raise ParameterError(f"program {program.get('name')} has {len(wanted)} inputs, got {len(inputs)}.")
    run = _Run(device, from_table(content.values.get("system_desc") or {}, "the binary"))
    try:
        for reference, values in zip(wanted, inputs, strict=True):
            run.create(reference)
            run.write(reference, values)
        for on_device in program.get("device_programs", []):
            for queue in on_device.get("command_queues", []):
                for number, command in enumerate(queue.get("commands", [])):
                    run.command(command, f"program {program.get('name')}, command {number}")
        return [run.read(reference) for reference in program.get("outputs", [])]
    except TtnnError:
        raise
    except (KeyError, IndexError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise FileFormatError(f"program {program.get('name')}: the binary is damaged: {error!r}.") from None


@dataclass
class _Place:
    """A buffer of the compiler: its addresses there, and where it lies."""

    begin: int
    size: int
    dram: bool
    buffer: Any


@dataclass(frozen=True)
class _Form:
    """Layout of a tensor: logical shape, grid of cores, shard, data type."""

    shape: tuple[int, ...]
    grid: tuple[int, int]
    shard: tuple[int, int]
    tiled: bool
    dtype: Any
    dram: bool
    host: bool

    @property
    def box(self) -> tuple[int, int]:
        """Rows and columns of the tensor, all dimensions but the last joined."""
        return math.prod(self.shape[:-1]), self.shape[-1] if self.shape else 1

    @property
    def shard_bytes(self) -> int:
        """Bytes of a shard."""
        return self.shard[0] * self.shard[1] * int(np.dtype(self.dtype).itemsize)


def _form(reference: dict[str, Any]) -> _Form:
    desc = reference["desc"]
    layout, memory = desc["layout"], desc["layout"]["memory_desc"]
    if memory["data_type"] not in _TYPES:
        raise UnsupportedError(
            f"TTMetal: tensors of {memory['data_type']} are not executed; there are {', '.join(_TYPES)}."
        )
    ranges = layout["core_range_set"]
    if len(ranges) != 1 or (ranges[0]["loc"]["y"], ranges[0]["loc"]["x"]) != (0, 0):
        raise UnsupportedError("TTMetal: only grids that are one rectangle from core 0-0 are executed.")
    _check_cores(ranges[0]["size"])
    shape = tuple(desc.get("shape", ()))
    rows = [math.prod(shape[place + 1 :]) for place in range(len(shape))]
    tile = memory["tile_shape"]
    blocks = list(memory["shape"])[-2:]
    shard = blocks[0] * tile["y"], blocks[1] * tile["x"]
    if list(layout["stride"]) != rows or len(memory["shape"]) != 2:
        raise UnsupportedError(
            "TTMetal: only layouts that join all dimensions but the last, without gaps, are executed."
        )
    space = memory["memory_space"]
    return _Form(
        shape,
        (ranges[0]["size"]["y"], ranges[0]["size"]["x"]),
        shard,
        (tile["y"], tile["x"]) != (1, 1),
        _TYPES[memory["data_type"]][0],
        space == "DeviceDRAM",
        space in ("System", "SystemMMIO"),
    )


class _Run:
    """The state of a run: buffers, and address translation."""

    def __init__(self, device: Any, system: SystemDesc) -> None:
        self._device = device
        self._chip = system.chips[0]
        self._queue = metal.command_queue(device)
        self._places: dict[int, _Place] = {}
        self._host: dict[int, Array] = {}
        size = device.compute_with_storage_grid_size()
        self._grid = int(size.y), int(size.x)

    def create(self, reference: dict[str, Any]) -> None:
        """Create a buffer: an L1 page per core, or DRAM pages.

        DRAM pages alternate between the channels.
        """
        form = _form(reference)
        if form.host:
            return
        item = int(np.dtype(form.dtype).itemsize)
        if form.dram:
            elements = form.grid[0] * form.grid[1] * form.shard[0] * form.shard[1]
            page, pages, kind = _DRAM_PAGE * item, -(-elements // _DRAM_PAGE), metal.BufferType.DRAM
        else:
            page, pages, kind = form.shard_bytes, self._grid[0] * self._grid[1], metal.BufferType.L1
        config = metal.InterleavedBufferConfig(device=self._device, size=page * pages, page_size=page, buffer_type=kind)
        # The compiler's size is that of a shard; in DRAM the shards of all cores lie in the channels.
        banks = len(self._chip.dram) if form.dram else 1
        size = max(int(reference.get("size", 0)), -(-pages // banks) * page if form.dram else page)
        buffer = metal.create_buffer(config)
        # Buffers begin as zeros, as `empty` does.
        metal.enqueue_write_buffer(self._queue, buffer, np.zeros(page * pages, np.uint8))
        self._places[reference["global_id"]] = _Place(int(reference["address"]), size, form.dram, buffer)

    def _place(self, reference: dict[str, Any]) -> _Place:
        number = reference["global_id"]
        if number not in self._places:
            raise FileFormatError(f"TTMetal: tensor {number} has no buffer.")
        return self._places[number]

    def address(self, address: int, *, dram: bool) -> int:
        """Return where an address of the compiler lies.

        Raises:
            FileFormatError: It is in no buffer.
        """
        for place in reversed(self._places.values()):
            if place.dram == dram and place.begin <= address < place.begin + place.size:
                return int(place.buffer.address()) + address - place.begin
        raise FileFormatError(f"TTMetal: address {address} of {'DRAM' if dram else 'L1'} is in no buffer.")

    def write(self, reference: dict[str, Any], values: Array) -> None:
        """Write an array to the buffer of a tensor, shard by shard."""
        form = _form(reference)
        if values.shape != form.shape and values.size != math.prod(form.shape):
            raise ShapeError(f"TTMetal: a tensor of shape {list(form.shape)} cannot hold {list(values.shape)}.")
        if form.host:
            self._host[reference["global_id"]] = np.array(values)
            return
        box = np.zeros((form.grid[0] * form.shard[0], form.grid[1] * form.shard[1]), form.dtype)
        box[: form.box[0], : form.box[1]] = np.asarray(values, form.dtype).reshape(form.box)
        place = self._place(reference)
        shards = [
            self._to_shard(form, box[y * form.shard[0] :, x * form.shard[1] :])
            for y in range(form.grid[0])
            for x in range(form.grid[1])
        ]
        if form.dram:
            data = np.concatenate(shards)
            data = np.concatenate([data, np.zeros(-data.size % _DRAM_PAGE, form.dtype)])
        else:
            pages = np.zeros((self._grid[0], self._grid[1], form.shard[0] * form.shard[1]), form.dtype)
            for number, shard in enumerate(shards):
                pages[divmod(number, form.grid[1])] = shard
            data = pages.ravel()
        metal.enqueue_write_buffer(self._queue, place.buffer, data)

    @staticmethod
    def _to_shard(form: _Form, values: Array) -> Array:
        shard = np.ascontiguousarray(values[: form.shard[0], : form.shard[1]])
        return np.asarray(metal.tilize_nfaces(shard, *form.shard) if form.tiled else shard).reshape(-1)

    def read(self, reference: dict[str, Any]) -> Array:
        """Return the values of a tensor."""
        form = _form(reference)
        if form.host:
            return self._host[reference["global_id"]].astype(form.dtype).reshape(form.shape)
        raw = metal.enqueue_read_buffer(self._queue, self._place(reference).buffer)
        data = np.asarray(raw).view(form.dtype)
        volume = form.shard[0] * form.shard[1]
        box = np.zeros((form.grid[0] * form.shard[0], form.grid[1] * form.shard[1]), form.dtype)
        for number in range(form.grid[0] * form.grid[1]):
            y, x = divmod(number, form.grid[1])
            first = number if form.dram else y * self._grid[1] + x
            shard = data[first * volume : (first + 1) * volume]
            if form.tiled:
                shard = np.asarray(metal.untilize_nfaces(shard, *form.shard))
            rows, columns = (
                slice(y * form.shard[0], (y + 1) * form.shard[0]),
                slice(x * form.shard[1], (x + 1) * form.shard[1]),
            )
            box[rows, columns] = shard.reshape(form.shard)
        return np.ascontiguousarray(box[: form.box[0], : form.box[1]]).reshape(form.shape)

    def command(self, command: dict[str, Any], where: str) -> None:
        """Execute a command of a queue."""
        kind, table = command["type_type"], command["type"]
        if kind == "CreateBufferCommand":
            self.create(table["ref"])
        elif kind == "DeallocateBufferCommand":
            self._places.pop(table["ref"]["global_id"], None)
        elif kind == "EnqueueWriteBufferCommand":
            form, source = _form(table["dst"]), table["src"]
            if table["src_type"] != "ConstantBuffer32":
                raise UnsupportedError(f"{where}: writes of {table['src_type']} are not executed.")
            values = np.array(source["data"], np.uint32).view(np.float32 if form.dtype != np.uint32 else np.uint32)
            self.write(
                table["dst"], np.broadcast_to(values, form.shape) if values.size == 1 else values.reshape(form.shape)
            )
        elif kind == "EnqueueReadBufferCommand":
            values = self.read(table["src"])
            self.create(table["dst"])
            self.write(table["dst"], values)
        elif kind == "EnqueueProgramCommand":
            self.dispatch(table["program"], where)
        elif kind != "FinishCommand":
            raise UnsupportedError(f"{where}: {kind} is not executed.")

    def dispatch(self, description: dict[str, Any], where: str) -> None:
        """Run a program of kernels."""
        program = metal.create_program()
        moves: dict[tuple[int, int], list[list[Any]]] = {}
        for kernel in description.get("kernels", []):
            text = kernel.get("debug_info")
            if not text:
                raise UnsupportedError(
                    f"{where}: a kernel has a source but no steps; binaries of this package have them."
                )
            steps = json.loads(text)
            for place in kernel["core_range_set"]:
                _check_cores(place["size"])
                if kernel["kernel"]["config_type"] == "TensixConfig":
                    self._compute(program, kernel, steps, place)
                elif kernel["kernel"]["config_type"] == "NocConfig":
                    for core in _cores(place):
                        moves.setdefault(core, []).append(steps)
                else:
                    raise UnsupportedError(f"{where}: Ethernet kernels are not executed.")
        for (y, x), several in moves.items():
            # A core has two RISCs for data movement; kernels of one core run one after the other.
            mover = self._mover(several)
            metal.create_kernel(program, mover, metal.CoreCoord(x, y), metal.ReaderDataMovementConfig())
        metal.enqueue_program(self._queue, program)

    def _compute(self, program: Any, kernel: dict[str, Any], steps: list[Any], place: dict[str, Any]) -> None:
        first = metal.CoreCoord(place["loc"]["x"], place["loc"]["y"])
        last = metal.CoreCoord(first.x + place["size"]["x"] - 1, first.y + place["size"]["y"] - 1)
        cores = metal.CoreRange(first, last)
        pages: dict[int, int] = {}
        for one in kernel.get("cbs", []):
            port, form = one["desc"]["port"], _form(one["tensor_ref"])
            page = int(one["desc"]["page_size"]) if form.tiled else 1024 * int(np.dtype(form.dtype).itemsize)
            pages[port] = form.shard_bytes // page
            config = metal.CircularBufferConfig(
                form.shard_bytes, {port: _TYPES[one["desc"]["memory_desc"]["data_type"]][1]}
            )
            config.set_page_size(port, page)
            config.set_globally_allocated_address(self._place(one["tensor_ref"]).buffer)
            metal.create_circular_buffer(program, cores, config)
        ins = [port for port in pages if port < _OUT]
        outs = [port for port in pages if port >= _OUT]
        facts = kernel["kernel"]["config"]
        if facts["math_fidelity"] not in _FIDELITIES or facts["preserve_fp32_precision"]:
            raise UnsupportedError("TTMetal: this compute configuration is not executed.")
        settings = metal.ComputeConfig(
            math_fidelity=getattr(metal.MathFidelity, facts["math_fidelity"]),
            fp32_dest_acc_en=bool(facts["fp32_dest_acc_en"]),
            math_approx_mode=bool(facts["math_approx_mode"]),
        )

        def feed() -> None:
            for port in ins:
                api.cb_reserve_back(port, pages[port])
                api.cb_push_back(port, pages[port])

        def compute() -> None:
            api.compute_kernel_hw_startup(ins[0], ins[-1], outs[0])
            for port in ins:
                api.cb_wait_front(port, pages[port])
            for port in outs:
                api.cb_reserve_back(port, pages[port])
            for name, operands in steps:
                _step(name, [one["cb"] if isinstance(one, dict) else one for one in operands])

        def drain() -> None:
            for port in outs:
                api.cb_wait_front(port, pages[port])
                api.cb_pop_front(port, pages[port])

        metal.create_kernel(program, feed, cores, metal.ReaderDataMovementConfig())
        metal.create_kernel(program, drain, cores, metal.WriterDataMovementConfig())
        metal.create_kernel(program, compute, cores, settings)

    def _mover(self, several: list[list[Any]]) -> Callable[[], None]:
        """A data movement kernel: all steps of a core, with addresses translated."""
        workers = {core: place for place, core in enumerate(self._chip.workers)}
        channels = {core: place for place, core in enumerate(self._chip.dram)}
        columns = self._chip.grid[1]
        where: list[list[tuple[str, list[Any]]]] = []
        for steps in several:
            prepared: list[tuple[str, list[Any]]] = []
            for name, operands in steps:
                if name == "get_noc_addr" and len(operands) == 3:
                    x, y, address = operands
                    core = (y, x)
                    if core in channels:
                        prepared.append(("dram", [channels[core], self.address(address, dram=True)]))
                    elif core in workers:
                        row, column = divmod(workers[core], columns)
                        coord = self._device.worker_core_from_logical_core(metal.CoreCoord(column, row))
                        prepared.append(("worker", [coord.x, coord.y, self.address(address, dram=False)]))
                    else:
                        raise FileFormatError(f"TTMetal: no core at {x}-{y} of the descriptor.")
                elif name == "noc_async_read":
                    source, local, size = operands
                    prepared.append((name, [source["value"], self.address(local, dram=False), size]))
                elif name == "noc_async_write":
                    local, target, size = operands
                    prepared.append((name, [self.address(local, dram=False), target["value"], size]))
                elif name in ("noc_async_read_barrier", "noc_async_write_barrier", "return"):
                    prepared.append((name, []))
                else:
                    raise UnsupportedError(f"TTMetal: {name} of a data movement kernel is not executed.")
            where.append(prepared)

        def move() -> None:
            for prepared in where:
                results: dict[int, int] = {}
                for number, (name, values) in enumerate(prepared):
                    if name == "dram":
                        results[number] = api.get_noc_addr_from_bank_id(values[0], values[1])
                    elif name == "worker":
                        results[number] = api.get_noc_addr(*values)
                    elif name == "noc_async_read":
                        api.noc_async_read(results[values[0]], values[1], values[2])
                    elif name == "noc_async_write":
                        api.noc_async_write(values[0], results[values[1]], values[2])
                    elif name != "return":
                        getattr(api, name)()

        return move


def _check_cores(size: dict[str, int]) -> None:
    """Raise for a rectangle without cores, or with too many."""
    # Each side by itself: one below 1 would make the product small, whatever the other one is.
    if min(size["y"], size["x"]) < 1 or size["y"] * size["x"] > CORES:
        raise FileFormatError(f"TTMetal: a rectangle of {size['y']}x{size['x']} cores. The file is damaged.")


def _cores(place: dict[str, Any]) -> list[tuple[int, int]]:
    """The cores (y, x) of a rectangle."""
    top, left = place["loc"]["y"], place["loc"]["x"]
    return [(top + y, left + x) for y in range(place["size"]["y"]) for x in range(place["size"]["x"])]


_SAME: Final = {
    "add_tiles",
    "add_tiles_init",
    "binary_op_init_common",
    "cb_pop_front",
    "cb_push_back",
    "cb_reserve_back",
    "cb_wait_front",
    "copy_tile",
    "exp_tile",
    "exp_tile_init",
    "mul_tiles",
    "mul_tiles_init",
    "recip_tile",
    "recip_tile_init",
    "sigmoid_tile",
    "sigmoid_tile_init",
    "sqrt_tile",
    "sqrt_tile_init",
    "sub_tiles",
    "sub_tiles_init",
    "tile_regs_acquire",
    "tile_regs_commit",
    "tile_regs_release",
    "tile_regs_wait",
    "tilize_block",
    "tilize_init",
    "unary_op_init_common",
    "untilize_block",
}


def _step(name: str, values: list[Any]) -> None:
    """Call the kernel function of a step."""
    if name == "pack_tile":
        api.pack_tile(values[0], values[1], values[2] if len(values) > 2 else 0, out_of_order=len(values) > 2)
    elif name == "untilize_init":
        api.untilize_init(values[0])
    elif name == "copy_tile_init":
        api.copy_tile_init(*values)
    elif name in _SAME:
        getattr(api, name)(*values)
    elif name != "return":
        raise UnsupportedError(
            f"TTMetal: {name} of a compute kernel is not executed; there are {', '.join(sorted(_SAME))}."
        )
