"""Writes the tables of names into the pages for those who come from other engines.

``python python/documentation/first_words.py``
"""

from __future__ import annotations

import re
from pathlib import Path

from sapwood._first_words import ENGINES, identifier

PAGES = Path(__file__).parents[2] / "docs/coming-from"
CODE = re.compile(r"\b(?:sim|sw|model|gymnasium)\.[\w.]+(?:\([^)]*\))?(?:\[[^\]]*\])?(?:\.\w+)*|\blen\([^)]*\)")
TABLE = re.compile(r"(?<=\n## Names\n\n)(?:\|.*\n)+")


def table(engine: str, names: dict[str, str]) -> str:
    """The table of a page."""

    def typed(words: str) -> str:
        return f"`{words}`" if identifier(words) else words

    def ours(words: str) -> str:
        return f"`{words}`" if words.endswith("=") else CODE.sub(r"`\g<0>`", words)

    lines = [f"| {engine} | Sapwood |", "| --- | --- |"]
    lines += (f"| {typed(theirs)} | {ours(words)} |" for theirs, words in names.items())
    return "\n".join(lines) + "\n"


def page(text: str, name: str) -> str:
    """The text of a page with the table as it is here."""
    return TABLE.sub(lambda _: table(*ENGINES[name.removesuffix("-names")]), text)


if __name__ == "__main__":
    for path in PAGES.glob("*.md"):
        path.write_text(page(path.read_text(), path.stem))
