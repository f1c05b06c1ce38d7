"""Mutants of a Rust crate, and whether tests detect them.

It changes single operators and results.

    python tests/testkit mutants tt-program [--sample 40] [--seed 1] [--skip-python]
        [--only REGEX] [--tree FOLDER] [--jobs 2]

The changes are those of `cargo mutants` (`cargo install cargo-mutants`), each made in a copy of the tree. The tests of
the crate run first. If they pass, the engine is built with the change, and the tests of programs and of the kernel API
run with it. A change that does not compile says nothing about the tests and is not counted.

The first build of a copy takes minutes: `--tree` keeps it for the next time. `--only` draws the sample as always, and
tries those of it whose names match, such as the ones that were missed.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PYTHON_TESTS = ("tests/metal", "tests/kernel_api", "tests/engine")
TEST_SECONDS, CRATE_SECONDS, PYTHON_SECONDS = 600, 600, 1200
"""Time after which a test run fails as endless."""


@dataclass(frozen=True)
class Mutant:
    """A change: its name, and a patch."""

    name: str
    diff: str


def mutants_of(crate: str) -> list[Mutant]:
    """Return all changes of a crate."""
    command = ["cargo", "mutants", "--list", "--json", "--diff", "-p", crate]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    return [Mutant(entry["name"], entry["diff"]) for entry in json.loads(done.stdout)]


def passes(command: list[str], tree: Path, seconds: int) -> bool:
    """Return whether a command succeeds in time, without leftover processes."""
    environment = {**os.environ, "CARGO_TARGET_DIR": str(tree / "target"), "PYTHONPATH": str(tree / "python/ttnn_rs")}
    quiet = subprocess.DEVNULL
    with subprocess.Popen(
        command, cwd=tree, env=environment, stdout=quiet, stderr=quiet, start_new_session=True
    ) as process:
        try:
            return process.wait(seconds) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)


def copy_of_tree(folder: Path) -> Path:
    """Return a copy of tracked files, updated where changed."""
    tree = folder / "tree"
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout.split(b"\0")
    for name in filter(None, files):
        source, target = ROOT / os.fsdecode(name), tree / os.fsdecode(name)
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_symlink():
            target.unlink(missing_ok=True)
        elif target.is_file() and source.read_bytes() == target.read_bytes():
            continue
        shutil.copy(source, target, follow_symlinks=False)
    return tree


def python_tests_pass(tree: Path, seconds: int, jobs: int) -> bool:
    """Return whether the engine builds and its programs' tests pass."""
    if not passes(["cargo", "build", "--quiet", "--locked", "-p", "tt-python"], tree, seconds):
        return False
    shutil.copy2(tree / "target/debug/lib_engine.so", tree / "python/ttnn_rs/ttnn/_engine.abi3.so")
    # A loop without an end in the engine is ended by a thread only.
    limits = [f"--timeout={TEST_SECONDS}", "--timeout-method=thread"]
    parallel = ["-n", str(jobs)] if jobs > 1 else []
    tests = [sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", *limits, *parallel, *PYTHON_TESTS]
    return passes(tests, tree, PYTHON_SECONDS)


def fate(mutant: Mutant, crate: str, tree: Path, jobs: int | None) -> str:
    """Return a change's fate: `unviable`, detector, or `missed`.

    No `jobs`, no Python tests.
    """
    patch = ["patch", "--strip=0", "--quiet", "--no-backup-if-mismatch"]
    subprocess.run(patch, cwd=tree, input=mutant.diff, text=True, check=True)
    cargo_test = ["cargo", "test", "--quiet", "--locked", "-p", crate]
    try:
        if not passes([*cargo_test, "--no-run"], tree, CRATE_SECONDS):
            return "unviable"
        if not passes(cargo_test, tree, TEST_SECONDS):
            return "Rust tests"
        if jobs is None:
            return "missed"
        return "missed" if python_tests_pass(tree, CRATE_SECONDS, jobs) else "Python tests"
    finally:
        subprocess.run([*patch, "--reverse"], cwd=tree, input=mutant.diff, text=True, check=True)


def main() -> int:
    """Print each sampled change's fate, and the noticed count.

    The count is of those that compile.
    """
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("crate", help="such as tt-program")
    parser.add_argument("--sample", type=int, default=40, help="how many changes, drawn at random")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--skip-python", action="store_true", help="run the crate's own tests only")
    parser.add_argument("--only", default="", help="try those changes of the sample whose names match this expression")
    parser.add_argument("--tree", type=Path, help="folder in which the copy of the tree is kept for the next time")
    parser.add_argument("--jobs", type=int, default=1, help="processes that run the Python tests")
    options = parser.parse_args()
    everything = mutants_of(options.crate)
    sample = random.Random(options.seed).sample(everything, min(options.sample, len(everything)))
    sample = [mutant for mutant in sample if re.search(options.only, mutant.name)]
    jobs = None if options.skip_python else options.jobs
    counts: dict[str, int] = {}
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = copy_of_tree(options.tree.resolve() if options.tree else Path(folder))
        first = 10 * CRATE_SECONDS
        whole = passes(["cargo", "test", "--quiet", "--locked", "-p", options.crate], tree, first)
        if not whole or not (jobs is None or python_tests_pass(tree, first, jobs)):
            print(f"the tests of {options.crate} fail without any change")
            return 2
        for number, mutant in enumerate(sample, 1):
            begin = time.perf_counter()
            found = fate(mutant, options.crate, tree, jobs)
            counts[found] = counts.get(found, 0) + 1
            seconds = time.perf_counter() - begin
            print(f"{number:3} of {len(sample)} {found:12} {seconds:6.0f} s  {mutant.name}", flush=True)
    viable = sum(counts.values()) - counts.get("unviable", 0)
    noticed = viable - counts.get("missed", 0)
    print(f"{options.crate}: {noticed} of {viable} changes noticed ({100 * noticed / max(viable, 1):.1f} %), {counts}")
    return 0 if noticed >= 0.9 * viable else 1


if __name__ == "__main__":
    sys.exit(main())
