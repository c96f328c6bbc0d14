"""How a builder finds its elements, by handle or name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sapwood._errors import UnknownNameError, did_you_mean, listed
from sapwood.builder._checks import shown
from sapwood.builder._element import Strict, _Handle

if TYPE_CHECKING:
    from sapwood._sapwood import Assembly


class Lookup(Strict):
    """The elements of a builder."""

    _assembly: Assembly
    _removals: list[dict[str, list[int | None]]]
    """Where elements went when others were removed, for the handles that know them from before."""

    def _own(self, handle: _Handle, argument: str) -> None:
        if handle._builder is not self:
            raise ValueError(f"{argument} is of another builder: expected an element of {self._assembly.get('name')!r}")

    def _index(self, kind: str, of: object, argument: str) -> int:
        if isinstance(of, str):
            return self._find(kind, of, argument)
        if isinstance(of, _Handle) and of._kind == kind:
            self._own(of, argument)
            return of.index
        raise TypeError(f"{argument} is of type {type(of).__name__}: expected a {kind} of this builder, or its name")

    def _find(self, kind: str, name: str, argument: str = "name") -> int:
        if not isinstance(name, str):
            raise TypeError(f"{argument} of {_a(kind)} is of type {type(name).__name__}: expected str")
        names = self._assembly.names(kind)
        if name and name in names:
            return names.index(name)
        known = [n for n in names if n]
        near = did_you_mean(name, known)
        hint = f": {near}" if near else f"; the builder has {listed(known) or 'none with a name'}"
        raise UnknownNameError(f"{argument}: there is no {kind} {shown(name)}{hint}")

    def _check_name(self, kind: str, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"name of {_a(kind)} is of type {type(name).__name__}: expected str")
        if name and name in self._assembly.names(kind):
            raise ValueError(f"{kind} {shown(name)}: there is {_a(kind)} of this name already: expected another name")


def _a(kind: str) -> str:
    return f"an {kind}" if kind in {"actuator", "equality"} else f"a {kind}"
