"""Files that are whole or as they were."""

from __future__ import annotations

import contextlib
import errno
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


def check_place(path: Path) -> None:
    """Refuses to write to a folder, or to a pipe with a name, which would wait for its reader.

    Raises:
        OSError: When it is one of them.
    """
    if path.is_dir():
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    # What is handed on by a shell (``/dev/stdout``) has no name to resolve.
    if path.is_fifo() and path.resolve().exists():
        raise OSError(errno.EINVAL, "it is a pipe", str(path))


def write_whole(path: Path, text: str) -> None:
    """Writes a text to a file: all of it, or the file stays as it was.

    It is written beside its place and on to the disk, and then renamed. What is no regular file, as ``/dev/stdout``, is
    written to as it is.

    Raises:
        OSError: When it cannot be written, as on a full disk; the old file is kept.
    """
    check_place(path)
    if path.exists() and not path.is_file():
        path.write_text(text, encoding="utf-8")
        return
    # A link stays a link: what it leads to is replaced.
    path = path.resolve()
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with beside.open("w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            beside.chmod(path.stat().st_mode)
        beside.replace(path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
        if isinstance(error, OSError) and error.errno is not None:
            # Of the file that was asked for, not of the one beside it.
            raise OSError(error.errno, os.strerror(error.errno), str(path)) from error
        raise
