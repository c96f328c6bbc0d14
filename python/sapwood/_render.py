"""Cameras and video."""

from __future__ import annotations

import contextlib
import importlib
import struct
import subprocess
import weakref
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sapwood._files import replaced, write_whole
from sapwood._first_words import with_advice

if TYPE_CHECKING:
    from collections.abc import Iterable
    from os import PathLike
    from types import TracebackType

    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Self


@with_advice
@dataclass(frozen=True)
class Camera:
    """A camera for ``Simulation.render`` and ``Renderer.render``. What is None is as in the model's default view.

    It looks at a point from a distance, in a direction. With ``position`` it stands there instead: it looks at
    ``lookat``, upright, or along the −z axis of the frame of ``quaternion``, with x to the right and y up. Distance,
    direction and ``track`` beside ``position`` are a ``ValueError`` from what draws.

    Args:
        lookat: The point looked at in the world, (3,), m; with ``track`` in world axes from the origin of that body.
        distance: Distance of the camera from that point, m.
        azimuth: Direction of looking about the vertical, from x, rad.
        elevation: Direction of looking above the horizon, rad: negative looks down.
        fovy: Vertical field of view, rad.
        focal: In its place the focal length, one number or (2,) along rows and columns, with ``sensor_size``.
        sensor_size: Width and height of the sensor, (2,), in the unit of ``focal``, such as pixels or metres. All of it
            is the picture.
        principal: How far the middle of the picture lies to the right of the camera's axis and below it, (2,), in that
            unit: for a calibration (cx, cy) in pixels, (width / 2 − cx, height / 2 − cy).
        track: A body that the camera moves with, by name or index; it does not turn.
        position: Where the camera is in the world, (3,), m.
        quaternion: Its orientation there, (4,), w x y z; with neither it nor ``lookat`` it looks straight down.
    """

    lookat: ArrayLike | None = None
    distance: float | None = None
    azimuth: float | None = None
    elevation: float | None = None
    fovy: float | None = None
    track: str | int | None = None
    position: ArrayLike | None = None
    quaternion: ArrayLike | None = None
    focal: ArrayLike | None = None
    sensor_size: ArrayLike | None = None
    principal: ArrayLike | None = None

    def __post_init__(self) -> None:
        # Angles of other engines are degrees; radians that add up to several turns are rarely whole numbers.
        angle = self.azimuth
        if angle is not None and np.isfinite(angle) and abs(angle) > 2 * np.pi and angle == int(angle):
            raise ValueError(f"azimuth is {angle:g}: expected radians, math.radians({angle:g}) if these are degrees")


class VideoWriter:
    """Writes frames into a video file: ``.mp4`` and what else ffmpeg knows, or an animated ``.gif``.

    A context manager::

        with sw.VideoWriter("run.mp4", fps=30) as video:
            for _ in range(300):
                sim.advance_to(sim.time + 1 / 30)
                video.add(sim.render(640, 480))

    Args:
        path: The file; its extension says the format.
        fps: Frames per second.

    Raises:
        ImportError: When imageio or imageio-ffmpeg is not installed: the extra ``sapwood[video]`` has them.
        ValueError: When fps is not above 0.
        OSError: When the file cannot be written: it is a folder or a pipe, a disk is full. The old file is kept, as it
            is until the video is closed.
    """

    path: Path
    fps: float
    frames: int

    def __init__(self, path: str | PathLike[str], fps: float = 30.0) -> None:
        if not (np.isfinite(fps) and fps > 0):
            raise ValueError(f"fps is {fps}: expected a finite number above 0")
        self.path = Path(path)
        self.fps = float(fps)
        self.frames = 0
        self._shape: tuple[int, ...] | None = None
        self._file = _VideoFile(self.path, self.fps)
        # A video that nobody closes is finished when it is given up, or at the end of the program.
        self._finish = weakref.finalize(self, self._file.close)

    def __repr__(self) -> str:
        state = "open" if self._finish.alive else "closed"
        return f"<sapwood.VideoWriter {str(self.path)!r}, {self.frames} frames at {self.fps:g} per second, {state}>"

    def add(self, frame: NDArray[np.uint8]) -> None:
        """Append a frame.

        Args:
            frame: Colours, (height, width, 3) uint8, of the same size for all frames.

        Raises:
            ValueError: When the frame has another type or shape, or the video is closed.
            OSError: When the file cannot be written; the video is closed then.
        """
        frame = _checked_image("frame", frame)
        if not self._finish.alive:
            raise ValueError(f"the video {self.path} is closed: make a new VideoWriter")
        if self._shape not in (None, frame.shape):
            raise ValueError(f"frame has shape {frame.shape}: expected {self._shape}, as the first")
        self._shape = frame.shape
        try:
            self._file.add(frame)
        except BaseException:
            self._finish.detach()
            raise
        self.frames += 1

    def close(self) -> None:
        """Finish the file. Nothing happens the second time.

        Raises:
            OSError: When the file cannot be written; an old one is kept.
        """
        self._finish()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def video(path: str | PathLike[str], frames: Iterable[NDArray[np.uint8]], fps: float = 30.0) -> None:
    """Write frames into a video file (see ``VideoWriter``).

    Args:
        path: The file: ``.mp4`` and what else ffmpeg knows, or ``.gif``.
        frames: Colours, each (height, width, 3) uint8.
        fps: Frames per second.

    Raises:
        ImportError: When imageio or imageio-ffmpeg is not installed: the extra ``sapwood[video]`` has them.
        ValueError: When fps is not above 0, or a frame has a wrong type or shape.
        OSError: When the file cannot be written: it is a folder or a pipe, a disk is full. The old file is kept.
    """
    with VideoWriter(path, fps) as writer:
        for frame in frames:
            writer.add(frame)


