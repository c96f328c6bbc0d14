"""Tries the newest wheel of a folder in a bare environment: `python try_wheel.py target/wheels`.

The environment has numpy and the wheel alone. The README's Python, line by line; size and time to import within bounds.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tarfile
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parents[2]
MAX_MEGABYTES = 15.0
MAX_IMPORT_SECONDS = 0.1

IMPORT = """
import time
import numpy
start = time.perf_counter()
import sapwood
print(time.perf_counter() - start)
"""

# What a build from sources needs beside those of the crates.
IN_SDIST = [
    ".cargo/config.toml",
    "Cargo.lock",
    "pyproject.toml",
    "web/dist/replay.html",
    "python/sapwood/_sapwood.pyi",
    "python/sapwood/py.typed",
]

PAGES = ["README.md", "docs/start.md", "docs/batch.md", "docs/python.md", "docs/coming-from/drake.md"]


def programs(page: Path) -> str:
    """The Python of a page, as one program."""
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), re.MULTILINE | re.DOTALL)
    return "\n".join(blocks)


def check_sdist(folder: Path) -> None:
    """That the sources are complete: all crates that the manifests name, the page, the stub."""
    sdist = max(folder.glob("sapwood-*.tar.gz"), key=lambda path: path.stat().st_mtime)
    with tarfile.open(sdist) as archive:
        root = archive.getnames()[0].partition("/")[0]
        names = {name.removeprefix(f"{root}/") for name in archive.getnames()}
        workspace = archive.extractfile(f"{root}/Cargo.toml")
        assert workspace is not None
        crates = re.findall(r'path = "((?:crates|tools)/[a-z/]+)"', workspace.read().decode())
    missing = [name for name in [*IN_SDIST, "crates/python/Cargo.toml"] if name not in names]
    assert not missing, f"{sdist.name} lacks {missing}"
    print(f"{sdist.name}: {sdist.stat().st_size / 1e6:.1f} MB, {len(names)} files, {len(crates)} crates are named")


def main() -> None:
    """Tries it."""
    wheel = max(Path(sys.argv[1]).glob("sapwood-*.whl"), key=lambda path: path.stat().st_mtime)
    megabytes = wheel.stat().st_size / 1e6
    print(f"{wheel.name}: {megabytes:.1f} MB")
    assert megabytes < MAX_MEGABYTES, f"larger than {MAX_MEGABYTES} MB"
    check_sdist(wheel.parent)
    with tempfile.TemporaryDirectory() as folder:
        venv.create(Path(folder) / "bare", with_pip=True)
        python = str(Path(folder) / "bare/bin/python")
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel.resolve())]
        subprocess.run(pip, check=True)

        def run(code: str) -> str:
            return subprocess.run([python, "-c", code], check=True, cwd=folder, capture_output=True, text=True).stdout

        installed = run("import importlib.metadata as m; print(*sorted(d.name for d in m.distributions()))").split()
        print("installed:", *installed)
        assert set(installed) <= {"numpy", "pip", "sapwood", "setuptools"}
        for command in ([f"{folder}/bare/bin/sapwood"], [python, "-m", "sapwood"]):
            found = subprocess.run([*command, "info", "@dog"], check=True, cwd=folder, capture_output=True, text=True)
            assert found.stdout.startswith("@dog: dog"), found.stdout
            print(*(word.rpartition("/")[2] for word in command), "info @dog: runs")
        seconds = min(float(run(IMPORT)) for _ in range(5))
        print(f"import beyond numpy: {1e3 * seconds:.0f} ms")
        assert seconds < MAX_IMPORT_SECONDS, f"longer than {MAX_IMPORT_SECONDS} s"
        for page in PAGES:
            run(programs(ROOT / page))
            print(f"{page}: runs")


if __name__ == "__main__":
    main()
