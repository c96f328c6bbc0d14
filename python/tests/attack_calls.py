"""Calls the whole API with arguments that fit and arguments that do not.

A call may give a result, or raise one of the exceptions that the API documents, with a message. A panic, a signal, an
exception of another kind, a call that neither ends nor can be interrupted, and one that takes 4 GiB are findings.
The calls are made in a child process; after one that kills it, another goes on with the next seed.
"""

from __future__ import annotations

import collections
import contextlib
import copy
import faulthandler
import importlib
import itertools
import json
import os
import pickle
import random
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from api_targets import Target, is_of_class, targets
from api_values import World

import sapwood as sw

DOCUMENTED = (ValueError, TypeError, IndexError, KeyError, sw.ModelError, RuntimeError, MemoryError, OSError)
# Of attributes that cannot be assigned or deleted; of packages that are not installed.
PYTHON = (AttributeError, ImportError, ZeroDivisionError)
MEMORY = 4 << 30
CALLS_IN_A_WORLD = 250


class Interrupted(Exception):  # noqa: N818 - the call may be right
    """A call took longer than it may, and was told to stop."""


class Child:
    """Makes calls, and notes what comes of them."""

    def __init__(self, seed: int, folder: Path, patience: float, limit: float) -> None:
        self.rng = random.Random(seed)
        self.folder, self.patience, self.limit = folder, patience, limit
        self.log = (folder / "calls.log").open("w", errors="backslashreplace")
        self.is_calling = False
        self.outcomes: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
        self.messages: dict[str, str] = {}
        self.findings: list[str] = []
        signal.signal(signal.SIGALRM, self.interrupt)

    def interrupt(self, *_: object) -> None:
        if self.is_calling:
            raise Interrupted

    def run(self, calls: int) -> None:
        """Makes so many calls."""
        everything = targets()
        for number in range(calls):
            if number % CALLS_IN_A_WORLD == 0:
                self.world = World(self.rng, self.folder)
            if self.rng.random() < 0.1:
                label, call = self.generic()
            else:
                prepared = self.prepared(self.rng.choice(everything))
                if prepared is None:
                    continue
                label, call = prepared
            self.outcome(number, label, call)
        result = {
            "outcomes": {label: dict(counts) for label, counts in self.outcomes.items()},
            "messages": self.messages,
            "findings": self.findings,
            "targets": [target.label for target in everything],
        }
        (self.folder / "result.json").write_text(json.dumps(result))

    def prepared(self, target: Target) -> tuple[str, Callable[[], Any]] | None:
        """A call of a target, with arguments."""
        world, rng = self.world, self.rng
        subject = None if target.owner is None or is_of_class(target) else world.one(target.owner)
        if subject is None and not is_of_class(target):
            return None
        function = self.module_function(target) if target.owner is None else target.function(subject)
        how = rng.choices(["fit", "one", "all"], [5, 4, 1])[0]
        chosen = [p for p in target.parameters if not p.optional or rng.random() < 0.4]
        wrong = rng.randrange(len(chosen)) if chosen else 0
        positional: list[Any] = []
        named: dict[str, Any] = {}
        about = subject
        for k, parameter in enumerate(chosen):
            is_wrong = how == "all" or (how == "one" and k == wrong)
            value = world.hostile(subject) if is_wrong else world.fitting(parameter, about)
            about = value if isinstance(value, sw.Model) else about
            if parameter.by_name or len(positional) < k or parameter.optional:
                named[parameter.name] = value
            else:
                positional.append(value)
        arguments = ", ".join([*map(short, positional), *(f"{name}={short(value)}" for name, value in named.items())])
        return f"{target.label}|{arguments}", lambda: function(*positional, **named)

    def module_function(self, target: Target) -> Callable[..., Any]:
        module = sys.modules[target.label.rpartition(".")[0]]
        function: Callable[..., Any] = getattr(module, target.name)
        return function

    def generic(self) -> tuple[str, Callable[[], Any]]:
        """What can be done to any object; and numbers written into live arrays."""
        world, rng = self.world, self.rng
        thing = rng.choice(world.objects)
        other = world.hostile(thing)
        key = rng.choice([other, 0, -1, 10**9, "box", "q"])

        def poison() -> None:
            names = [
                "q",
                "v",
                "ctrl",
                "time",
                "applied_force",
                "applied_wrench",
                "surface_velocity",
                *(thing_names(thing)),
            ]
            array = getattr(thing, rng.choice(names), None)
            if isinstance(array, np.ndarray) and array.size:
                array.reshape(-1)[rng.randrange(array.size)] = rng.choice([np.nan, np.inf, -1.0, 1e300, 0.0, 1e-300])

        actions: dict[str, Callable[[], Any]] = {
            "poison": poison,
            "mend": lambda: [
                getattr(of, "reset", lambda: None)() for of in (getattr(thing, "parameters", None), thing)
            ],
            "repr": lambda: repr(thing),
            "hash": lambda: hash(thing),
            "len": lambda: len(thing),
            "iter": lambda: list(itertools.islice(iter(thing), 100)),
            "item": lambda: thing[key],
            "in": lambda: other in thing,
            "==": lambda: thing == other,
            "<": lambda: thing < other,
            "copy": lambda: copy.copy(thing),
            "deepcopy": lambda: copy.deepcopy(thing),
            "pickle": lambda: pickle.loads(pickle.dumps(thing)),
            "dir": lambda: [getattr(thing, name) for name in dir(thing) if not name.startswith("_")],
            "del": lambda: delattr(thing, rng.choice(dir(thing))),
            "new attribute": lambda: setattr(thing, "no_such_thing", other),
            "with": lambda: thing.__enter__() and thing.__exit__(None, None, None),
            "html": lambda: thing._repr_html_(),
            "again": lambda: type(thing)(),
            "bare": lambda: object.__new__(type(thing)),
            "bytes": lambda: bytes(thing),
        }
        name = rng.choice(list(actions))
        return f"{name} of {type(thing).__name__}|{short(key)}", actions[name]

    def outcome(self, number: int, label: str, call: Callable[[], Any]) -> None:
        """Makes a call and notes what came of it."""
        name, _, arguments = label.partition("|")
        how = self.rng.choices(["alone", "during a step", "three at once"], [90, 7, 3])[0]
        self.log.write(f"{number}: {name}({arguments}) {how}\n")
        self.log.flush()
        faulthandler.dump_traceback_later(self.limit, exit=True)
        signal.setitimer(signal.ITIMER_REAL, self.patience)
        try:
            self.is_calling = True
            try:
                result = getattr(self, how.replace(" ", "_"))(call)
            finally:
                self.is_calling = False
            self.world.keep(*([result] if self.rng.random() < 0.2 else []))
            came = "result"
        except Interrupted:
            came = "interrupted"
        except BaseException as error:
            came = type(error).__name__
            self.judge(number, name, arguments, error)
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
        self.outcomes[name][came] += 1

    def judge(self, number: int, name: str, arguments: str, error: BaseException) -> None:
        message = str(error)
        is_documented = isinstance(error, (*DOCUMENTED, *PYTHON)) and not isinstance(error, RecursionError)
        # Handles of the builder have no negative indices.
        if isinstance(error, OverflowError) and name.startswith("Assembly."):
            return
        if isinstance(error, pickle.PicklingError) or (isinstance(error, ZeroDivisionError) and message == "refused"):
            return
        if isinstance(error, ZeroDivisionError) or not is_documented or not message:
            where = "".join(traceback.format_exception(error)[-2:]).strip().replace("\n", " ")
            self.findings.append(f"{number}: {name}({arguments}): {type(error).__name__}: {message} [{where}]")
        self.messages[f"{name} {type(error).__name__} {re.sub('[0-9]+', '0', message)[:60]}"] = (
            f"{name}({arguments})\n    {type(error).__name__}: {message[:600]}"
        )

    def alone(self, call: Callable[[], Any]) -> Any:
        return call()

    def during_a_step(self, call: Callable[[], Any]) -> Any:
        """While another thread steps simulations and batches."""
        stop = threading.Event()
        stepped = [thing for thing in self.world.objects if isinstance(thing, (sw.Simulation, sw.Batch))][:12]

        def run() -> None:
            for thing in itertools.cycle(stepped):
                if stop.is_set():
                    return
                with contextlib.suppress(*DOCUMENTED):
                    thing.step(3)

        thread = threading.Thread(target=run, daemon=True)
        try:
            thread.start()
            return call()
        finally:
            stop.set()
            thread.join()

    def three_at_once(self, call: Callable[[], Any]) -> Any:
        """The same from three threads; those that cannot be interrupted are told to end by what they are refused."""
        errors: list[BaseException] = []

        def run() -> None:
            try:
                call()
            except BaseException as error:
                errors.append(error)

        threads = [threading.Thread(target=run, daemon=True) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        if errors:
            raise errors[0]
        return None


def thing_names(thing: object) -> list[str]:
    """Names of the parameters of a simulation."""
    return list(thing) if isinstance(thing, sw.SimulationParameters) else []


def short(value: object) -> str:
    """What a value is, in a few words."""
    try:
        return re.sub(r"\s+", " ", repr(value))[:80]
    except Exception:
        return type(value).__name__


def child(seed: int, calls: int, folder: Path, patience: float, limit: float) -> None:
    """The process that makes the calls."""
    warnings.simplefilter("ignore")
    # Threads that are still in an import when the interpreter ends would abort it.
    with contextlib.suppress(ImportError):
        importlib.import_module("sapwood.mujoco")
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    np.seterr(all="ignore")
    Child(seed, folder, patience, limit).run(calls)
    # For the end of the interpreter, with threads that are still at work.
    faulthandler.dump_traceback_later(6 * limit, exit=True)


def attack_calls(seed: int, calls: int, patience: float = 0.2, limit: float = 10.0) -> dict[str, Any]:
    """Makes so many calls in a child process: outcomes, messages, findings."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        arguments = [str(seed), str(calls), name, str(patience), str(limit)]
        program = [sys.executable, str(Path(__file__).resolve()), "--child", *arguments]
        environment = {
            **os.environ,
            "RUST_BACKTRACE": "0",
            "PYTHONPATH": os.pathsep.join([str(Path(sw.__file__).parents[1]), *sys.path]),
        }
        options: dict[str, Any] = {"capture_output": True, "text": True, "errors": "replace", "env": environment}
        done = subprocess.run(program, cwd=folder, check=False, **options)
        log = (folder / "calls.log").read_text().splitlines() if (folder / "calls.log").exists() else []
        path = folder / "result.json"
        result: dict[str, Any] = {"outcomes": {}, "messages": {}, "findings": [], "targets": []}
        if path.exists():
            result = json.loads(path.read_text())
        last = log[-1] if log else "before the first call"
        if done.returncode != 0 or not path.exists():
            result["findings"].append(f"ended with {done.returncode} in {last}\n{done.stderr[-3000:]}")
        elif "panicked" in done.stderr:
            result["findings"].append(f"a panic in another thread\n{done.stderr[:3000]}")
        result["findings"] = [f"seed {seed}: {finding}" for finding in result["findings"]]
        result["made"] = len(log)
        return result


if __name__ == "__main__":
    child(int(sys.argv[2]), int(sys.argv[3]), Path(sys.argv[4]), float(sys.argv[5]), float(sys.argv[6]))
