"""Files that are written: what is in the way is an ``OSError`` that names the file, and an old file is kept."""

from __future__ import annotations

import os
import resource
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import sapwood as sw

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="/dev/full and limits of file sizes")

FRAMES = list(np.random.default_rng(0).integers(0, 256, (3, 64, 64, 3), np.uint8))


def model() -> sw.Model:
    vertices = " ".join(f"{x} {y} {z}" for x in (0, 1) for y in (0, 1) for z in (0, 1))
    return sw.load(
        f"<mujoco><asset><mesh name='m' vertex='{vertices}'/></asset>"
        "<worldbody><geom name='a' type='mesh' mesh='m'/></worldbody></mujoco>"
    )


def video(path: Path) -> None:
    pytest.importorskip("imageio_ffmpeg", reason="the extra sapwood[video] is not installed")
    sw.video(path, FRAMES)


WRITERS: dict[str, Callable[[Path], object]] = {
    "a.xml": lambda path: model().to_mjcf(path),
    "b.xml": lambda path: model().to_mjcf(path, meshes="obj"),
    "a.png": lambda path: sw.write_png(path, FRAMES[0]),
    "a.html": lambda path: sw.Simulation(model()).record().save(path),
    "a.gif": video,
    "a.mp4": video,
}


@contextmanager
def files_of_at_most(size: int) -> Iterator[None]:
    """Stands for a disk that is full: it needs no rights."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)


@pytest.mark.parametrize("name", WRITERS)
def test_old_files_are_kept_where_a_disk_is_full(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(b"old")
    # Meshes are written before the text that names them.
    first = tmp_path / "b_m.obj" if name == "b.xml" else path
    with files_of_at_most(100), pytest.raises(OSError, match=first.name) as error:
        WRITERS[name](path)
    assert error.value.errno
    assert error.value.filename == str(first)
    assert path.read_bytes() == b"old"
    assert os.listdir(tmp_path) == [name]
    WRITERS[name](path)
    assert path.stat().st_size > 100


@pytest.mark.parametrize("name", WRITERS)
def test_what_is_no_place_for_a_file_is_an_error_at_once(name: str, tmp_path: Path) -> None:
    path = tmp_path / name

    def refused(kind: type[OSError] = OSError) -> None:
        with pytest.raises(kind, match=name) as error:
            WRITERS[name](path)
        assert type(error.value) is kind
        path.rmdir() if path.is_dir() else path.unlink()

    path.mkdir()
    refused(IsADirectoryError)
    os.mkfifo(path)
    refused()
    path.symlink_to(path)
    refused()
    path.symlink_to("/dev/full")
    refused()
    path.symlink_to(tmp_path / "no" / "folder")
    refused(FileNotFoundError)
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(str(path))
        refused()
    path = tmp_path / ("x" * 300 + name)
    with pytest.raises(OSError, match="too long"):
        WRITERS[name](path)
    assert os.listdir(tmp_path) == []


def test_a_pipe_beside_the_text_is_an_error(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "a_m.obj")
    with pytest.raises(OSError, match="a_m.obj"):
        model().to_mjcf(tmp_path / "a.xml", meshes="obj")
    assert os.listdir(tmp_path) == ["a_m.obj"]


def test_a_video_that_fails_is_closed(tmp_path: Path) -> None:
    pytest.importorskip("imageio_ffmpeg", reason="the extra sapwood[video] is not installed")
    writer = sw.VideoWriter(tmp_path / "a.mp4")

    def fill() -> None:
        for _ in range(10_000):
            writer.add(FRAMES[0])
        writer.close()

    with files_of_at_most(100), pytest.raises(OSError, match="a.mp4"):
        fill()
    writer.close()
    assert "closed" in repr(writer)
    assert os.listdir(tmp_path) == []
