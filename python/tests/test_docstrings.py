"""`help` shows what editors show: docstrings of the compiled module are those of its stub."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from pathlib import Path

import sapwood as sw
from sapwood import _sapwood

STUB = Path(sw.__file__).parent / "_sapwood.pyi"


def documented(tree: ast.Module | ast.ClassDef, prefix: str = "") -> Iterator[tuple[str, str]]:
    """Names and docstrings of all functions, classes and their members."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
            if doc := ast.get_docstring(node):
                yield prefix + node.name, doc
            if isinstance(node, ast.ClassDef):
                yield from documented(node, f"{node.name}.")


def test_docstrings_are_those_of_the_stub() -> None:
    pairs = list(documented(ast.parse(STUB.read_text())))
    assert len(pairs) > 90
    differ = []
    for name, doc in pairs:
        owner, _, member = name.rpartition(".")
        # Of `len(x)` and the like CPython has docstrings of its own.
        if member in {"__len__", "__iter__", "__getitem__", "__setitem__", "__repr__", "__contains__"}:
            continue
        found = inspect.getattr_static(getattr(_sapwood, owner) if owner else _sapwood, member)
        if isinstance(found, staticmethod):
            found = found.__func__
        if inspect.cleandoc(found.__doc__ or "") != doc:
            differ.append(name)
    # A class or function of Rust takes them over where `#[stubdoc::documented]` stands above it.
    assert differ == []


def test_help_shows_arguments_and_errors() -> None:
    text = inspect.getdoc(sw.Simulation.step)
    assert text is not None
    assert "SimulationError: When a step fails" in text
    assert str(inspect.signature(sw.Simulation.step)) == "(self, /, n=1)"
    assert "timestep=None" in str(inspect.signature(sw.Simulation))
    assert "(nbody,), kg, a read-only copy" in (sw.Model.body_masses.__doc__ or "")
    assert "package_path=None" in str(inspect.signature(sw.load))
    assert "Args:\n" in (sw.Simulation.__doc__ or "")
