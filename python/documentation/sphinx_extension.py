"""The site's own extension of Sphinx: docstrings of the house's style, and groups of members.

In a page,

    ```{members} Simulation
    step, advance_to, trajectory
    ```

documents these members of ``sapwood.Simulation``; an asterisk stands for all that the page names nowhere else, so that
no member is left out.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sphinx.ext.napoleon import Config
from sphinx.ext.napoleon.docstring import GoogleDocstring

import sapwood

if TYPE_CHECKING:
    from sphinx.application import Sphinx

GROUP = re.compile(r"^```\{members\} (\w+)\n(.*?)^```\n", re.MULTILINE | re.DOTALL)

OTHERS = "```{others}\n```"
NOT_SHOWN = {"__version__", "view"}

# Links of pages that are read in the repository as well, where a folder is a target.
LINKS = {
    "](benchmarks)": "](benchmarks/batch.md)",
    "](design)": "](appendix/design.md)",
    "```rust,ignore": "```rust",
    "](../../ARCHITECTURE.md)": "](../appendix/architecture.md)",
}
# A page of a toctree that need not be there.
OPTIONAL_PAGE = re.compile(r"^([\w-]+)\?\n", re.MULTILINE)
SOURCE_LINK = re.compile(r"\[([^\]]+)\]\((?:\.\./)+crates/[^)]*\)")


def public_members(owner: type) -> list[str]:
    """The members of a class that have no underscore, in the order of its file."""
    return [name for name in vars(owner) if not name.startswith("_")]


def expand_members(text: str) -> str:
    """A page with its groups of members written out for autodoc."""
    named = {name for group in GROUP.finditer(text) for name in group[2].replace(",", " ").split()}

    def directives(group: re.Match[str]) -> str:
        owner = getattr(sapwood, group[1])
        names = group[2].replace(",", " ").split()
        if "*" in names:
            names.remove("*")
            names += [name for name in public_members(owner) if name not in named]
        lines = []
        for name in names:
            kind = "autoproperty" if isinstance(inspect.getattr_static(owner, name), property) else "automethod"
            lines.append(f".. {kind}:: sapwood.{group[1]}.{name}")
        return "\n".join(["```{eval-rst}", *lines, "```", ""])

    return GROUP.sub(directives, text)


def expand_others(text: str, folder: Path) -> str:
    """A page with all public names of the package that no page of the reference has."""
    if OTHERS not in text:
        return text
    pages = "".join(page.read_text() for page in folder.glob("*.md"))
    names = [name for name in sapwood.__all__ if not re.search(rf"sapwood\.{name}\b", pages) and name not in NOT_SHOWN]
    lines = ["## More", "", "```{eval-rst}"] if names else ["```{eval-rst}"]
    for name in names:
        thing = getattr(sapwood, name)
        kind = "class" if inspect.isclass(thing) else "module" if inspect.ismodule(thing) else "function"
        lines += [f".. auto{kind}:: sapwood.{name}", "   :members:" if kind != "function" else "", ""]
    return text.replace(OTHERS, "\n".join([*lines, "```"]))


def one_title(text: str) -> str:
    """A page whose further titles, one for each machine, are headings: menus would show them beside the page's own."""
    title, *rest = text.split("\n")
    if not any(line.startswith("# ") for line in rest):
        return text
    return "\n".join([title, *(re.sub("^#", "##", line) for line in rest)])


def read_source(app: Sphinx, page: str, source: list[str]) -> None:
    """Pages as Sphinx takes them."""
    text, folder = source[0], Path(app.srcdir)
    if page.startswith("benchmarks"):
        text = one_title(text)
    for link, target in LINKS.items():
        text = text.replace(link, target)
    text = SOURCE_LINK.sub(r"\1", text)
    text = OPTIONAL_PAGE.sub(lambda name: f"{name[1]}\n" if (folder / f"{name[1]}.md").exists() else "", text)
    source[0] = expand_others(expand_members(text), folder / "reference")


def read_docstring(_app: Sphinx, what: str, name: str, thing: object, options: Any, lines: list[str]) -> None:  # noqa: ANN401
    """Google's style. The first lines of properties are sentences, where Napoleon would look for ``type: text``."""
    # Napoleon's own configuration is one of Sphinx by what it does, not by its type.
    config: Any = Config(napoleon_use_rtype=False, napoleon_custom_sections=[("Warns", "Warns")])
    kind: Any = "method" if what in {"attribute", "data", "property"} else what
    lines[:] = GoogleDocstring(lines, config, None, kind, name, thing, options).lines()


def setup(app: Sphinx) -> dict[str, bool]:
    """Connects all of it."""
    app.connect("source-read", read_source)
    app.connect("autodoc-process-docstring", read_docstring)
    return {"parallel_read_safe": True}
