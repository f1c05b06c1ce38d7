"""System descriptors as attributes of modules, and back."""

from __future__ import annotations

import re
from typing import Any

from ttnn.base.exceptions import DeviceError
from ttnn.compiler.dialects.attributes import SystemDescAttr, split_lists
from ttnn.compiler.dialects.ttcore.system_desc import CHIP_NUMBERS, ChipChannel, ChipDesc, SystemDesc

__all__ = ["from_attribute", "to_attribute"]


def _cores(cores: tuple[tuple[int, int], ...]) -> str:
    return "[" + ", ".join(f"{y}x{x}" for y, x in cores) + "]"


def _chip(chip: ChipDesc, dialect: str) -> str:
    groups = [f"worker = {_cores(chip.workers)}", f"dram = {_cores(chip.dram)}"]
    groups += [f"eth = {_cores(chip.eth)}"] if chip.eth else []
    groups += [f"eth_inactive = {_cores(chip.eth_inactive)}"] if chip.eth_inactive else []
    entries = [f"arch = <{chip.arch}>", f"grid = {chip.grid[0]}x{chip.grid[1]}"]
    if dialect == "ttcore":
        entries.append("coord_translation_offsets = 18x18")
    entries += [f"{name} = {getattr(chip, name)}" for name in CHIP_NUMBERS]
    entries.append(
        f"physical_cores = {{{' '.join(groups)}}}" if dialect == "tt" else f"dram_cores = {_cores(chip.dram)}"
    )
    types = chip.data_types + (("si32",) if dialect == "ttcore" and "si32" not in chip.data_types else ())
    entries.append(f"supported_data_types = [{', '.join(f'<{word}>' for word in types)}]")
    sizes = ", ".join(f"{rows}x{columns}" for rows, columns in chip.tile_sizes)
    entries.append(f"supported_tile_sizes = [ {sizes}]" if dialect == "ttcore" else f"supported_tile_sizes = [{sizes}]")
    if dialect == "ttcore":
        entries += [
            f"dst_physical_size_tiles = {chip.dst_physical_size_tiles}",
            f"num_cbs = {chip.num_cbs}",
            f"num_compute_threads = {chip.num_compute_threads}",
            f"num_datamovement_threads = {chip.num_datamovement_threads}",
        ]
    return "{" + ", ".join(entries) + "}"


def to_attribute(desc: SystemDesc, dialect: str = "tt") -> SystemDescAttr:
    """Return the attribute of a descriptor.

    Args:
        desc: The descriptor.
        dialect: "tt" for 2024-09, "ttcore" for the later versions.
    """
    lists = [
        ", ".join(_chip(chip, dialect) for chip in desc.chips),
        ", ".join(map(str, desc.chip_indices)),
        ", ".join(f"[{'|'.join(words)}]" if dialect == "tt" else f"<{'|'.join(words)}>" for words in desc.capabilities),
        ", ".join("x".join(map(str, coord)) for coord in desc.coords),
    ]
    if dialect == "tt":
        lists[2] = ", ".join("|".join(words) for words in desc.capabilities)
    else:
        lists.insert(0, '{role = host, target_triple = "x86_64-pc-linux"}')
        lists[3] = ", ".join(f"{'|'.join(words)}" for words in desc.capabilities)
    if desc.channels:
        lists.append(
            ", ".join(
                f"<[{one.device_id0}, [{one.core0[0]}, {one.core0[1]}]], [{one.device_id1}, [{one.core1[0]}, "
                f"{one.core1[1]}]]>"
                for one in desc.channels
            )
        )
    return SystemDescAttr(dialect, tuple(lists))


def _entries(text: str) -> dict[str, str]:
    return {key.strip(): value.strip() for key, _, value in (part.partition("=") for part in split_lists(text))}


def _pairs(text: str | None) -> tuple[tuple[int, int], ...]:
    return tuple((int(y), int(x)) for y, x in re.findall(r"(\d+)\s*x\s*(\d+)", text or ""))


def _chip_from(text: str) -> ChipDesc:
    if text.startswith("<"):
        # The oldest form: architecture and grid only.
        words = split_lists(text.strip("<> "))
        rows, columns = _pairs(words[-1])[0] if _pairs(words[-1]) else (8, 8)
        return ChipDesc(arch=re.sub(r".*<|>.*", "", words[0]).strip() or "wormhole_b0", grid=(rows, columns))
    entries = _entries(text.strip().removeprefix("{").removesuffix("}"))
    values: dict[str, Any] = {name: int(entries[name]) for name in CHIP_NUMBERS if name in entries}
    if "arch" in entries:
        values["arch"] = re.sub(r".*<|>.*", "", entries["arch"]).strip()
    if "grid" in entries:
        values["grid"] = _pairs(entries["grid"])[0]
    cores = entries.get("physical_cores", "")
    for name, field in (("worker", "workers"), ("dram", "dram"), ("eth", "eth"), ("eth_inactive", "eth_inactive")):
        found = re.search(rf"\b{name}\s*=\s*\[([^\]]*)\]", cores)
        if found:
            values[field] = _pairs(found.group(1))
    if "dram_cores" in entries:
        values["dram"] = _pairs(entries["dram_cores"])
    if "supported_data_types" in entries:
        values["data_types"] = tuple(re.findall(r"<\s*(\w+)\s*>", entries["supported_data_types"]))
    if "supported_tile_sizes" in entries:
        values["tile_sizes"] = _pairs(entries["supported_tile_sizes"])
    for name in ("dst_physical_size_tiles", "num_cbs", "num_compute_threads", "num_datamovement_threads"):
        if name in entries:
            values[name] = int(entries[name])
    return ChipDesc(**values)


def _capabilities(text: str, dialect: str) -> tuple[str, ...]:
    """Return a chip's capabilities from words or a bit number."""
    number = re.match(r"\s*(\d+)\b", text)
    if number is None:
        return tuple(word for word in re.findall(r"\w+", text) if word != "tt")
    names = ("pcie", "host_mmio") if dialect == "tt" else ("host_mmio",)
    return tuple(name for bit, name in enumerate(names) if int(number[1]) >> bit & 1)


def from_attribute(attribute: SystemDescAttr) -> SystemDesc:
    """Return an attribute's descriptor, with defaults for missing text.

    Raises:
        DeviceError: A list cannot be read.
    """
    lists = list(attribute.lists)
    if attribute.dialect == "ttcore":
        lists = lists[1:]
    try:
        chips = tuple(_chip_from(one.strip()) for one in split_lists(lists[0]))
        indices = tuple(int(word) for word in re.findall(r"\d+", lists[1]))
        capabilities = tuple(_capabilities(one, attribute.dialect) for one in split_lists(lists[2]))
        coords = tuple(tuple(int(word) for word in re.findall(r"\d+", one)) for one in split_lists(lists[3]))
        channels = tuple(
            ChipChannel(numbers[0], (numbers[1], numbers[2]), numbers[3], (numbers[4], numbers[5]))
            for numbers in (
                [int(word) for word in re.findall(r"\d+", one)]
                for one in split_lists(lists[4] if len(lists) > 4 else "")
            )
        )
    except (ValueError, IndexError, KeyError) as error:
        raise DeviceError(f"the system descriptor cannot be read: {error}") from None
    while len(capabilities) < len(indices):
        capabilities = (*capabilities, ())
    full = tuple((*coord, 0, 0, 0, 0)[:4] for coord in coords) or ((0, 0, 0, 0),) * len(indices)
    return SystemDesc(chips, indices, capabilities, full, channels)  # type: ignore[arg-type]
