"""``python -m sapwood.mujoco program.py ARGUMENTS``: a program of MuJoCo, unedited, on Sapwood's step."""

from __future__ import annotations

import runpy
import sys
from pathlib import Path

from sapwood.mujoco import install


def main() -> int:
    """Runs the program that the command line names, or with ``-m`` the module."""
    words = sys.argv[1:]
    if not words or words == ["-m"] or words[0] in ("-h", "--help"):
        print("usage: python -m sapwood.mujoco (PROGRAM.py | -m MODULE) [ARGUMENTS]", file=sys.stderr)
        return 0 if words[:1] in (["-h"], ["--help"]) else 2
    install()
    if words[0] == "-m":
        sys.argv = words[1:]
        sys.path[0] = ""
        runpy.run_module(words[1], run_name="__main__", alter_sys=True)
        return 0
    if not Path(words[0]).is_file():
        print(f"{words[0]}: expected a Python program", file=sys.stderr)
        return 2
    sys.argv = words
    sys.path[0] = str(Path(words[0]).resolve().parent)
    runpy.run_path(words[0], run_name="__main__")
    return 0


if __name__ == "__main__":
    sys.exit(main())
