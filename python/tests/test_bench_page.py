"""The page of benchmarks: made from the figures in the repository, and short enough to be read."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sapwood.bench import page, page_batch

ROOT = Path(__file__).parents[2]


def row(case: str, engine: str, value: float, suite: str = "motion") -> page.Row:
    return {"suite": suite, "case": case, "engine": engine, "metric": "time", "value": str(value), "unit": "µs/step"}


def test_the_pages_are_made_from_the_figures_and_short() -> None:
    for name, made in page.pages(ROOT / page.FOLDER).items():
        text = (ROOT / name).read_text()
        assert text == made
        assert len(text.splitlines()) <= page.MAX_LINES


def test_new_rows_replace_those_of_their_case() -> None:
    old = [row("ant", "sapwood", 9.0), row("ant", "mujoco", 10.0), row("tower", "sapwood", 3.0, "step")]
    new = [row("ant", "sapwood", 5.0)]
    assert page.merged(old, new) == [old[2], new[0]]


def test_a_table_has_a_row_for_each_case_and_engine() -> None:
    text = page.render({"here": [row("ant", "sapwood", 9.25), row("ant", "mujoco", 12345.0)]}, {"here": "A machine."})
    assert "| ant | sapwood | 9.25 |" in text
    assert "| ant | mujoco | 12,345 |" in text
    assert "A machine." in text


def test_many_worlds_have_a_line_for_each_case_in_motion_and_at_rest() -> None:
    rows = [
        {**row(f"ant {state}", engine, value, "batch"), "metric": metric}
        for state in ("motion", "rest")
        for engine, metric, value in [
            ("mujoco-pyramidal", "time", 9000.0),
            ("sapwood f64 x 8", "speed-up", 12.345),
            ("sapwood f64 x 8", "left", 0.001),
        ]
    ]
    text = page.render({"here": rows}, {})
    assert "| ant | 9,000 / 9,000 | 12.3 / 12.3 | 0.1 / 0.1 |" in text
    assert "| ant rest | 9,000 |" in page_batch.page("here", rows, "")


def test_what_is_not_a_figure_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    page.FOLDER.mkdir(parents=True)
    run = tmp_path / "run.json"
    run.write_text(json.dumps([row("ant", "sapwood", 9.0)]))
    assert page.main(["--add", str(run), "--machine", "here"]) == 0
    assert "| ant | sapwood | 9 |" in page.PAGE.read_text()
    (page.FOLDER / "here.csv").write_text("suite,case\nmotion,ant\n")
    assert page.main([]) == 2
    assert "here.csv:2: expected the columns" in capsys.readouterr().err
