"""The command ``python -m sapwood.train``."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from dataclasses import fields
from pathlib import Path


def main() -> int:
    """Read the command line and train."""
    if importlib.util.find_spec("torch") is None or importlib.util.find_spec("gymnasium") is None:
        print("sapwood.train needs torch and gymnasium: pip install 'sapwood[train]'", file=sys.stderr)
        return 2
    from sapwood.train.ppo import Settings, train

    parser = argparse.ArgumentParser(prog="python -m sapwood.train", description="Trains a policy.")
    algorithms = parser.add_subparsers(dest="algorithm", required=True)
    ppo = algorithms.add_parser("ppo", help="proximal policy optimisation", description="Proximal policy optimisation.")
    ppo.add_argument(
        "--env", required=True, help="an environment of the registry: sapwood/Ant-v0, or another engine's Ant-v5"
    )
    ppo.add_argument("--out", type=Path, required=True, help="folder for result.json, policy.pt")
    for field in fields(Settings):
        name = f"--{field.name.replace('_', '-')}"
        ppo.add_argument(
            name, type=type(field.default), default=field.default, help=f"{field.metadata['help']} (%(default)s)"
        )
    given = vars(parser.parse_args())
    environment, out = given.pop("env"), given.pop("out")
    del given["algorithm"]
    result = train(environment, Settings(**given), out)
    print(f"{out / 'result.json'}: return {result['return']:.0f} of the policy's mean, {result['samples']} samples")
    return 0


if __name__ == "__main__":
    sys.exit(main())
