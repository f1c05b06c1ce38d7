"""Public lit tests of tt-mlir, with this package's tools.

They are in a checkout outside of this repository.

    python tests/testkit run_lit_files CHECKOUT --version 2024-09
    python tests/testkit run_lit_files CHECKOUT --version 2026-08 --sample 150 --seed 0
    python tests/testkit run_lit_files CHECKOUT --version 2026-08 --stablehlo --files LIST

Files are run unmodified by `lit` with `filecheck`, both of the package index. Those that need a front end, other
chips or the cost model that comes from a device are left out and counted. Prints one line a failure and the figures;
the exit code is 1 if less than `--enough` percent pass. `--control` replaces `ttmlir-opt` by a tool that copies its
input without comments: a harness that still passes its files would prove nothing, so the figures of that run must fall.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import os
import random
import re
import stat
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

GROUPS = {
    "2024-09": ("Dialect/TTNN", "Dialect/TTIR", "Silicon/TTNN", "Silicon/TTMetal", "Translate", "tools"),
    "stablehlo": ("Conversion/StableHLOToTTIR", "Silicon/StableHLO/n150"),
    "later": ("Dialect/TTNN", "Dialect/TTIR", "Silicon/TTNN", "Silicon/TTMetal", "Translate", "EmitPy", "tools"),
}
OTHER_CHIPS = ("llmbox", "n300", "/tg/", "galaxy", "multi-chip")
FRONT_ENDS = re.compile(r"\b(stablehlo|tosa|linalg|vhlo|sdy|chlo|mhlo)\.[a-z]|convert-(stablehlo|tosa|linalg)|hoist")
COST_MODEL = re.compile(
    r"enable-optimizer=(true|1)|enable-optimizer |optimization-level=[12]|optimizer-passes|ttnn-optimizer|"
    r"memory-layout-analysis|REQUIRES:.*opmodel|enable-op-constraints|ttnn-fusing|greedy-memory"
)

CONFIG = """
import os
from outer_shell import Test
config.name = "public"
config.test_format = Test(execute_external=False)
config.suffixes = [".mlir", ".py"]
config.test_source_root = {root!r}
config.test_exec_root = {work!r}
config.excludes = ["lit.cfg.py", "lit.local.cfg", "Inputs"]
config.environment["PATH"] = {tools!r} + os.pathsep + os.environ["PATH"]
config.environment["PYTHONPATH"] = os.environ.get("PYTHONPATH", "")
config.environment["TTMLIR_DEFAULT_VERSION"] = {version!r}
config.available_features.add("stablehlo")
config.substitutions.append(("%system_desc_path%", os.environ.get("SYSTEM_DESC_PATH", "")))
config.substitutions.append(("%models", {models!r}))
config.substitutions.append(("%python", {python!r}))
config.substitutions.append(("%mlir_src", {root!r}))
"""

OUTER_SHELL = """import lit.formats

class Test(lit.formats.ShTest):
    # The shell of lit runs a test, unless a command stands in another one: only an outer shell runs that.
    def execute(self, test, litConfig):
        with open(test.getSourcePath(), encoding="utf-8") as file:
            self.execute_external = any("RUN:" in line and "$(" in line for line in file)
        return super().execute(test, litConfig)
"""

ENTRY_POINTS = {
    "ttmlir-opt": (("ttmlir._launch", "opt"), True),
    "ttmlir-translate": (("ttmlir._translate", "main"), True),
    "ttrt": (("ttrt", "main"), False),
}
"""Tools of the imported package, and whether they take a version."""

COPY = """import re
import sys
from pathlib import Path
names = [word for word in sys.argv[1:] if not word.startswith("-")]
text = Path(names[-1]).read_text() if names else sys.stdin.read()
text = re.sub("//.*", "", text)  # else the patterns in the comments would find themselves
if "-o" in sys.argv:
    Path(sys.argv[sys.argv.index("-o") + 1]).write_text(text)
else:
    sys.stdout.write(text)
