"""The documentation, run as it is typed.

All fences of a page are typed in order, in one empty folder: ``python`` fences are one program, every command of a
``sh`` fence is one of bash. A ``text`` or ``json`` fence right below one is what it prints. What is typed otherwise, or
not at all, stands with its reason in :mod:`pages_exceptions`. ``python python/tests/pages.py docs/start.md`` writes
what the Python prints into the page.
"""

from __future__ import annotations

import contextlib
import importlib.util
import io
import os
import re
import subprocess
import sys
import tempfile
import warnings
from codeop import compile_command
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from pages_exceptions import COMMANDS, FILES, INSTEAD, OPTIONAL, PAGES_ELSEWHERE, prepare

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
FENCE = re.compile(
    r"^```(?P<language>[\w,]+)\n(?P<code>.*?)^```\n(?:\n```(?:text|json)\n(?P<output>.*?)^```\n)?",
    re.MULTILINE | re.DOTALL,
)
LANGUAGES = {
    "python": "typed",
    "sh": "typed",
    "py": "another engine's, or one that needs a file of its own: compiled only",
    "rust": "a doctest of the crate `sapwood`",
    "xml": "read as part of a model",
    "html": "the line of the player page",
}


class Fence(NamedTuple):
    """A fence of a page."""

    language: str
    line: int
    """Line of the page, from 1."""
    code: str
    expected: str | None
    """What the page says that it prints; None where it says nothing."""


def fences(page: Path) -> list[Fence]:
    """The fences of a page, without those that are Sphinx's."""
    text = page.read_text()
    found = FENCE.finditer(text)
    return [Fence(m["language"], text.count("\n", 0, m.start()) + 1, m["code"], m["output"]) for m in found]


def assert_typed(code: str) -> None:
    """Fails where an interpreter to which the code is typed, line by line, would not take it."""
    typed: list[str] = []
    for line in [*code.split("\n"), ""]:
        typed.append(line)
        if compile_command("\n".join(typed)) is not None:
            typed = []
    assert not "".join(typed), f"this goes on after it ends: {typed}"


class Session:
    """One that types a page: an interpreter and a shell in the present folder."""

    def __init__(self, page: Path) -> None:
        self.page = page
        self.name = str(page.relative_to(ROOT))
        self.namespace: dict[str, object] = {"__name__": "__main__"}
        self.left: list[str] = []
        """What was not typed since something is not installed."""

    def instead(self, code: str) -> str:
        """The code with what :data:`INSTEAD` has for this page."""
        for (page, typed), (replacement, _) in INSTEAD.items():
            if page == self.name:
                code = code.replace(typed, replacement)
        return code

    def type(self, fence: Fence) -> str:
        """Types a fence; what it prints."""
        try:
            return self.python(fence) if fence.language == "python" else self.shell(fence)
        except ModuleNotFoundError as error:
            name = (error.name or "").partition(".")[0]
            if name not in OPTIONAL or importlib.util.find_spec(name) is not None:
                raise
            why = f"{name} is not installed"
        except FileNotFoundError as error:
            if not self.left:
                raise
            why = f"{error.filename} would come from what is not run"
        self.left.append(f"{self.name}:{fence.line} is not run: {why}")
        return fence.expected or ""

    def python(self, fence: Fence) -> str:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            # Lines of errors are those of the page.
            code = "\n" * fence.line + self.instead(fence.code)
            exec(compile(code, str(self.page), "exec"), self.namespace)
        return out.getvalue()

    def shell(self, fence: Fence) -> str:
        printed = ""
        for command in commands(fence):
            special = next((run for pattern, run, _ in COMMANDS if re.match(pattern, command)), None)
            if special is not None:
                special(command)
                continue
            done = subprocess.run(
                ["bash", "-c", self.instead(command)], capture_output=True, text=True, check=False, timeout=120
            )
            # A command that shows an error is one that ends with it.
            wanted = 0 if fence.expected is None else None
            assert wanted in (None, done.returncode), f"{self.name}: `{command}`: {done.stderr or done.stdout}"
            printed += done.stdout
        return printed


def commands(fence: Fence) -> list[str]:
    """The commands of a fence of the shell, without comments."""
    lines = re.sub(r"\\\n\s*", "", fence.code).splitlines()
    return [line for line in (re.sub(r"(^|\s+)#.*", "", line).strip() for line in lines) if line]


@contextlib.contextmanager
def empty_folder() -> Iterator[Path]:
    """An empty folder as the present one; numpy's options of printing are as they were afterwards."""
    before, environment = os.getcwd(), dict(os.environ)
    with tempfile.TemporaryDirectory() as folder, np.printoptions():
        os.chdir(folder)
        try:
            yield Path(folder)
        finally:
            os.chdir(before)
            os.environ.clear()
            os.environ.update(environment)


def check(page: Path) -> int:
    """Types the page in an empty folder and compares what it prints; the number of fences."""
    count = 0
    session = Session(page)
    with empty_folder() as folder:
        prepare(folder, FILES.get(session.name, {}))
        for fence in fences(page):
            place = f"{session.name}:{fence.line}"
            count += 1
            if fence.language == "py":
                compile(fence.code, place, "exec")
            if fence.language not in ("python", "sh"):
                assert fence.language in LANGUAGES, (
                    f"{place}: ```{fence.language} is neither run nor listed in pages.py"
                )
                continue
            if fence.language == "python":
                if session.name in PAGES_ELSEWHERE:
                    continue
                assert_typed(fence.code)
            printed = session.type(fence)
            if fence.expected is not None:
                assert printed == fence.expected, f"{place} prints otherwise: {printed}"
    for reason in session.left:
        warnings.warn(reason, stacklevel=2)
    return count


def write_outputs(page: Path) -> None:
    """Puts what the page's Python prints into the ``text`` fences below it."""
    session = Session(page)
    with empty_folder() as folder:
        prepare(folder, FILES.get(session.name, {}))
        printed = iter([session.type(f) if f.language == "python" else f.expected for f in fences(page)])

    def filled(match: re.Match[str]) -> str:
        output, expected = next(printed), match["output"]
        return match[0] if expected is None or output is None else match[0].replace(expected, output)

    page.write_text(FENCE.sub(filled, page.read_text()))


if __name__ == "__main__":
    for name in sys.argv[1:]:
        write_outputs(Path(name).resolve())
