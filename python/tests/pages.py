"""The Python of the documentation, run as it stands.

All ``python`` fences of a page are one program. A ``text`` fence right below one is what it prints. ``py`` fences show
other engines and are not run. ``python python/tests/pages.py docs/start.md`` writes what is printed into the page.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import sys
import tempfile
from codeop import compile_command
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np

DOCS = Path(__file__).parents[2] / "docs"
FENCE = re.compile(r"^```python\n(?P<code>.*?)^```\n(?:\n```text\n(?P<output>.*?)^```\n)?", re.MULTILINE | re.DOTALL)


def assert_typed(code: str) -> None:
    """Fails where an interpreter to which the code is typed, line by line, would not take it."""
    typed: list[str] = []
    for line in [*code.split("\n"), ""]:
        typed.append(line)
        if compile_command("\n".join(typed)) is not None:
            typed = []
    assert not "".join(typed), f"this goes on after it ends: {typed}"


class Block(NamedTuple):
    """A fence of a page, and what it printed."""

    line: int
    """Line of the page, from 1."""
    code: str
    expected: str | None
    """What the page says that it prints; None where it says nothing."""
    printed: str


def run(page: Path) -> Iterator[Block]:
    """Runs the page, fence by fence, in the present folder."""
    text = page.read_text()
    namespace: dict[str, object] = {"__name__": "__main__"}
    for match in FENCE.finditer(text):
        line = text.count("\n", 0, match.start()) + 1
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            # Lines of errors are those of the page.
            exec(compile("\n" * line + match["code"], str(page), "exec"), namespace)
        yield Block(line, match["code"], match["output"], out.getvalue())


@contextlib.contextmanager
def empty_folder() -> Iterator[None]:
    """An empty folder as the present one, and numpy's options of printing as they were afterwards."""
    before = os.getcwd()
    with tempfile.TemporaryDirectory() as folder, np.printoptions():
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def check(page: Path) -> int:
    """Runs the page in an empty folder and compares what it prints; the number of fences."""
    count = 0
    with empty_folder():
        for block in run(page):
            count += 1
            assert_typed(block.code)
            if block.expected is not None:
                assert block.printed == block.expected, f"{page.name}:{block.line} prints otherwise: {block.printed}"
    return count


def write_outputs(page: Path) -> None:
    """Puts what the page's fences print into its ``text`` fences."""
    with empty_folder():
        printed = iter([block.printed for block in run(page)])

    def filled(match: re.Match[str]) -> str:
        output = next(printed)
        fence = f"```python\n{match['code']}```\n"
        return fence if match["output"] is None else f"{fence}\n```text\n{output}```\n"

    page.write_text(FENCE.sub(filled, page.read_text()))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        write_outputs(Path(name).resolve())
