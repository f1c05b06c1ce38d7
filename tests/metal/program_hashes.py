"""Hashes of program results and costs, equal everywhere.

On every machine, CPU level and number of threads.

`program_hashes.json`, beside this file, has them for the examples and for some random programs. As a command this
compares them; with `--write` it writes them anew, which is right only when bits or figures are meant to change.
"""

from __future__ import annotations

import argparse
import hashlib
import importlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import ttnn
from ttnn import metal

FILE = Path(__file__).with_suffix(".json")
ROOT = Path(__file__).resolve().parents[2]
SPELLINGS = ("classic", "objects", "metal2")
RANDOM = range(12)
"""Seeds of the random programs."""
_MEMORY = 1 << 17
"""Result bytes of each DRAM bank: all that programs allocate."""


def example_names() -> list[str]:
    """Return the names of the examples, for example "classic.loopback"."""
    files = (path for spelling in SPELLINGS for path in (ROOT / "examples" / spelling).glob("*.py"))
    return sorted(f"{path.parent.name}.{path.stem}" for path in files if "def run(" in path.read_text(encoding="utf-8"))


def program_names() -> list[str]:
    """Return the names of all programs that have hashes."""
    return [*example_names(), *(f"random {seed}" for seed in RANDOM)]


def run_of(name: str) -> Callable[[ttnn.MeshDevice], metal.Report]:
    """Return the function that runs a program."""
    if name.startswith("random "):
        from random_programs import buffers, build

        seed = int(name.partition(" ")[2])

        def run(device: ttnn.MeshDevice) -> metal.Report:
            source, target = buffers(seed, device)
            return metal.run_program(device, build(seed, device, source, target, correct=True))

        return run
    if str(ROOT) not in sys.path:
        sys.path.append(str(ROOT))
    example = importlib.import_module(f"examples.{name}")
    return lambda device: example.run(device).report


def hashes_of(name: str) -> dict[str, str]:
    """Run a program on its own device; return its hashes.

    They are those of the memory it leaves, and of its report and events.
    """
    with ttnn.manage_device(device_id=0, chip="n150") as device:
        report = run_of(name)(device)
        memory = hashlib.sha256()
        base = device.engine.memory_view(ttnn.BufferType.DRAM.value)["base_address"]
        for bank in range(len(device.chip["dram_cores"])):
            memory.update(device.engine.read_bytes(True, bank, base, _MEMORY))
    trace = hashlib.sha256(repr(report).encode())
    for row in report._run.events():
        trace.update(repr(row).encode())
    return {"result": memory.hexdigest(), "trace": trace.hexdigest()}


def differences(names: list[str]) -> Iterator[str]:
    """Yield a sentence per program whose hashes differ from the file."""
    known = json.loads(FILE.read_text(encoding="utf-8"))
    for name in names:
        if name not in known:
            yield f"{name} has no hashes yet; write them with {Path(__file__).name} --write"
            continue
        now = hashes_of(name)
        for what, value in known[name].items():
            if now[what] != value:
                yield f"{name}: the hash of its {what} is {now[what]}, not {value}"


def main() -> None:
    """Compare all programs, or write their hashes anew."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--write", action="store_true")
    if parser.parse_args().write:
        FILE.write_text(json.dumps({name: hashes_of(name) for name in program_names()}, indent=1) + "\n")
        return
    found = list(differences(program_names()))
    print("\n".join(found) or f"{len(program_names())} programs have the hashes of the file")
    raise SystemExit(bool(found))


if __name__ == "__main__":
    main()
