"""The ``sapwood`` command: ``sapwood run @dog``, or ``python -m sapwood run @dog``."""

from __future__ import annotations

import os
import signal
import sys

from sapwood._sapwood import _command


def main() -> int:
    """Run the command with the words of the command line, and return its exit code."""
    # Ctrl-C is the command's own: it ends a run with what there is, and everything else at once.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # What it starts of this package is to run here.
    os.environ.setdefault("SAPWOOD_PYTHON", sys.executable)
    program = "sapwood" if sys.argv[0].endswith("__main__.py") else sys.argv[0]
    return _command([program, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