_BLOCK = 1 << 20
"""Bytes of a picture that are compressed at once."""


def write_png(path: str | PathLike[str], image: NDArray[np.uint8]) -> None:
    """Write a picture into a PNG file; needs no other package.

    Args:
        path: The file, whose name ends with ``.png``.
        image: Colours, (height, width, 3) uint8, or shades of grey, (height, width).

    Raises:
        ValueError: When the image has another type or shape, or the file another ending.
        OSError: When the file cannot be written; an old one is kept.
    """
    if isinstance(path, np.ndarray):
        raise TypeError("path is an array: expected write_png(path, image)")
    if Path(path).suffix.lower() != ".png":
        raise ValueError(f"path is {str(path)!r}: expected a name that ends with .png")
    if np.ndim(image) == 2:
        image = np.repeat(np.asarray(image)[:, :, None], 3, axis=2)
    image = _checked_image("image", image)
    height, width, _ = image.shape
    # Every row begins with its filter: 0, none.
    rows = np.concatenate([np.zeros((height, 1), np.uint8), image.reshape(height, -1)], axis=1)

    def chunk(kind: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    compressor = zlib.compressobj(6)
    # Block by block: an interrupt is seen between two calls.
    count = max(1, _BLOCK // rows.shape[1])
    blocks = [compressor.compress(rows[i : i + count].tobytes()) for i in range(0, height, count)]
    data = b"".join([*blocks, compressor.flush()])
    body = chunk(b"IHDR", header) + chunk(b"IDAT", data) + chunk(b"IEND", b"")
    write_whole(Path(path), b"\x89PNG\r\n\x1a\n" + body)


def _checked_image(name: str, image: NDArray[np.uint8]) -> NDArray[np.uint8]:
    array = np.asarray(image)
    if array.dtype != np.uint8 or array.ndim != 3 or array.shape[2] != 3 or array.size == 0:
        found = f"shape {array.shape} and dtype {array.dtype}"
        raise ValueError(f"{name} has {found}: expected (height, width, 3) and uint8, as render gives for kind='rgb'")
    return array


class _VideoFile:
    """A video that is written beside its place, and put there when it is closed."""

    def __init__(self, path: Path, fps: float) -> None:
        # What fails on the way takes away what was written.
        with contextlib.ExitStack() as stack:
            self._place = stack.enter_context(replaced(path))
            self._writer = _open_writer(path, self._place, fps)
            self._stack = stack.pop_all()
        self._frames = 0

    def add(self, frame: NDArray[np.uint8]) -> None:
        with contextlib.ExitStack() as stack:
            stack.push(self._stack)
            stack.callback(self._writer.close)
            try:
                self._writer.append_data(frame)
            except OSError as error:
                # imageio's has no number and a page of text.
                raise error if error.errno else OSError("ffmpeg ended too early") from error
            self._frames += 1
            stack.pop_all()

    def close(self) -> None:
        with self._stack:
            self._writer.close()
            if self._frames > 0 and self._place.suffix.lower() != ".gif":
                _check_video(self._place, self._frames)


def _check_video(path: Path, frames: int) -> None:
    """That a video is whole: imageio does not look at how ffmpeg ends, which tells its reasons on standard error."""
    program = importlib.import_module("imageio_ffmpeg").get_ffmpeg_exe()
    # A line for each frame, which is not decoded for that.
    words = [program, "-v", "quiet", "-i", path, "-map", "0:v:0", "-c", "copy", "-f", "framecrc", "-"]
    lines = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, check=False).stdout.splitlines()
    found = sum(not line.startswith(b"#") for line in lines)
    if found < frames:
        raise OSError(f"ffmpeg wrote {found} of {frames} frames")


def _open_writer(path: Path, place: Path, fps: float) -> Any:  # noqa: ANN401 - imageio need not be there
    try:
        imageio: Any = importlib.import_module("imageio.v2")
        if path.suffix.lower() == ".gif":
            return imageio.get_writer(place, mode="I", duration=1000.0 / fps, loop=0)
        importlib.import_module("imageio_ffmpeg")  # what imageio writes videos with
    except ImportError as error:
        raise ImportError(
            f"{path}: videos are written by imageio and imageio-ffmpeg, of which {error.name} is not installed: "
            "pip install 'sapwood[video]'"
        ) from error
    # Otherwise frames are scaled to multiples of 16; yuv420p, which every player shows, needs even sizes.
    return imageio.get_writer(place, fps=fps, macro_block_size=2)
