"""The documentation: what it says to type works and prints what it says; its links, menus and notebooks are whole."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from pages import DOCS, FENCE, ROOT, check, commands, fences
from pages_exceptions import COMMANDS, FILES, INSTEAD, PAGES_ELSEWHERE

import sapwood as sw

PAGES = [page for page in [*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md"))] if fences(page)]
NOTEBOOKS = sorted((DOCS / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_what_a_page_says_to_type(page: Path) -> None:
    assert check(page) > 0


def test_what_is_typed_otherwise_is_on_a_page() -> None:
    """A reason that outlives its page would hide the next one."""
    text = {str(page.relative_to(ROOT)): page.read_text() for page in PAGES}
    for page, typed in INSTEAD:
        assert typed in text[page], f"{page}: {typed}"
    assert set(PAGES_ELSEWHERE) | set(FILES) <= set(text)
    typed_commands = [
        command for page in PAGES for fence in fences(page) if fence.language == "sh" for command in commands(fence)
    ]
    for pattern, *_ in COMMANDS:
        assert any(re.match(pattern, command) for command in typed_commands), pattern


def test_every_fence_is_closed_and_of_a_known_kind() -> None:
    """``text`` and ``json`` are what the fence above prints; what begins with a brace is Sphinx's."""
    for page in PAGES:
        text = page.read_text()
        opened = re.findall(r"^ *```(.*)$", FENCE.sub("", text), re.MULTILINE)
        left = [language for language in opened if language and not language.startswith("{")]
        assert left == [], f"{page.name}: these are neither typed nor what something prints"


def test_excerpts_are_those_of_the_examples() -> None:
    """Line by line, in order; comments are the page's."""
    page = DOCS / "controllers.md"
    sections = re.split(r"^## ", page.read_text(), flags=re.MULTILINE)
    count = 0
    for section in sections:
        for code in re.findall(r"^```python\n(.*?)^```", section, re.MULTILINE | re.DOTALL):
            (name,) = set(re.findall(r"\(\.\./python/examples/(\w+)\.py\)", section))
            program = iter([bare(line) for line in (ROOT / f"python/examples/{name}.py").read_text().splitlines()])
            lines = [bare(line) for line in code.splitlines() if bare(line)]
            missing = [line for line in lines if line not in program]
            assert not missing, f"{name}.py has other lines than {missing[0]}"
            count += 1
    assert count == sum(fence.language == "python" for fence in fences(page))


def bare(line: str) -> str:
    """A line of a program without its comment and its spaces."""
    return re.sub(r"\s+#.*", "", line).replace(" ", "")


def test_the_rust_of_pages_is_compiled() -> None:
    library = (ROOT / "crates/sapwood/src/lib.rs").read_text()
    for page in PAGES:
        if any(fence.language.startswith("rust") for fence in fences(page)):
            assert f'include_str!("../../../{page.relative_to(ROOT)}")' in library, page


def test_model_files_of_pages_are_read() -> None:
    """Those of soft-bodies.md: a cube, and a text that names it."""
    (cube, text) = [fence.code for fence in fences(DOCS / "soft-bodies.md") if fence.language == "xml"]
    model = sw.load(f"<mujoco><worldbody>{cube}</worldbody>{text}</mujoco>")
    assert not model.warnings
    assert sum(fence.language == "xml" for page in PAGES for fence in fences(page)) == 2


def test_the_line_of_the_player_page() -> None:
    (line,) = [fence.code for fence in fences(DOCS / "replay-format.md") if fence.language == "html"]
    assert line in (ROOT / "web/replay.html").read_text()
    assert sum(fence.language == "html" for page in PAGES for fence in fences(page)) == 1


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
