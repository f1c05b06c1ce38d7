"""Compilation of official wheel kernels with made-up arguments.

It reports how many compile, and why the others do not.

    python tests/metal/cpp/wheel_sweep.py FOLDER [--only TEXT] [--define NAME=VALUE] [--jobs N] [--show]

FOLDER is what `pip download ttnn==0.81.1 --no-deps` unpacks to. Kernels for later chips do not count. Nothing is run.
Defines are those of recorded programs of the operators, and those that operators of several chips generate
(`official_defines.json`); a kernel whose operator has none there gets none. `--define FABRIC_2D=1` compiles for a
fabric of two dimensions.
"""

from __future__ import annotations

import argparse
import collections
import itertools
import json
import re
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import NamedTuple

from ttnn.base.exceptions import KernelCompileError, UnsupportedError
from ttnn.metal.cpp.compiler import compile_kernel
from ttnn.metal.cpp.names_header import names_header
from ttnn.metal.cpp.spec import BRISC, TRISC, CbFormat, Chip, ComputeSettings, CppSource, KernelSettings

CHIP = Chip("WORMHOLE", tuple((x, 1) for x in range(12)), tuple((18 + i % 8, 18 + i // 8) for i in range(64)), 32, 16)
WORDS = (2, 1, 32, 4, 64, 0)
"""Compile-time arguments, tried until a kernel compiles.

2: interleaved tensors in DRAM.

0: they count up, so that no two are equal.
"""
COMPUTE = re.compile(r"api/compute|compute_kernel_api|tile_regs_|kernel/compute/|compute_kernel_hw_startup|_compute\.h")
KINDS = ("args", "dfb", "sem", "tensor", "scratch")
"""Namespaces of names that the host binds."""
DEFINES: dict[str, list[dict[str, str]]] = json.loads(
    (Path(__file__).parent / "official_defines.json").read_text(encoding="utf-8")
)
"""Defines of official operators in recorded programs.

The commonest set, and the largest.
"""


class Outcome(NamedTuple):
    """The result of a kernel: "ok", "refused" or "fails", and the reason."""

    path: Path
    state: str
    reason: str


def kernels(root: Path) -> Iterator[Path]:
    """Yield the kernels of a wheel for the chips that we have."""
    for path in sorted((root / "ttnn" / "cpp").rglob("*.cpp")):
        if "quasar" not in str(path) and re.search(r"\bkernel_main\b", path.read_text(encoding="utf-8")):
            yield path


def settings_of(text: str, word: int, defines: dict[str, str]) -> KernelSettings:
    """Return made-up settings for a source with these defines.

    Bound names are those that it uses.
    """
    compute = bool(COMPUTE.search(text))
    names = {kind: sorted(set(re.findall(rf"\b{kind}::(?!AccessPattern)([A-Za-z]\w*)", text))) for kind in KINDS}
    tensors = {name: SimpleNamespace(cta_offset=0, crta_word=4 * i) for i, name in enumerate(names["tensor"])}
    sequences = dict.fromkeys(re.findall(r"decltype\(tensor::(\w+)\)", text), ("ours",))
    tensors |= {"ours": SimpleNamespace(cta_offset=0, crta_word=0)} if sequences else {}
    tensors = {name: tensor for name, tensor in tensors.items() if name not in sequences}
    bindings = SimpleNamespace(
        runtime_args=(), common_runtime_args=(), common_vararg_word=0, compile_time_vararg_word=0,
        compile_time_args={name: word or i for i, name in enumerate(names["args"])},
        dataflow_buffers={name: SimpleNamespace(id=i % 32) for i, name in enumerate(names["dfb"])},
        semaphores={name: i for i, name in enumerate(names["sem"])}, tensors=tensors, tensor_sequences=sequences,
        scratchpads={name: SimpleNamespace(crta_word=0, size=1024, format=None) for name in names["scratch"]},
    )  # fmt: skip
    named = re.findall(r'get_named_compile_time_arg_val\(\s*"(\w+)"', text)
    return KernelSettings(
        processor=TRISC if compute else BRISC, chip=CHIP, compile_args=(2, *(word or i % 31 + 1 for i in range(511))),
        named_compile_args={name: word or i for i, name in enumerate(named)}, defines=defines,
        buffers={index: CbFormat(5) for index in range(32)}, compute=ComputeSettings() if compute else None,
        names=names_header(bindings) if any(names.values()) or "vararg" in text else "",
    )  # fmt: skip


def attempt(root: Path, path: Path, more: dict[str, str]) -> Outcome:
    """Compile a kernel with argument choices, its operator's defines, and more defines."""
    source = CppSource(path, path.read_text(encoding="utf-8"), (root,))
    reason = ""
    recorded = DEFINES.get(path.relative_to(root).as_posix(), [{}])
    for defines, word in itertools.product(recorded, WORDS):
        error = try_once(source, settings_of(source.text, word, defines | more))
        if error is None:
            return Outcome(path, "ok", "")
        if isinstance(error, UnsupportedError):
            return Outcome(path, "refused", str(error))
        reason = reason or str(error)
        if "use of undeclared identifier" in reason:
            break  # arguments change nothing
    return Outcome(path, "fails", reason)


def try_once(source: CppSource, settings: KernelSettings) -> Exception | None:
    """Compile a kernel; return the error, if there is one."""
    try:
        compile_kernel(source, settings)
    except (KernelCompileError, UnsupportedError) as error:
        return error
    return None


def main() -> None:
    """Compile all, print the counts and the reasons."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", default="", help="part of the paths")
    parser.add_argument("--define", action="append", default=[], help="a define for all: NAME=VALUE")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--every", type=int, default=1, help="take each n-th kernel")
    parser.add_argument("--first", type=int, default=0, help="number of the first kernel")
    parser.add_argument("--show", action="store_true", help="print each kernel that fails")
    options = parser.parse_args()
    root = options.folder.resolve()
    root = root / "ttnn" if (root / "ttnn" / "ttnn").is_dir() else root
    more = dict(define.split("=", 1) for define in options.define)
    found = [path for path in kernels(root) if options.only in str(path)][options.first :: options.every]
    with ThreadPoolExecutor(options.jobs) as pool:
        outcomes = list(pool.map(lambda path: attempt(root, path, more), found))
    states = collections.Counter(outcome.state for outcome in outcomes)
    print(f"{len(found)} kernels: {states['ok']} compile, {states['refused']} are refused, {states['fails']} fail")
    for state in ("refused", "fails"):
        reasons = collections.Counter(group(outcome.reason) for outcome in outcomes if outcome.state == state)
        for reason, count in reasons.most_common(40):
            print(f"{count:5} {state}: {reason}")
    if options.show:
        for outcome in outcomes:
            if outcome.state == "fails":
                print(f"{outcome.path.relative_to(root)}\n    {outcome.reason[:600]}")
    sys.stdout.flush()


def group(reason: str) -> str:
    """Return a reason without its place."""
    first = reason.splitlines()[0] if reason else ""
    return re.sub(r"^\S+?:\d+: (error: )?", "", first)[:150]


if __name__ == "__main__":
    main()
