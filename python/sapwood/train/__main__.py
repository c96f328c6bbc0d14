"""The command ``python -m sapwood.train``."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from collections.abc import Sequence
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from sapwood.train.settings import Settings

EXTRAS = {"torch": "train", "gymnasium": "train", "ray": "ray"}
"""Modules, and the extra that brings them."""


def missing(*modules: str) -> bool:
    """Whether a module is not installed; says so."""
    for module in modules:
        if importlib.util.find_spec(module) is None:
            print(f"sapwood.train needs {module}: pip install 'sapwood[{EXTRAS[module]}]'", file=sys.stderr)
            return True
    return False


def add_settings(parser: argparse.ArgumentParser, defaults: Settings, without: Sequence[str] = ()) -> None:
    """The arguments that every algorithm has, but for some settings."""
    parser.add_argument("--out", type=Path, required=True, help="folder for result.json, policy.npz, checkpoint.pt")
    parser.add_argument("--resume", action="store_true", help="go on from checkpoint.pt in the folder")
    for field in fields(defaults):
        if field.name in without:
            continue
        default: Any = getattr(defaults, field.name)
        name, meaning = f"--{field.name.replace('_', '-')}", f"{field.metadata['help']} (%(default)s)"
        if isinstance(default, bool):
            parser.add_argument(name, action=argparse.BooleanOptionalAction, default=default, help=meaning)
        else:
            parser.add_argument(name, type=type(default), default=default, help=meaning)


def parser() -> argparse.ArgumentParser:
    """The arguments of all algorithms; needs neither torch nor gymnasium."""
    from sapwood.train import compare, imitation
    from sapwood.train.settings import Settings

    parser = argparse.ArgumentParser(prog="python -m sapwood.train", description="Trains a policy.")
    algorithms = parser.add_subparsers(dest="algorithm", required=True)
    ppo = algorithms.add_parser("ppo", help="proximal policy optimisation", description="Proximal policy optimisation.")
    ppo.add_argument(
        "--env", required=True, help="an environment of the registry: sapwood/Ant-v0, or another engine's Ant-v5"
    )
    add_settings(ppo, Settings())
    motion = algorithms.add_parser(
        "imitation", help="a character that imitates a motion", description="A character learns to imitate a motion."
    )
    imitation.add_arguments(motion)
    add_settings(motion, imitation.DEFAULTS)
    curves = algorithms.add_parser(
        "compare",
        help="learning curves of controllers side by side",
        description="Trains every controller with every seed, all else the same, and draws the learning curves.",
    )
    compare.add_arguments(curves)
    add_settings(curves, compare.DEFAULTS, without=("seed", "evaluate_samples"))
    return parser


def main() -> int:
    """Read the command line and train."""
    given = vars(parser().parse_args())
    if missing("torch", "gymnasium"):
        return 2
    import gymnasium

    from sapwood import ModelError
    from sapwood.train import compare, imitation
    from sapwood.train.run import train
    from sapwood.train.settings import Settings
    from sapwood.train.tasks import Registered, Task

    algorithm, out, resume = given.pop("algorithm"), given.pop("out"), given.pop("resume")
    settings = Settings(**{field.name: given.pop(field.name) for field in fields(Settings) if field.name in given})
    if settings.workers and missing("ray"):
        return 2
    try:
        if algorithm == "compare":
            print(compare.main(given, settings, out, resume=resume))
            return 0
        task: Task = Registered(given["env"]) if algorithm == "ppo" else imitation.Imitation.of(**given)
        result = train(task, settings, out, resume=resume)
    except KeyboardInterrupt:
        return 130
    except (ValueError, OSError, RuntimeError, ModelError, gymnasium.error.Error) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    print(f"{out / 'result.json'}: return {result['return']:.3f} of the policy's mean, {result['samples']} samples")
    return 0


if __name__ == "__main__":
    sys.exit(main())
