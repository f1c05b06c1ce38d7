"""The page of `tt-explorer` in a browser without a display.

`TTNN_EXPLORER_REQUIRED=all` turns a missing browser into a failure.
"""

from __future__ import annotations

import json
import os
import shutil
from collections import Counter
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from ttnn.compiler.explorer import models
from ttnn.compiler.explorer.options import Settings
from ttnn.compiler.explorer.runner import LOWERED, Runner

MISSING = [name for name in ("playwright", "model_explorer", "watchdog") if find_spec(name) is None]
MISSING += [] if shutil.which("chromium") else ["Debian's chromium"]
if MISSING:
    if os.environ.get("TTNN_EXPLORER_REQUIRED") == "all":
        raise pytest.UsageError(f"the browser test needs {', '.join(MISSING)}")
    pytest.skip(f"no browser test without {', '.join(MISSING)} (docs/explorer.md)", allow_module_level=True)
ARGUMENTS = ["--no-sandbox", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]
WAIT = 300_000


def colours(picture: bytes) -> Counter[tuple[int, ...]]:
    """Colours of the pixels of a picture."""
    import io

    from PIL import Image

    with Image.open(io.BytesIO(picture)) as image:
        data = image.convert("RGB").tobytes()
    return Counter(zip(data[::3], data[1::3], data[2::3], strict=True))


def test_times_of_operations_are_shown(top: Path, address: str) -> None:
    pytest.importorskip("PIL.Image", reason="compares pictures")
    from playwright.sync_api import Route, sync_playwright

    # Run before, so that the page does not wait for it.
    run = Runner.run(top / "small.mlir", Settings())
    lowered = top / "lowered.mlir"
    lowered.write_text(run.text(LOWERED) or "")
    labels = [op.name for op in models.load(lowered).op.walk()]
    refused: list[str] = []
    problems: list[str] = []

    def only_here(route: Route) -> None:
        if route.request.url.startswith(address):
            route.continue_()
        else:
            refused.append(str(urlsplit(route.request.url).hostname))
            route.abort()

    with sync_playwright() as player:
        browser = player.chromium.launch(executable_path=shutil.which("chromium"), args=ARGUMENTS)
        page = browser.new_page(viewport={"width": 1400, "height": 900})
        page.set_default_timeout(WAIT)
        page.on("console", lambda one: problems.append(one.text) if one.type == "error" else None)
        page.on("pageerror", lambda one: problems.append(str(one)))
        page.route("**/*", only_here)
        data: dict[str, Any] = {"models": [{"url": str(lowered), "adapterId": "tt_adapter"}]}
        page.goto(f"{address}/?data={quote(json.dumps(data))}")
        canvas = page.locator("webgl-renderer canvas").first
        canvas.wait_for()
        field = page.get_by_placeholder("Search nodes/layers by regex")
        field.fill("ttnn.softmax")
        for part in ("Attrs", "Inputs", "Outputs"):
            page.get_by_text(part, exact=True).click()
        page.get_by_text(f"{labels.count('ttnn.softmax')} result", exact=False).wait_for()
        field.fill("")
        page.wait_for_timeout(1000)
        before = colours(canvas.screenshot())
        page.get_by_text("Add per-node data").click()
        page.get_by_text("Predicted time", exact=True).last.click()
        page.get_by_role("button", name="Run").last.click()
        row = page.locator("tr", has_text="Sum").first
        row.wait_for()
        shown = float(row.locator("td").nth(1).inner_text())
        page.wait_for_timeout(1000)
        after = colours(canvas.screenshot())
        browser.close()
    total = run.result["total_nanoseconds"] / 1000
    assert shown == pytest.approx(total, rel=1e-3)
    changed = sum((after - before).values()) / sum(after.values())
    assert changed > 0.001, changed
    # Fonts of another host are the only thing that the page asks others for.
    assert set(refused) <= {"fonts.googleapis.com", "fonts.gstatic.com"}
    assert [one for one in problems if "ERR_FAILED" not in one] == []
