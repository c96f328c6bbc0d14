"""What can be called, read and assigned in the package: found by looking, so that nothing new is forgotten."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import sapwood as sw
from sapwood import _parameters, _results, _sapwood

Kind = Literal["call", "new", "get", "set"]


@dataclass(frozen=True)
class Parameter:
    """One parameter: its name, its annotation as text, whether it goes by position, whether it may be left out."""

    name: str
    annotation: str
    by_name: bool
    optional: bool


@dataclass(frozen=True)
class Target:
    """Something to try: a function, a constructor, a method, a property to read or to assign."""

    label: str
    owner: type | None
    name: str
    kind: Kind
    parameters: tuple[Parameter, ...]

    def function(self, subject: object) -> Callable[..., Any]:
        """What is called with arguments for the parameters."""
        if self.kind == "get":
            return lambda: getattr(subject, self.name)
        if self.kind == "set":
            return lambda value: setattr(subject, self.name, value)
        owner: Any = subject if subject is not None else self.owner
        function: Callable[..., Any] = owner if self.kind == "new" else getattr(owner, self.name)
        return function


def annotations_of_stub() -> dict[tuple[str, str, str], str]:
    """Annotations of the compiled module's parameters, by owner, member and parameter."""
    found = {}
    tree = ast.parse((Path(sw.__file__).parent / "_sapwood.pyi").read_text())
    owners: list[ast.Module | ast.ClassDef] = [tree, *(node for node in tree.body if isinstance(node, ast.ClassDef))]
    for owner in owners:
        prefix = owner.name if isinstance(owner, ast.ClassDef) else ""
        for node in owner.body:
            if isinstance(node, ast.FunctionDef):
                for argument in [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]:
                    if argument.annotation is not None:
                        found[prefix, node.name, argument.arg] = ast.unparse(argument.annotation)
    return found


STUB = annotations_of_stub()


def parameters_of(owner: str, name: str, function: Any) -> tuple[Parameter, ...]:
    """The parameters of a function, but for self."""
    found = []
    for parameter in inspect.signature(function).parameters.values():
        if parameter.name in {"self", "cls"} or parameter.kind is parameter.VAR_POSITIONAL:
            continue
        annotation = STUB.get((owner, name, parameter.name), parameter.annotation)
        if parameter.kind is parameter.VAR_KEYWORD:
            continue
        by_name = parameter.kind is parameter.KEYWORD_ONLY
        text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
        found.append(Parameter(parameter.name, text, by_name, parameter.default is not parameter.empty))
    return tuple(found)


def of_class(cls: type) -> Iterator[Target]:
    """The constructor, methods and properties of a class."""
    name = cls.__name__
    if "__new__" in vars(cls) or "__init__" in vars(cls):
        yield Target(f"{name}()", cls, name, "new", parameters_of(name, "__new__", cls))
    for member in dir(cls):
        found = inspect.getattr_static(cls, member)
        if member.startswith("_") or (issubclass(cls, tuple) and member in dir(tuple)):
            continue
        label = f"{name}.{member}"
        if isinstance(found, (staticmethod, classmethod)):
            yield Target(label, cls, member, "call", parameters_of(name, member, getattr(cls, member)))
        elif callable(found):
            yield Target(label, cls, member, "call", parameters_of(name, member, found))
        elif hasattr(found, "__get__"):
            yield Target(label, cls, member, "get", ())
            # Those of our own that can be assigned: all builtin ones look as if they could.
            own = type(found).__module__.startswith("sapwood") and hasattr(found, "__set__")
            if own or getattr(found, "fset", None) is not None or (name, member, "value") in STUB:
                annotation = STUB.get((name, member, "value"), "ArrayLike")
                value = Parameter("value", annotation, by_name=False, optional=False)
                yield Target(f"{label} =", cls, member, "set", (value,))


def classes() -> list[type]:
    """All classes that a user can come to have an object of."""
    modules: list[Any] = [sw, sw.builder, sw.sap, sw.spd, _results, _parameters, _sapwood]
    names = [(module, name) for module in modules for name in getattr(module, "__all__", dir(module))]
    found = [getattr(module, name) for module, name in names if name != "view" and not name.startswith("_")]
    own = [cls for cls in found if inspect.isclass(cls) and cls.__module__.startswith("sapwood")]
    return list(dict.fromkeys(cls for cls in own if not issubclass(cls, (BaseException, dict))))


def functions() -> Iterator[Target]:
    """All public functions."""
    for module in (sw, sw.sap, sw.spd, sw.scenes, sw.characters):
        for name in module.__all__:
            function = None if name == "view" else getattr(module, name)
            if inspect.isroutine(function):
                label = f"{module.__name__}.{name}"
                stub = getattr(function, "__name__", name)
                yield Target(label, None, name, "call", parameters_of("", stub, function))


def is_of_class(target: Target) -> bool:
    """Whether it is called on the class: a constructor, a static method."""
    if target.owner is None or target.kind == "new":
        return True
    return isinstance(inspect.getattr_static(target.owner, target.name), (staticmethod, classmethod))


def targets() -> list[Target]:
    """Everything."""
    return [*functions(), *(target for cls in classes() for target in of_class(cls))]
