"""Random official unit tests, unmodified, with the official fixtures.

    python tests/device/official_sample.py CHECKOUT [--count N] [--seed N] [--skip N] [--limit SECONDS] [--system NAME]

CHECKOUT is a clone of tt-metal. The tests run in it, with its own `pytest.ini` and `conftest.py` files, in one process.
One parameter set is drawn per test function. Tests of several chips and of other hardware are left out. `--skip`
continues a sample: the first N functions of the same draw are left out.

With `--system` the tests are those of several chips instead: collectives of a T3000, meshes and their examples, on
that system (TTNN_SYSTEM). Parameter sets are drawn from all, so that a function can have several.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from xml.etree import ElementTree

FOLDERS = tuple(f"tests/ttnn/unit_tests/{name}" for name in ("operations", "base_functionality", "tensor"))
OTHER_FOLDERS = tuple(f"tests/ttnn/unit_tests/operations/{name}" for name in ("ccl", "point_to_point"))
MESH_FILES = (
    *(
        f"tests/nightly/t3000/ccl/test_{name}.py"
        for name in (
            "minimal_all_gather_async",
            "minimal_reduce_scatter_async",
            "all_reduce",
            "mesh_partition",
            "point_to_point",
            "new_all_broadcast",
            "all_to_all_dispatch",
        )
    ),
    *(
        f"tests/ttnn/distributed/test_{name}.py"
        for name in ("multidevice_TG", "tensor_parallel_example_T3000", "data_parallel_example")
    ),
    "tests/ttnn/unit_tests/base_functionality/test_multi_device.py",
)
OTHER_HARDWARE = re.compile(
    r"TG|T3000|t3k|6U|galaxy|multi_device|multidevice|bh_20|blackhole|prefetcher|mesh|llama_reduce|sub_device_fabric",
    re.IGNORECASE,
)


def pytest_command(*arguments: str) -> list[str]:
    """Return the pytest command without a cache in the checkout."""
    return [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *arguments]


def collected(checkout: Path, environment: dict[str, str], places: tuple[str, ...]) -> list[str]:
    """Return all test names of folders and files, as pytest lists them."""
    ignored = [f"--ignore={folder}" for folder in OTHER_FOLDERS]
    command = pytest_command(*places, *ignored, "--collect-only", "-qqq", "--continue-on-collection-errors")
    listing = subprocess.run(command, cwd=checkout, env=environment, capture_output=True, text=True, check=False)
    names = [line for line in listing.stdout.splitlines() if line.startswith("tests/") and "::" in line]
    if not names:
        sys.exit(f"{checkout}: no tests were collected\n{(listing.stdout + listing.stderr)[-4000:]}")
    return names


def drawn(names: list[str], seed: int, skip: int, count: int) -> list[str]:
    """Return one test of each drawn function."""
    sets: dict[str, list[str]] = {}
    for name in names:
        function = name.split("[")[0]
        if " at 0x" not in name and not OTHER_HARDWARE.search(function):
            sets.setdefault(function, []).append(name)
    numbers = random.Random(seed)
    functions = sorted(sets)
    numbers.shuffle(functions)
    print(f"{len(functions)} functions, {sum(map(len, sets.values()))} parameter sets")
    return [numbers.choice(sets[function]) for function in functions[skip : skip + count]]


def drawn_sets(names: list[str], seed: int, skip: int, count: int) -> list[str]:
    """Return drawn tests, whatever their function."""
    print(f"{len(names)} parameter sets")
    sets = sorted(names)
    random.Random(seed).shuffle(sets)
    return sets[skip : skip + count]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path)
    parser.add_argument("--count", type=int, default=250, help="number of test functions")
    parser.add_argument("--seed", type=int, default=22)
    parser.add_argument("--skip", type=int, default=0, help="number of drawn functions to leave out")
    parser.add_argument("--limit", type=int, default=120, help="seconds that a test may take")
    parser.add_argument("--system", help="draw tests of several chips, and run them on this system")
    options = parser.parse_args()
    path = [str(options.checkout.resolve()), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(path)}
    if options.system is not None:
        environment["TTNN_SYSTEM"] = options.system
    names = collected(options.checkout, environment, FOLDERS if options.system is None else MESH_FILES)
    draw = drawn if options.system is None else drawn_sets
    tests = draw(names, options.seed, options.skip, options.count)
    with tempfile.TemporaryDirectory() as folder:
        names, report, log = (Path(folder) / name for name in ("names.txt", "report.xml", "log.txt"))
        names.write_text("\n".join(tests) + "\n", encoding="utf-8")
        limit = (f"--timeout={options.limit}", "--timeout-method=thread")
        command = pytest_command("-n", "1", "--max-worker-restart=1000", *limit, f"--junitxml={report}", f"@{names}")
        with log.open("w", encoding="utf-8") as output:
            subprocess.run(
                command, cwd=options.checkout, env=environment, stdout=output, stderr=output, stdin=subprocess.DEVNULL
            )
        if not report.exists():
            sys.exit(log.read_text(encoding="utf-8", errors="replace")[-4000:])
        counts = {"passed": 0, "failed": 0, "skipped": 0, "expected to fail": 0}
        for case in ElementTree.parse(report).getroot().iter("testcase"):
            failure = case.find("failure") if case.find("failure") is not None else case.find("error")
            skipped = case.find("skipped")
            if failure is not None:
                counts["failed"] += 1
                reason = (failure.get("message") or "").splitlines()[:1]
                print(f"FAILED {case.get('classname')}::{case.get('name')}: {''.join(reason)[:200]}")
            elif skipped is not None:
                counts["expected to fail" if skipped.get("type") == "pytest.xfail" else "skipped"] += 1
            else:
                counts["passed"] += 1
    print(", ".join(f"{number} {name}" for name, number in counts.items()))


if __name__ == "__main__":
    main()
