"""Sliding windows: halo exchange, and convolutions as matmuls.

Products of windows and weights.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from ttnn.base.enums import DataType
from ttnn.base.exceptions import UnsupportedError
from ttnn.base.tile import tile_bytes
from ttnn.profiler.device_operation import DeviceOperation, box_of
from ttnn.profiler.families.common import plan_of
from ttnn.profiler.operand import TILE
from ttnn.profiler.plan import (
    BARRIER,
    CoreGroup,
    Plan,
    PlanCb,
    Step,
    Steps,
    await_,
    loop,
    pop,
    push,
    read,
    reserve,
    tiles,
)

_IN0, _IN1, _OUT, _RAW, _BIAS, _TILIZED = range(6)


@dataclass(frozen=True)
class Window:
    """A sliding window over images.

    Args:
        batch: Images.
        size: Height and width of an image.
        window: Height and width of the window.
        stride: Its steps.
        padding: Rows above and below, columns left and right.
        dilation: Steps inside the window.
        cores: Cores among which output pixels are divided.
        tiled: Whether each core's share is a multiple of 32 pixels.
    """

    batch: int
    size: tuple[int, int]
    window: tuple[int, int]
    stride: tuple[int, int]
    padding: tuple[int, int, int, int]
    dilation: tuple[int, int]
    cores: int
    tiled: bool = True

    @property
    def output(self) -> tuple[int, int]:
        """Height and width of the output."""
        (height, width), (top, bottom, left, right) = self.size, self.padding
        reach = tuple(d * (w - 1) + 1 for d, w in zip(self.dilation, self.window, strict=True))
        return (height + top + bottom - reach[0]) // self.stride[0] + 1, (
            width + left + right - reach[1]
        ) // self.stride[1] + 1


_NUMBERS: Final = {
    "batch": r"batch_size=(\d+)",
    "size": r"input_hw=\((\d+);(\d+)\)",
    "window": r"window_hw=\((\d+);(\d+)\)",
    "stride": r"stride_hw=\((\d+);(\d+)\)",
    "padding": r"padding=\(\((\d+); ?(\d+)\); ?\((\d+); ?(\d+)\)\)",
    "dilation": r"dilation_hw=\((\d+);(\d+)\)",
    "cores": r"num_cores_nhw=(\d+)",
}


def window_of(text: str, *, tiled: bool = True) -> Window | None:
    """Return the window that an attribute prints, None if it prints none."""
    found: dict[str, tuple[int, ...]] = {}
    for name, pattern in _NUMBERS.items():
        match = re.search(pattern, text)
        if match is None:
            return None
        found[name] = tuple(map(int, match.groups()))
    batch, size, window, stride, padding, dilation, cores = (found[name] for name in _NUMBERS)
    return Window(
        batch[0],
        (size[0], size[1]),
        (window[0], window[1]),
        (stride[0], stride[1]),
        (padding[0], padding[1], padding[2], padding[3]),
        (dilation[0], dilation[1]),
        cores[0],
        tiled,
    )


@dataclass(frozen=True)
class Exchange:
    """Halo data in sticks: the channels of one pixel.

    Args:
        local: Sticks that stay in a core, at most.
        remote: Sticks that a core sends to others, at most.
        link: Sticks that pass the busiest link of either network.
        runs: Copies of adjacent sticks, at most.
    """

    local: int
    remote: int
    link: int
    runs: int


Place = tuple[int, int]
"""Physical column and row of a core."""


def places(arch: str, cores: int, columns: int) -> list[Place]:
    """Return chip coordinates of cores numbered by row.

    Columns 0 and rows 0 are not Tensix cores.
    """
    found = []
    for core in range(cores):
        y, x = divmod(core, columns)
        if arch == "blackhole":
            found.append((x + (1 if x < 7 else 3), y + 2))
        else:
            found.append((x + (1 if x < 4 else 2), y + (1 if y < 5 else 2)))
    return found


def busiest_link(flows: dict[tuple[int, int], int], at: list[Place], arch: str) -> int:
    """Return the busiest link's load, on either NoC.

    All flows use NoC 0, or NoC 1, whichever is more.

    NoC 0 routes east, then south, NoC 1 north, then west; both around the torus.
    """
    wide, tall = (17, 12) if arch == "blackhole" else (10, 12)
    most = 0
    for step in (1, -1):
        links: dict[tuple[bool, int, int], int] = {}
        for (source, target), amount in flows.items():
            (x, y), (to_x, to_y) = at[source], at[target]
            for across in (True, False) if step == 1 else (False, True):
                while (x != to_x) if across else (y != to_y):
                    link = (across, x, y)
                    links[link] = links.get(link, 0) + amount
                    if across:
                        x = (x + step) % wide
                    else:
                        y = (y + step) % tall
        most = max(most, max(links.values(), default=0))
    return most


def _padded(window: Window) -> tuple[int, int]:
    """Return width and height of an image with its padding."""
    height, width = window.size
    top, bottom, left, right = window.padding
    return width + left + right, height + top + bottom


def _shares(window: Window) -> tuple[int, int]:
    """Return the number of output pixels, and of those of one core."""
    out_h, out_w = window.output
    pixels = window.batch * out_h * out_w
    share = -(-pixels // window.cores)
    return pixels, -(-share // TILE) * TILE if window.tiled else share


@lru_cache(maxsize=1024)
def exchange(window: Window, held: int, columns: int, arch: str) -> Exchange:
    """Return cores' halo exchange, by sticks and columns.

    Each has so many sticks, in rows of so many columns.
    """
    height, width = window.size
    top, _, left, _ = window.padding
    wide, tall = _padded(window)
    pixels, share = _shares(window)
    local: dict[int, int] = {}
    sent: dict[int, int] = {}
    runs: dict[int, int] = {}
    flows: dict[tuple[int, int], int] = {}
    for core in range(window.cores):
        first, last = core * share, min((core + 1) * share, pixels) - 1
        if first > last:
            break
        start = _corner(window, first, wide, tall)
        end = _corner(window, last, wide, tall)
        end += (window.window[0] - 1) * window.dilation[0] * wide + (window.window[1] - 1) * window.dilation[1] + 1
        for line in range(start // wide, -(-end // wide)):
            image, row = divmod(line, tall)
            if not top <= row < top + height or image >= window.batch:
                continue
            lowest = max(start - line * wide, left) - left
            highest = min(end - line * wide, left + width) - left
            if lowest >= highest:
                continue
            base = (image * height + row - top) * width
            at, stop = base + lowest, base + highest
            while at < stop:
                owner = min(at // held, window.cores - 1)
                piece = min(stop, (owner + 1) * held) - at if owner == at // held else stop - at
                runs[owner] = runs.get(owner, 0) + 1
                if owner == core:
                    local[core] = local.get(core, 0) + piece
                else:
                    sent[owner] = sent.get(owner, 0) + piece
                    flows[owner, core] = flows.get((owner, core), 0) + piece
                at += piece
    link = busiest_link(flows, places(arch, window.cores, columns), arch)
    return Exchange(max(local.values(), default=0), max(sent.values(), default=0), link, max(runs.values(), default=1))


def reach(window: Window) -> int:
    """Return a core's maximum window sticks.

    Padded rows, from its first window to its last.
    """
    wide, tall = _padded(window)
    pixels, share = _shares(window)
    most = 0
    for first in range(0, pixels, share):
        last = min(first + share, pixels) - 1
        end = _corner(window, last, wide, tall)
        end += (window.window[0] - 1) * window.dilation[0] * wide + (window.window[1] - 1) * window.dilation[1] + 1
        most = max(most, end - _corner(window, first, wide, tall))
    return most


def _corner(window: Window, pixel: int, wide: int, tall: int) -> int:
    """Return the place of an output pixel's window in the padded images."""
    out_h, out_w = window.output
    image, inside = divmod(pixel, out_h * out_w)
    row, column = divmod(inside, out_w)
    return (image * tall + row * window.stride[0]) * wide + column * window.stride[1]