"""


def reason_to_leave_out(path: Path, root: Path, *, stablehlo: bool = False) -> str | None:
    """Return why a file is not run, or None.

    Files of StableHLO are run if they are asked for.
    """
    name = "/" + str(path.relative_to(root))
    text = path.read_text(encoding="utf-8", errors="replace")
    runs = "\n".join(line for line in text.splitlines() if "RUN:" in line or "REQUIRES:" in line)
    if "RUN:" not in text:
        return "no RUN line"
    if re.search(r"UNSUPPORTED:\s*true", text) or re.search(r"XFAIL:\s*\*", text):
        return "switched off in the checkout"
    if stablehlo:
        return None
    if any(word in name for word in OTHER_CHIPS) or re.search(r"REQUIRES:.*(multi-chip|n300|llmbox|tg\b)", runs):
        return "other chips"
    if re.search(r"mesh-shape=(?!1,1\b|1\b)\S*[2-9]|mock-system-desc-arch=blackhole|mesh-shape=\S*,[2-9]", runs):
        return "other chips"
    # Attributes of front ends on functions do not need one; their operations and passes do.
    body = re.sub(r"\{[^{}]*mhlo[^{}]*\}|mhlo\.\w+ = ", "", text)
    if FRONT_ENDS.search(body) or "stablehlo" in runs:
        return "front end"
    if COST_MODEL.search(runs) or "/optimizer/" in name:
        return "cost model of a device"
    return None


def main() -> int:
    """Run the tests; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checkout", type=Path, help="folder of a checkout of tt-mlir")
    parser.add_argument("--version", choices=("2024-09", "2025-10", "2026-08"), default="2024-09")
    parser.add_argument("--sample", type=int, default=0, help="run only so many files, drawn with --seed")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", default="", help="run only files whose name contains this")
    parser.add_argument("--stablehlo", action="store_true", help="run the files of StableHLO instead")
    parser.add_argument("--files", type=Path, help="run only the files that this list names, without suffix")
    parser.add_argument("--enough", type=float, default=0.0, help="percent that must pass")
    parser.add_argument("--control", action="store_true", help="replace ttmlir-opt by a tool that does nothing")
    parser.add_argument("--passed", type=Path, help="write the names of the files that pass to this file")
    parser.add_argument("--verbose", action="store_true", help="print the output of failures")
    parser.add_argument("--workers", type=int, default=2)
    arguments = parser.parse_args()

    root = (arguments.checkout / "test" / "ttmlir").resolve()
    group = "stablehlo" if arguments.stablehlo else "later"
    groups = GROUPS["2024-09" if arguments.version == "2024-09" else group]
    files, left_out = [], Counter[str]()
    folders = [folder for folder in groups if (root / folder).is_dir()]
    candidates = [path for folder in folders for path in (root / folder).rglob("*.mlir")]
    if not arguments.stablehlo:
        if (root / "ttmlir-opt.mlir").exists():
            candidates.append(root / "ttmlir-opt.mlir")
        python_tests = arguments.checkout / "test" / "python"
        candidates += [path for path in python_tests.glob("*.py") if "RUN:" in path.read_text(encoding="utf-8")]
    if arguments.files:
        listed = {line.strip() for line in arguments.files.read_text(encoding="utf-8").splitlines()}
        candidates = [path for path in candidates if str(path.relative_to(root).with_suffix("")) in listed]
    for path in sorted(candidates):
        path = path.resolve()
        reason = reason_to_leave_out(path, arguments.checkout.resolve(), stablehlo=arguments.stablehlo)
        if reason is None:
            files.append(path)
        else:
            left_out[reason] += 1
    considered = len(files)
    if arguments.sample and arguments.sample < len(files):
        files = sorted(random.Random(arguments.seed).sample(files, arguments.sample))
    files = [path for path in files if arguments.only in str(path)]

    with tempfile.TemporaryDirectory() as work_name:
        work = Path(work_name)
        tools = work / "bin"
        tools.mkdir()
        make_tool(tools / "FileCheck", f'exec "{sys.executable}" -m filecheck "$@"')
        missing = [module for module in ("lit", "filecheck") if importlib.util.find_spec(module) is None]
        if missing:
            parser.error(f"not installed: {', '.join(missing)}; they are packages of the index")
        # Files of a version that do not show it, for example those without outputs, are read as of that version.
        version = f"--default-version={arguments.version} "
        for tool, (function, options) in ENTRY_POINTS.items():
            start = (
                f"import sys; sys.argv[0] = '{tool}'; from {function[0]} import {function[1]} as run; sys.exit(run())"
            )
            make_tool(tools / tool, f'exec "{sys.executable}" -c "{start}" {version if options else ""}"$@"')
        if arguments.control:
            (work / "copy.py").write_text(COPY, encoding="utf-8")
            make_tool(tools / "ttmlir-opt", f'exec "{sys.executable}" "{work}/copy.py" "$@"')
        results = run_lit(arguments, work, tools, files)
    report(results, considered, left_out, arguments.checkout.resolve(), verbose=arguments.verbose)
    passed = sorted(one["name"].partition(":: ")[2] for one in results if one["code"] in ("PASS", "XFAIL"))
    if arguments.passed:
        arguments.passed.write_text("".join(f"{name}\n" for name in passed), encoding="utf-8")
    share = 100 * len(passed) / max(len(results), 1)
    print(f"{len(passed)} of {len(results)} files pass: {share:.1f} %")
    return 0 if share >= arguments.enough else 1


