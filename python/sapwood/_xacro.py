"""Files of xacro, expanded by its own package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from sapwood._errors import ModelError


def expand(path: str, arguments: Mapping[str, str], folders: Sequence[str]) -> str:
    """The URDF text of a xacro file.

    Packages that it includes files of are looked for in these folders, and in those above the file.

    Raises:
        ModelError: When xacro cannot expand the file, or is not installed.
    """
    try:
        from xacrodoc import XacroDoc, packages
    except ImportError:
        message = f"{path}: is a xacro file: expected the package that expands it, pip install 'sapwood[xacro]'"
        raise ModelError(message) from None
    packages.reset()
    packages.update_package_cache(_packages([*map(Path, folders), *Path(path).absolute().parents]))
    try:
        document = XacroDoc.from_file(path, subargs=dict(arguments), resolve_packages=False)
        return str(document.to_urdf_string())
    except FileNotFoundError as error:
        raise ModelError(f"{path}: cannot be read ({error})") from None
    except Exception as error:  # xacro has errors of many kinds of its own
        raise ModelError(f"{path}: xacro cannot expand it: {error}") from None


def _packages(folders: Sequence[Path]) -> dict[str, Path]:
    """Packages by name: a folder of that name, or one in a folder; the first in the list counts."""
    found: dict[str, Path] = {}
    for folder in folders:
        found.setdefault(folder.name, folder)
        try:
            children = sorted(child for child in folder.iterdir() if child.is_dir())
        except OSError:
            continue
        for child in children:
            found.setdefault(child.name, child)
    return found
