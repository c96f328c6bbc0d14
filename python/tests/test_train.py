"""The command that trains policies."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("gymnasium")
torch = pytest.importorskip("torch", reason="torch is not installed: pip install 'sapwood[train]'")


def test_ppo_learns_to_balance(tmp_path: Path) -> None:
    command = [
        sys.executable,
        "-m",
        "sapwood.train",
        "ppo",
        "--env",
        "sapwood/InvertedPendulum-v0",
        "--out",
        str(tmp_path),
    ]
    options = ["--samples", "32768", "--seconds", "300", "--num-envs", "16", "--num-steps", "128", "--minibatch", "256"]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    result = json.loads((tmp_path / "result.json").read_text())
    assert result["samples"] == 32768
    first = next(row["return"] for row in result["curve"] if row["return"] is not None)
    # A policy at random balances for a few steps, the limit is 1000.
    assert first < 30.0
    assert result["return"] > 150.0
    saved = torch.load(tmp_path / "policy.pt")
    assert saved["mean"].shape == (4,)