def make_tool(path: Path, command: str) -> None:
    """Write a shell script."""
    path.write_text(f"#!/bin/sh\n{command}\n", encoding="utf-8")
    path.chmod(path.stat().st_mode | stat.S_IEXEC)


def run_lit(arguments: argparse.Namespace, work: Path, tools: Path, files: list[Path]) -> list[dict[str, str]]:
    """Return the results of lit: name, code and output of each file."""
    # lit finds its configuration beside the files; theirs is of a build tree, so the files are linked elsewhere.
    suite = work / "suite"
    root = arguments.checkout.resolve() / "test"
    names = []
    for path in files:
        link = suite / path.relative_to(root)
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.exists():
            link.symlink_to(path)
        for extra in path.parent.glob("*"):
            beside = link.parent / extra.name
            if not beside.exists() and extra.suffix in (".py", ".ttsys", ".json") and not extra.name.startswith("lit."):
                beside.symlink_to(extra)
        names.append(str(link))
    models = root / "ttmlir" / "models"
    (suite / "lit.cfg.py").write_text(
        CONFIG.format(
            root=str(suite),
            work=str(work / "out"),
            tools=str(tools),
            python=sys.executable,
            models=str(models),
            version=arguments.version,
        ),
        encoding="utf-8",
    )
    (work / "outer_shell.py").write_text(OUTER_SHELL, encoding="utf-8")
    paths = os.pathsep.join([str(work), *filter(None, [os.environ.get("PYTHONPATH")])])
    output = work / "results.json"
    command = [sys.executable, "-c", "from lit.main import main; main()", "-j", str(arguments.workers), "-v"]
    # lit can only stop a test that hangs if psutil is there.
    command += ["--timeout=600"] if importlib.util.find_spec("psutil") else []
    command += [f"--output={output}", *names]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": paths}, check=False)
    if not output.exists():
        sys.exit(f"lit did not run: {done.stdout[-2000:]}{done.stderr[-2000:]}")
    return list(json.loads(output.read_text())["tests"])


def report(
    results: list[dict[str, str]], considered: int, left_out: Counter[str], checkout: Path, *, verbose: bool
) -> None:
    """Print failures and counts."""
    for one in sorted(results, key=lambda test: test["name"]):
        if one["code"] not in ("PASS", "XFAIL"):
            print(f"{one['code']} {one['name'].partition(':: ')[2]}: {cause(one['output'])}")
            if verbose:
                print(one["output"])
    print(f"{checkout.name}: {considered} files can be run; left out: {dict(left_out)}")


def cause(output: str) -> str:
    """Return the line of an output that says most."""
    lines = output.splitlines()
    for pattern in (r"Traceback", r"\berror:", r"not found", r"ttmlir-opt:", r"CHECK"):
        for line in lines:
            if (
                re.search(pattern, line)
                and not line.startswith(("# executed", "# RUN", "+ ", "# .---"))
                and "RUN: at" not in line
            ):
                return line.strip("# |")[:200]
    return lines[-1][:200] if lines else "no output"


if __name__ == "__main__":
    sys.exit(main())
