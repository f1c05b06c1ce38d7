"""System descriptors in binaries and `.ttsys` files.

Their tables of all languages.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from ttnn.base.exceptions import DeviceError, FileFormatError
from ttnn.compiler.dialects.ttcore.system_desc import CHIP_NUMBERS, ChipChannel, ChipDesc, SystemDesc
from ttnn.compiler.limits import CHIPS
from ttnn.compiler.target.flatbuffer.binary import Binary
from ttnn.compiler.target.flatbuffer.schema import Enum, Schema
from ttnn.compiler.version import Version

__all__ = ["DATA_TYPES", "from_table", "load", "make_binary", "to_table"]

#: Names of data types in binaries by their words in text.
DATA_TYPES: Final = {
    "f32": "Float32",
    "f16": "Float16",
    "bf16": "BFloat16",
    "bfp_f8": "BFP_Float8",
    "bfp_bf8": "BFP_BFloat8",
    "bfp_f4": "BFP_Float4",
    "bfp_bf4": "BFP_BFloat4",
    "bfp_f2": "BFP_Float2",
    "bfp_bf2": "BFP_BFloat2",
    "u32": "UInt32",
    "u16": "UInt16",
    "u8": "UInt8",
    "si32": "Int32",
    "i1": "Bool",
}
#: Workers or channels of a chip.
_WORKERS: Final = 1 << 10
_WORDS: Final = {name: word for word, name in DATA_TYPES.items()}
_CAPABILITIES: Final = {"pcie": "PCIE", "host_mmio": "HostMMIO"}
_NUMBERS: Final = (
    *CHIP_NUMBERS,
    "dst_physical_size_tiles",
    "num_cbs",
    "num_compute_threads",
    "num_datamovement_threads",
)
_CORES: Final = {"worker": "workers", "dram": "dram", "eth": "eth", "eth_inactive": "eth_inactive"}


def _yx(pair: tuple[int, int]) -> dict[str, int]:
    return {"y": pair[0], "x": pair[1]}


def _pair(table: dict[str, int]) -> tuple[int, int]:
    return table["y"], table["x"]


def to_table(system: SystemDesc, language: str) -> dict[str, Any]:
    """Return a binary's table `SystemDesc`.

    What the language has no field for is left out.
    """
    schema = Schema.load(language)
    fields = schema.types["tt.target.ChipDesc"].by_name  # type: ignore[union-attr]
    flags = schema.types["tt.target.ChipCapability"]
    assert isinstance(flags, Enum)
    chips = []
    for chip in system.chips:
        table: dict[str, Any] = {
            "arch": {"grayskull": "Grayskull", "wormhole_b0": "Wormhole_b0"}.get(chip.arch, chip.arch.capitalize()),
            "grid_size": _yx(chip.grid),
            "supported_data_types": _data_types(chip, language),
            "supported_tile_sizes": [_yx(size) for size in chip.tile_sizes],
            "physical_cores": {
                name: [_yx(core) for core in getattr(chip, attribute)] for name, attribute in _CORES.items()
            },
            "coord_translation_offsets": _yx((18, 18)),
            "dram_grid_size": _yx((1, chip.num_dram_channels)),
        }
        table |= {name: getattr(chip, name) for name in _NUMBERS}
        chips.append({name: value for name, value in table.items() if name in fields})
    table = {
        "cpu_descs": [{"role": "Host", "target_triple": "x86_64-pc-linux"}],
        "chip_descs": chips,
        "chip_desc_indices": list(system.chip_indices),
        "chip_capabilities": [
            " ".join(_CAPABILITIES[word] for word in words if _CAPABILITIES[word] in flags.values) or 0
            for words in system.capabilities
        ],
        "chip_coords": [dict(zip(("rack", "shelf", "y", "x"), coord, strict=True)) for coord in system.coords],
        "chip_channels": [
            {
                "device_id0": channel.device_id0,
                "ethernet_core_coord0": _yx(channel.core0),
                "device_id1": channel.device_id1,
                "ethernet_core_coord1": _yx(channel.core1),
            }
            for channel in system.channels
        ],
    }
    known = schema.types["tt.target.SystemDesc"].by_name  # type: ignore[union-attr]
    return {name: value for name, value in table.items() if name in known}


def _data_types(chip: ChipDesc, language: str) -> list[str]:
    """Names of a chip's data types.

    2024-09 has no signed integers, the later ones have them on each.
    """
    words = [word for word in chip.data_types if word != "si32"]
    return [DATA_TYPES[word] for word in (words if language == "2024-09" else [*words, "si32"])]


def from_table(table: dict[str, Any], name: str = "<data>") -> SystemDesc:
    """Return a binary's system descriptor.

    Fields that its language lacks have the values of the default chip.

    Args:
        table: The table `SystemDesc`.
        name: What to call the binary in an error.

    Raises:
        FileFormatError: The table contradicts itself, or has an unknown architecture or data type.
    """
    try:
        chips = table.get("chip_descs", [])
        if len(chips) > CHIPS:
            raise DeviceError(f"{len(chips)} chips; at most {CHIPS}.")
        return SystemDesc(
            tuple(_chip(chip) for chip in chips),
            tuple(table.get("chip_desc_indices", [])),
            tuple(_capabilities(value) for value in table.get("chip_capabilities", [])),
            tuple((c["rack"], c["shelf"], c["y"], c["x"]) for c in table.get("chip_coords", [])),
            tuple(
                ChipChannel(
                    c["device_id0"], _pair(c["ethernet_core_coord0"]), c["device_id1"], _pair(c["ethernet_core_coord1"])
                )
                for c in table.get("chip_channels", [])
            ),
        )
    except (DeviceError, KeyError) as error:
        text = f"there is no {error}" if isinstance(error, KeyError) else str(error)
        raise FileFormatError(f"{name}: system descriptor: {text}") from None


def _capabilities(value: str | int) -> tuple[str, ...]:
    names = value.split() if isinstance(value, str) else []
    return tuple(word for word, name in _CAPABILITIES.items() if name in names)


def _chip(table: dict[str, Any]) -> ChipDesc:
    facts: dict[str, Any] = {name: table[name] for name in _NUMBERS if name in table}
    facts["arch"] = {
        "Grayskull": "grayskull",
        "Wormhole_b0": "wormhole_b0",
        "Blackhole": "blackhole",
        "Quasar": "quasar",
    }[table["arch"]]
    facts["grid"] = _pair(table["grid_size"])
    cores = table.get("physical_cores")
    for name, attribute in _CORES.items():
        # The later languages have no physical cores: workers are row by row, channels in a row below them.
        facts[attribute] = tuple(_pair(core) for core in cores.get(name, [])) if cores else ()
    if not cores:
        rows, columns = facts["grid"]
        default = ChipDesc()
        same = (rows, columns, facts["num_dram_channels"]) == (*default.grid, default.num_dram_channels)
        # Each side by itself: a side below one would make the product small, whatever the other one is.
        if min(rows, columns) < 1 or rows * columns > _WORKERS:
            raise DeviceError(f"a grid of {rows}x{columns} workers; 1 to {_WORKERS} are possible.")
        facts["workers"] = tuple((y, x) for y in range(rows) for x in range(columns))
        channels = min(facts["num_dram_channels"], _WORKERS)
        facts["dram"] = default.dram if same else tuple((rows, x) for x in range(channels))
    names = [name for name in table.get("supported_data_types", []) if name in _WORDS and name != "Int32"]
    facts["data_types"] = tuple(_WORDS[name] for name in names)
    facts["tile_sizes"] = tuple(_pair(size) for size in table.get("supported_tile_sizes", []))
    return ChipDesc(**facts)


def make_binary(system: SystemDesc, version: str, language: Version = "2024-09", product: str = "") -> Binary:
    """Return a system descriptor as a binary.

    Args:
        system: The descriptor.
        version: Version of the package, "major.minor.patch".
        language: "2024-09", "2025-10" or "2026-08".
        product: What the system is called.
    """
    schema = Schema.load(language)
    values: dict[str, Any] = {
        "version": version_table(version),
        "ttmlir_git_hash": version,
        "schema_hash": schema.digest,
        "product_identifier": product or system.chips[0].arch,
        "system_desc": to_table(system, language),
    }
    known = schema.roots["TTSY"].table.by_name
    return Binary("TTSY", language, {name: value for name, value in values.items() if name in known})


def version_table(version: str) -> dict[str, int]:
    """Return the struct `Version` of "major.minor.patch".

    What follows the three numbers is left out.
    """
    numbers = [int(part) if part.isdigit() else 0 for part in version.split("+")[0].split(".")]
    major, minor, patch = [*numbers, 0, 0, 0][:3]
    return {"major": major, "minor": minor, "patch": patch}


def load(path: str | Path) -> SystemDesc:
    """Return a file's system descriptor.

    A `.ttsys`, or the one that another binary was built for.

    Raises:
        FileFormatError: The file cannot be read, is damaged, or has no system descriptor.
    """
    binary = Binary.load(path)
    table = binary.values.get("system_desc")
    if table is None:
        raise FileFormatError(
            f"{path}: the binary has no system descriptor. Write one with ttrt query --save-artifacts."
        )
    return from_table(table, str(path))
