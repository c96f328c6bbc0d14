"""What elements of a builder have in common."""

# Values of whatever type are judged by the compiled half.
# ruff: noqa: ANN401

from __future__ import annotations

from typing import TYPE_CHECKING, Any, overload

from sapwood.builder._checks import with_context

if TYPE_CHECKING:
    from typing_extensions import Self

    from sapwood.builder._model import ModelBuilder


class _Handle:
    """An element of a builder."""

    _kind = ""

    def __init__(self, builder: ModelBuilder, index: int) -> None:
        if index < 0:
            raise IndexError(f"{self._kind} is {index}: expected an index of 0 or more")
        self._builder = builder
        self._index = index

    @property
    def index(self) -> int:
        """Index among the elements of its kind, in the order of addition."""
        return self._index

    @property
    def name(self) -> str:
        """Name; empty where it has none."""
        return self._builder._assembly.names(self._kind)[self._index]

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r} of {self._builder.name!r}>"

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other._builder is self._builder and other._index == self._index

    def __hash__(self) -> int:
        return hash((id(self._builder), self._kind, self._index))


class _Element(_Handle):
    """An element with properties that the compiled half keeps."""

    def _get(self, field: str) -> Any:
        return getattr(self._builder._assembly, f"get_{self._kind.replace(' ', '_')}")(self._index, field)

    def _set(self, field: str, value: object) -> None:
        setter = getattr(self._builder._assembly, f"set_{self._kind.replace(' ', '_')}")
        with_context(f"{self._kind} {self.name!r}", setter, self._index, field, value)


class Number:
    """A property that is a number and can be assigned."""

    def __init__(self, meaning: str) -> None:
        self.__doc__ = meaning

    def __set_name__(self, owner: type, name: str) -> None:
        self._field = name

    @overload
    def __get__(self, element: None, owner: type) -> Self: ...
    @overload
    def __get__(self, element: _Element, owner: type) -> float: ...
    def __get__(self, element: _Element | None, owner: type) -> Self | float:
        return self if element is None else float(element._get(self._field))

    def __set__(self, element: _Element, value: float) -> None:
        element._set(self._field, value)


class Whole:
    """A property that is a whole number and can be assigned."""

    def __init__(self, meaning: str) -> None:
        self.__doc__ = meaning

    def __set_name__(self, owner: type, name: str) -> None:
        self._field = name

    @overload
    def __get__(self, element: None, owner: type) -> Self: ...
    @overload
    def __get__(self, element: _Element, owner: type) -> int: ...
    def __get__(self, element: _Element | None, owner: type) -> Self | int:
        return self if element is None else int(element._get(self._field))

    def __set__(self, element: _Element, value: int) -> None:
        element._set(self._field, value)
