"""The documentation's first kernel works in a separate process."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).resolve().parents[3] / "docs" / "kernels-cpp.md"


def test_documented_first_kernel_runs(tmp_path: Path) -> None:
    text = PAGE.read_text(encoding="utf-8")
    kernel, program = (re.search(rf"```{language}\n(.*?)```", text, re.DOTALL) for language in ("cpp", "python"))
    assert kernel
    assert program
    (tmp_path / "add_one.cpp").write_text(kernel[1], encoding="utf-8")
    command = [sys.executable, "-W", "error", "-c", program[1]]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[0] == "0:(x=0,y=0):BR: now 42"
    assert done.stdout.splitlines()[1].startswith("[42] ")
