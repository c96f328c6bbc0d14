"""Files that are whole or as they were."""

from __future__ import annotations

import contextlib
import errno
import itertools
import os
import stat
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_FULL = 0x107
"""The number of ``/dev/full`` on Linux, which takes nothing and says so only when it is written to."""
_count = itertools.count()


def check_place(path: Path) -> None:
    """Refuses to write to a folder, a socket, or a pipe with a name, which would wait for its reader.

    Raises:
        OSError: When it is one of them, or no name leads to it: a loop of links, a name that is too long.
    """
    try:
        place = path.stat()
    except FileNotFoundError:
        return
    if stat.S_ISDIR(place.st_mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    # What is handed on by a shell (``/dev/stdout``) has no name to resolve.
    if stat.S_ISFIFO(place.st_mode) and path.resolve().exists():
        raise OSError(errno.EINVAL, "it is a pipe", str(path))
    if stat.S_ISSOCK(place.st_mode):
        raise OSError(errno.EINVAL, "it is a socket", str(path))
    if sys.platform == "linux" and stat.S_ISCHR(place.st_mode) and place.st_rdev == _FULL:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(path))


def write_whole(path: Path, content: str | bytes) -> None:
    """Writes a text or bytes to a file: all of it, or the file stays as it was.

    What is no regular file, as ``/dev/stdout``, is written to as it is.

    Raises:
        OSError: When it cannot be written, as on a full disk; the old file is kept.
    """
    check_place(path)
    data = content.encode() if isinstance(content, str) else content
    if path.exists() and not path.is_file():
        path.write_bytes(data)
        return
    with replaced(path) as beside:
        beside.write_bytes(data)


@contextlib.contextmanager
def replaced(path: Path) -> Iterator[Path]:
    """A place beside a file for a new one, which goes on to the disk and takes the place of the old one at the end.

    After an error, or where nothing was written, the file stays as it was.

    Raises:
        OSError: When the file cannot be written, or is there and is no regular file.
    """
    check_place(path)
    if path.exists() and not path.is_file():
        raise OSError(errno.EINVAL, "it is a device", str(path))
    # A link stays a link: what it leads to is replaced.
    target = path.resolve()
    # Its ending says its format to some that write it; a long name is not made longer, which the disk might not take.
    beside = target.with_name(f".{os.getpid()}.{next(_count)}.part.{target.name[-40:]}")
    try:
        beside.touch(exist_ok=False)
        yield beside
        if beside.stat().st_size > 0:
            with beside.open("rb+") as file:
                os.fsync(file.fileno())
            if target.exists():
                beside.chmod(target.stat().st_mode)
            beside.replace(target)
    except OSError as error:
        # Of the file that was asked for, not of the one beside it.
        reason = error.errno or errno.EIO
        raise OSError(reason, os.strerror(reason) if error.errno else str(error), str(path)) from error
    finally:
        with contextlib.suppress(OSError):
            beside.unlink(missing_ok=True)
