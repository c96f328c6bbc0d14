"""What elements of a builder have in common."""

# Values of whatever type are judged by the compiled half.
# ruff: noqa: ANN401

from __future__ import annotations

import functools
import inspect
from typing import TYPE_CHECKING, Any, cast, overload

from sapwood._errors import did_you_mean, listed
from sapwood._first_words import attribute_error
from sapwood.builder._checks import unexpected, with_context

if TYPE_CHECKING:
    from collections.abc import Callable

    from numpy.typing import ArrayLike
    from typing_extensions import Self

    from sapwood.builder._model import ModelBuilder


class Strict:
    """What has no attribute but its own: a misspelt one is an error, as is a misspelt argument of a method."""

    if not TYPE_CHECKING:  # for checkers of types a name that does not exist is an error

        def __init_subclass__(cls) -> None:
            super().__init_subclass__()
            for name, method in vars(cls).copy().items():
                if inspect.isfunction(method) and not name.startswith("_"):
                    setattr(cls, name, _with_advice(method))

        def __getattr__(self, name: str) -> object:
            if name.startswith("_"):
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            raise attribute_error(type(self).__name__, name, dir(type(self)))

        def __setattr__(self, name: str, value: object) -> None:
            own = type(self)
            # A class that somebody derives may have attributes of its own.
            if not (name.startswith("_") or hasattr(own, name)) and own.__module__.startswith("sapwood.builder"):
                can_be_set = [known for known in dir(own) if _is_settable(getattr(own, known))]
                hint = did_you_mean(name, can_be_set) or f"expected one of {listed(can_be_set)}"
                raise AttributeError(f"{own.__name__} has no {name!r} that can be set: {hint}")
            super().__setattr__(name, value)


def _with_advice(method: Callable[..., Any]) -> Callable[..., Any]:
    """A method whose errors about the arguments of a call say what it takes."""

    @functools.wraps(method)
    def call(*positional: Any, **named: Any) -> Any:
        try:
            return method(*positional, **named)
        except TypeError as error:
            if error.__traceback__ is None or error.__traceback__.tb_next is not None:
                raise  # from within the method
            kinds = {name: parameter.kind for name, parameter in inspect.signature(method).parameters.items()}
            known = [name for name, kind in kinds.items() if name != "self" and kind is not kind.VAR_KEYWORD]
            for name in named:
                if name not in known:
                    raise TypeError(f"{method.__qualname__}(): {unexpected(name, known)}") from None
            raise TypeError(f"{error}: expected {', '.join(known)}") from None

    return call


def _is_settable(attribute: object) -> bool:
    return isinstance(attribute, (Number, Polynomial, Whole)) or getattr(attribute, "fset", None) is not None


class _Handle(Strict):
    """An element of a builder."""

    _kind = ""

    def __init__(self, builder: ModelBuilder, index: int) -> None:
        if index < 0:
            raise IndexError(f"{self._kind} is {index}: expected an index of 0 or more")
        self._builder = builder
        self._at = index
        self._removals = len(builder._removals)

    @property
    def _index(self) -> int:
        """Where it is now: elements that were removed meanwhile have moved those after them."""
        removals = self._builder._removals
        while self._removals < len(removals):
            moved = removals[self._removals][self._kind][self._at]
            if moved is None:
                raise ValueError(f"this {self._kind} has been removed from the builder")
            self._at, self._removals = moved, self._removals + 1
        return self._at

    @property
    def index(self) -> int:
        """Index among the elements of its kind, in the order of addition."""
        return self._index

    @property
    def name(self) -> str:
        """Name; empty where it has none."""
        return self._builder._assembly.names(self._kind)[self._index]

    @name.setter
    def name(self, value: str) -> None:
        if value != self.name:
            self._builder._check_name(self._kind, value)
            self._builder._assembly.rename(self._kind, self._index, value)

    def remove(self) -> None:
        """Remove it, and all that refers to it: with a body what hangs from it, with a joint its actuators."""
        self._builder._removals.append(self._builder._assembly.remove(self._kind, self._index))

    @property
    def _is_removed(self) -> bool:
        try:
            return self._index < 0
        except ValueError:
            return True

    def __repr__(self) -> str:
        what = "(removed)" if self._is_removed else repr(self.name)
        return f"<{type(self).__name__} {what} of {self._builder.name!r}>"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self) or other._builder is not self._builder:
            return False
        return other is self or (not (self._is_removed or other._is_removed) and other._index == self._index)

    def __hash__(self) -> int:
        # Not by the index, which changes when others are removed.
        return hash((id(self._builder), self._kind))


class _Element(_Handle):
    """An element with properties that the compiled half keeps."""

    def _get(self, field: str) -> Any:
        return getattr(self._builder._assembly, f"get_{self._kind.replace(' ', '_')}")(self._index, field)

    def _set(self, field: str, value: object) -> None:
        setter = getattr(self._builder._assembly, f"set_{self._kind.replace(' ', '_')}")
        with_context(f"{self._kind} {self.name!r}", setter, self._index, field, value)


class _Field:
    """A property with a meaning, by the name that the compiled half knows."""

    def __init__(self, meaning: str) -> None:
        self.__doc__ = meaning

    def __set_name__(self, owner: type, name: str) -> None:
        self._field = name


class Number(_Field):
    """A property that is a number and can be assigned."""

    @overload
    def __get__(self, element: None, owner: type) -> Self: ...
    @overload
    def __get__(self, element: _Element, owner: type) -> float: ...
    def __get__(self, element: _Element | None, owner: type) -> Self | float:
        return self if element is None else float(element._get(self._field))

    def __set__(self, element: _Element, value: float) -> None:
        element._set(self._field, value)


class Numbers(_Field):
    """A property that is several numbers, or None, and can be assigned."""

    @overload
    def __get__(self, element: None, owner: type) -> Self: ...
    @overload
    def __get__(self, element: _Element, owner: type) -> tuple[float, ...] | None: ...
    def __get__(self, element: _Element | None, owner: type) -> Self | tuple[float, ...] | None:
        if element is None:
            return self
        value = element._get(self._field)
        return None if value is None else tuple(value)

    def __set__(self, element: _Element, value: bool | ArrayLike | None) -> None:
        element._set(self._field, value)


class Polynomial(_Field):
    """The coefficient of a force law, or three of a polynomial; can be assigned."""

    @overload
    def __get__(self, element: None, owner: type) -> Self: ...
    @overload
    def __get__(self, element: _Element, owner: type) -> float | tuple[float, float, float]: ...
    def __get__(self, element: _Element | None, owner: type) -> Self | float | tuple[float, float, float]:
        return self if element is None else cast("float | tuple[float, float, float]", element._get(self._field))

    def __set__(self, element: _Element, value: float | ArrayLike) -> None:
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