def halo(op: DeviceOperation) -> Plan:
    """Return a halo's plan: untilized shards, exchanged window rows.

    They are sent to each other.
    """
    source, output = op.inputs[0], op.outputs[0]
    text = op.attributes.get("config", "")
    window = window_of(text, tiled=op.attributes.get("is_out_tiled", "true") == "true")
    cores = op.cores or max(1, output.shard_cores)
    held = op.words("in_nsticks_per_core")
    sticks = held[0] if held else -(-source.rows // max(1, window.cores if window else cores))
    blocks = source.memory == "BLOCK_SHARDED"
    wide = source.memory == "WIDTH_SHARDED"
    nhw = window.cores if window else cores
    channels = -(-cores // nhw) if blocks else cores if wide else 1
    size = -(-output.width // max(1, channels)) * output.element_bytes
    box = box_of(op.attributes.get("config", "")) or op.grid or op.card.grid
    across = 1 if blocks else box[0]
    moved = exchange(window, sticks, across, op.card.arch) if window is not None else Exchange(sticks, 0, 0, 1)
    # All that passes the busiest link passes it one after the other.
    crowd = max(100, 100 * moved.link // max(1, moved.remote))
    rows = -(-sticks // TILE) if source.tiled else 1

    def copies(parts: int) -> Steps:
        steps: list[Step] = []
        total = moved.local + moved.remote
        for place, count in (("local", moved.local), ("l1", moved.remote)):
            if count:
                pieces = max(1, moved.runs * count // max(1, total * parts))
                amount = -(-count * size // (pieces * parts))
                steps.append(("write", place, pieces, amount, 0, crowd if place == "l1" else 100))
        return (*steps, BARRIER)

    if not source.tiled:
        return plan_of(op, [CoreGroup(cores, copies(1), (), ())], [])
    columns = max(1, source.tile_columns // max(1, channels))
    pack = tiles(("pack_untilize", columns, output.element_bytes))
    reader = (reserve(_IN0, rows * columns), push(_IN0, rows * columns))
    block = (await_(_IN0, columns), reserve(_IN1, columns), tiles(("copy", source.page_bytes), columns), pack)
    kernel = (tiles(("initialise",)), loop(rows, *block, push(_IN1, columns), pop(_IN0, columns)))
    # Rows leave as they are untilized.
    writer = (loop(rows, await_(_IN1, columns), *copies(rows), pop(_IN1, columns)),)
    cbs = [
        PlanCb("tiles", rows * columns, source.page_bytes, source.dtype, True),
        PlanCb("rows", rows * columns, 1024 * output.element_bytes, output.dtype),
    ]
    return plan_of(op, [CoreGroup(cores, reader, kernel, writer)], cbs)


def conv2d(op: DeviceOperation) -> Plan:
    """Return a convolution's plan: window matrix times multicast weights.

    Windows are gathered and tilized; one core sends weights to all.

    Raises:
        UnsupportedError: its blocks are not known.
    """
    if len(op.inputs) < 2 or not {"block_config", "parallelization_config"} <= op.attributes.keys():
        raise UnsupportedError(f"{op.name}: no plan for a matmul without blocks", "unimplemented")
    weights, output = op.inputs[1], op.outputs[0]
    source = op.inputs[0]
    block = _numbers(op.attributes.get("block_config", ""))
    parts = _numbers(op.attributes.get("parallelization_config", ""))
    window = window_of(op.attributes.get("sliding_window_config", ""))
    height = block.get("act_block_h_ntiles", 1)
    inner = max(1, block.get("act_block_w_ntiles", 1))
    sub = (block.get("out_subblock_h_ntiles", 1), block.get("out_subblock_w_ntiles", 1))
    tall = parts.get("per_core_out_matrix_height_ntile", 1)
    wide = parts.get("per_core_out_matrix_width_ntile", output.tile_columns)
    cores = op.cores or parts.get("num_cores_nhw", 1) * parts.get("num_cores_c_out", 1)
    across = parts.get("num_cores_c_in", 1)
    blocked = source.memory == "BLOCK_SHARDED"
    k_tiles = weights.tile_rows
    # With block sharding each core gathers its channels, and sends them to the cores of its row.
    steps = max(1, -(-k_tiles // inner))
    outer = max(1, -(-tall // height))
    kernel_h, kernel_w = window.window if window else (1, 1)
    element = 2
    gathers = TILE * height
    per_core_channels = source.width // max(1, across) if blocked else source.width
    stick = per_core_channels * element
    coalesced = window is not None and window.dilation == (1, 1)
    # A block of K covers so many rows of the window; neighbouring sticks of a row are one read.
    covered = (
        max(1, min(kernel_h, round(inner * TILE / max(1, kernel_w * per_core_channels)))) if not blocked else kernel_h
    )
    reads_per_pixel = covered * (1 if coalesced else kernel_w)
    bytes_per_read = stick * (kernel_w if coalesced else 1)
    raw, tilized = 1024 * element, output.page_bytes if output.tiled else 1024 * element
    deep_act = 2 if op.attributes.get("enable_act_double_buffer") == "true" else 1
    deep_weights = 2 if op.attributes.get("enable_weights_double_buffer") == "true" else 1
    act_tiles, weight_tiles = height * inner, inner * wide
    size, out_size = weights.page_bytes, output.page_bytes if output.tiled else 2048
    count = sub[0] * sub[1]
    pieces = max(1, height // max(1, sub[0])) * max(1, wide // max(1, sub[1]))
    partial = tile_bytes(DataType.FLOAT32 if op.wide else DataType.BFLOAT16, TILE, TILE)
    added = "packer_l1_acc=1" in op.attributes.get("compute_kernel_config", "")
    product = tiles(("matmul", *sub, inner, tilized, size, op.phases))
    tilize = (
        await_(_RAW, act_tiles),
        tiles(("reconfigure",)),
        loop(height, tiles(("tilize", raw, inner), inner), tiles(("pack", tilized, False), inner)),
        pop(_RAW, act_tiles),
        tiles(("reconfigure",)),
    )
    reload: Steps = () if added else (tiles(("switch",)), tiles(("copy", partial), count))
    fused = op.attributes.get("has_bias") == "true"
    activation: Steps = tuple(tiles(("sfpu", name, fast, op.wide), count) for name, fast in op.chain)
    finish = tiles(("pack", out_size, False), count)
    middle = tiles(("pack", partial, added), count)
    last = (reserve(_OUT, count), finish, push(_OUT, count))
    # With block sharding a core tilizes its channels once, and gets those of the others of its row step by step.
    tilize_all: Steps = (await_(_IN0, act_tiles), pop(_IN0, act_tiles)) if blocked else tilize
    weigh = (await_(_IN1, weight_tiles),)
    body: list[Step] = []
    for first, times in ((True, 1), (False, max(0, steps - 2))) if steps > 1 else ():
        if times:
            again = () if first else reload
            body.append(
                loop(times, *tilize_all, *weigh, loop(pieces, *again, product, middle), pop(_IN1, weight_tiles))
            )
    ending = (product, middle) if fused else (product, *activation, *last)
    body += [*tilize_all, *weigh, loop(pieces, *(reload if steps > 1 else ()), *ending), pop(_IN1, weight_tiles)]
    if fused:
        add = tiles(("eltwise", "add", partial, size, 1), count)
        body += [tiles(("reconfigure",)), loop(pieces, add, *activation, *last)]
    if blocked:
        body = [*tilize, reserve(_TILIZED), push(_TILIZED), *body]
    compute = (tiles(("initialise",)), loop(outer, *body))

    def act(times: int) -> Steps:
        gather = loop(gathers, read("local", reads_per_pixel, bytes_per_read))
        if blocked:
            share = (("multicast", act_tiles * tilized, across), reserve(_IN0, act_tiles), push(_IN0, act_tiles))
            own = (reserve(_RAW, act_tiles), gather, BARRIER, push(_RAW, act_tiles), await_(_TILIZED), pop(_TILIZED))
            return (loop(outer, *own, loop(times, *share)),)
        return (loop(outer * times, reserve(_RAW, act_tiles), gather, BARRIER, push(_RAW, act_tiles)),)

    takers = max(1, cores // max(1, parts.get("num_cores_c_out", 1)))

    def bring(*, sends: bool) -> Steps:
        if not sends:
            return (reserve(_IN1, weight_tiles), ("wait", 0), push(_IN1, weight_tiles))
        fetched = read("dram", weight_tiles, size, weight_tiles)
        return (
            reserve(_IN1, weight_tiles),
            fetched,
            ("multicast", weight_tiles * size, takers),
            ("signal", 0),
            push(_IN1, weight_tiles),
        )

    once = op.attributes.get("full_inner_dim") == "true" or not blocked
    groups = []
    senders = max(1, parts.get("num_cores_c_out", 1))
    for number, sends in ((senders, True), (max(0, cores - senders), False)):
        if number == 0:
            continue
        inside = (loop(steps, *bring(sends=sends)),)
        kept = (
            (loop(outer - 1, loop(steps, reserve(_IN1, weight_tiles), push(_IN1, weight_tiles))),)
            if once and outer > 1
            else ()
        )
        weights_loop: Steps = (*inside, *kept) if once else (loop(outer, *inside),)
        groups.append(CoreGroup(number, act(steps), compute, (*weights_loop, await_(_OUT, count))))
    cbs = [
        PlanCb("act received", act_tiles, tilized, output.dtype),
        PlanCb("weights", deep_weights * weight_tiles, size, weights.dtype),
        PlanCb("out", tall * wide + count, out_size, output.dtype, True),
        PlanCb("act", deep_act * act_tiles, raw, source.dtype),
        PlanCb("bias", wide, size, weights.dtype),
        PlanCb("act tilized", 1, act_tiles * tilized, output.dtype),
    ]
    return plan_of(op, groups, cbs)


def _numbers(text: str) -> dict[str, int]:
    return {name: int(value) for name, value in re.findall(r"(\w+)=(\d+)", text)}
