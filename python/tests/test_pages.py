"""The documentation: what it says to type works and prints what it says; its links, menus and notebooks are whole."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from pages import DOCS, check

NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize(
    "page", ["index", "start", "concepts/state", "concepts/contact", "concepts/pd", "concepts/worlds"]
)
def test_what_a_page_says_to_type(page: str) -> None:
    assert check(DOCS / f"{page}.md") > 0


@pytest.mark.parametrize("engine", ["mujoco", "drake", "pybullet"])
def test_coming_from(engine: str) -> None:
    if engine == "mujoco":
        pytest.importorskip("mujoco")
    assert check(DOCS / "coming-from" / f"{engine}.md") >= 2


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_notebooks_are_kept_without_results_and_run(path: Path) -> None:
    nbclient = pytest.importorskip("nbclient")
    nbformat = pytest.importorskip("nbformat")
    notebook = nbformat.read(path, as_version=4)
    assert not any(cell.get("outputs") or cell.get("execution_count") for cell in notebook.cells)
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
    outputs = [output for cell in notebook.cells for output in cell.get("outputs", [])]
    # Replays end cells, and are shown with their player or say why there is none.
    shown = [output["data"] for output in outputs if "Replay" in output.get("data", {}).get("text/plain", "")]
    assert len(shown) == sum(cell.source.split("\n")[-1] == "replay" for cell in notebook.cells)
    assert all("text/html" in data for data in shown)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and MyST make them."""
    text = page.read_text()
    if included := re.match(r"```\{include\} (\S+)", text):
        return anchors(page.parent / included[1])
    titles = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def test_links_lead_somewhere() -> None:
    broken = []
    root = DOCS.parent
    for page in [*DOCS.rglob("*.md"), *root.glob("*.md")]:
        text = re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`\n]*`", "", text)):
            if target.startswith(("http:", "https:", "mailto:")):
                continue
            path, _, anchor = target.partition("#")
            file = (page.parent / path).resolve() if path else page
            if not file.exists() or (anchor and file.suffix == ".md" and anchor not in anchors(file)):
                broken.append(f"{page.relative_to(root)}: {target}")
    assert broken == []


def test_every_page_is_in_a_menu() -> None:
    listed = set()
    for page in DOCS.rglob("*.md"):
        for menu in re.findall(r"^```\{toctree\}\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL):
            for entry in menu.split("\n"):
                name = re.sub(r".*<(.*)>", r"\1", entry).rstrip("?")
                if name and not name.startswith(":"):
                    folder = page.parent
                    listed |= {path.resolve() for suffix in ("md", "ipynb") for path in folder.glob(f"{name}.{suffix}")}
                    assert (
                        entry.endswith("?")
                        or "*" in name
                        or any((folder / f"{name}.{suffix}").exists() for suffix in ("md", "ipynb"))
                    ), f"{page.name}: no page {name}"
    pages = {path.resolve() for path in [*DOCS.rglob("*.md"), *NOTEBOOKS]} - {DOCS / "index.md"}
    assert pages - listed == set(), "add these to a toctree of docs/index.md"


def test_pictures_of_the_pages_are_drawn_by_the_program() -> None:
    pytest.importorskip("matplotlib")
    sys.path.insert(0, str(DOCS.parent / "python"))
    try:
        from documentation.pictures import PICTURES
    finally:
        sys.path.pop(0)
    used = set()
    for page in [DOCS / "start.md", *(DOCS / "concepts").glob("*.md")]:
        used |= set(re.findall(r"!\[[^\]]+\]\((?:\.\./)?images/([^)]+)\)", page.read_text()))
    assert used == set(PICTURES)
    assert all((DOCS / "images" / name).exists() for name in used)
