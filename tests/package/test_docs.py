"""README and docs: tables, paths, links, glossary words."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGES = [README, *sorted((ROOT / "docs").rglob("*.md"))]
PACKAGE = ROOT / "python" / "ttnn_rs" / "ttnn"
LINES = 150
CELL = 100
RETIRED = r"guess\w*|doubt\w*|jam(s|med)?|area hyperbolic|bits of the chip"
"""Words that the docs do not use: docs/glossary.md has their replacements."""


def test_the_readme_is_short() -> None:
    lines = README.read_text(encoding="utf-8").splitlines()
    assert len(lines) < LINES
    cells = [cell.strip() for line in lines if line.startswith("|") for cell in line.strip("|").split("|")]
    assert [cell for cell in cells if len(cell) > CELL] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"`[^`]*`", "", page.read_text(encoding="utf-8"))
    targets = re.findall(r"\]\(([^)#]+)[^)]*\)", text)
    assert [target for target in targets if "://" not in target and not (page.parent / target).exists()] == []


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_retired_words_are_gone(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    assert [found[0] for found in re.finditer(rf"\b({RETIRED})\b", text, re.IGNORECASE)] == []


INCLUDE = PACKAGE / "metal" / "cpp" / "include"
ROOTS = (ROOT, PACKAGE, INCLUDE, INCLUDE / "tt_metal" / "fabric" / "hw" / "inc")


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_paths_exist(page: Path) -> None:
    """Paths are relative to the repository, the package or C++ headers."""
    paths = re.findall(r"`([\w.-]+(?:/[\w.-]+)+/?|\w+/)`", page.read_text(encoding="utf-8"))
    assert [path for path in paths if not any((root / path).exists() for root in ROOTS)] == []


def test_every_crate_and_package_is_on_the_map() -> None:
    text = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    crates = [f"`rust/{path.parent.name}`" for path in ROOT.glob("rust/*/Cargo.toml")]
    packages = [f"`{path.parent.name}/`" for path in PACKAGE.glob("*/__init__.py")]
    assert [name for name in crates + packages if name not in text] == []


def test_scripts_of_docs_are_chores() -> None:
    chores = (ROOT / "rust" / "xtask" / "src" / "main.rs").read_text(encoding="utf-8")
    scripts = [script.name for script in (ROOT / "docs").glob("*.py")]
    assert scripts
    assert [name for name in scripts if f'"python docs/{name}' not in chores] == []


CODE = [*ROOT.glob("python/**/*.py"), *ROOT.glob("rust/*/src/**/*.rs"), *ROOT.glob("rust/*/tests/**/*.rs")]
PUBLIC = ("tt-isa-documentation", "tt-mlir", "tt-metal", "tt-llk")
"""Repositories whose pages may be cited."""


def test_pages_that_comments_cite_can_be_opened() -> None:
    assert CODE
    missing = []
    for path in CODE:
        text = path.read_text(encoding="utf-8")
        for found in re.finditer(r"[\w./-]+\.md\b", text):
            around = text[max(0, found.start() - 300) : found.end() + 300]
            if not (ROOT / found[0]).exists() and not any(name in around for name in PUBLIC):
                missing.append(f"{path.relative_to(ROOT)}: {found[0]}")
    assert missing == []


def test_sections_that_comments_cite_exist() -> None:
    headings = {
        page.name: re.findall(r"^#+ (\d+(?:\.\d+)?)\.? ", page.read_text(encoding="utf-8"), re.MULTILINE)
        for page in (ROOT / "docs" / "chip").glob("*.md")
    }
    cited, missing = 0, []
    for path in CODE:
        for page, first, rest in re.findall(
            r"docs/chip/([\w-]+\.md)`?,? sections? (\d+(?:\.\d+)?)((?:(?: to |, | and )\d+(?:\.\d+)?)*)",
            path.read_text(encoding="utf-8"),
        ):
            cited += 1
            numbers = [first, *re.findall(r"\d+(?:\.\d+)?", rest)]
            missing += [f"{path.name}: {page} section {number}" for number in numbers if number not in headings[page]]
    assert cited > 30
    assert missing == []
