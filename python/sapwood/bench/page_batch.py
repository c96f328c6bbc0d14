"""Many worlds on the page of benchmarks, and on a page of their own."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Row = dict[str, str]

PAGE = Path("docs/benchmarks/batch.md")
TITLE = "Many worlds"
REFERENCE = "mujoco-pyramidal"
NOTE = (
    "`sapwood bench batch`: 64 worlds out of step with each other, under random controls over their full range, held "
    "for 25 steps / at rest after settling. Time of a step of one world by `mujoco.rollout` (Newton, Euler, "
    "pyramidal cones), ns, and how many times as fast the others are, in turns of one process; medians. `left` is the "
    "share of steps that f64 lanes left to the solver of one world. More, and what worlds, lanes, threads, resets and "
    "divergence cost: [benchmarks/batch.md](benchmarks/batch.md)."
)


def number(value: str | None, scale: float = 1.0) -> str:
    """Three digits of a number, or a dash."""
    if value is None:
        return "–"
    scaled = scale * float(value)
    return f"{scaled:.3g}" if abs(scaled) < 1000 else f"{scaled:,.0f}"


def table(heads: list[str], lines: list[list[str]]) -> list[str]:
    """A table in Markdown."""
    return [f"| {' | '.join(heads)} |", "|" + " --- |" * len(heads), *[f"| {' | '.join(line)} |" for line in lines]]


def summary(rows: list[Row]) -> list[str]:
    """The section of the page of benchmarks: a line for each case, motion / rest."""
    values = {(r["case"], r["engine"], r["metric"]): r["value"] for r in rows if r["suite"] == "batch"}
    if not values:
        return []
    engines = [name for name in dict.fromkeys(engine for _, engine, _ in values) if name != REFERENCE]
    f64 = [name for name in engines if name.startswith("sapwood f64")][-1:]

    def both(case: str, engine: str, metric: str, scale: float = 1.0) -> str:
        return " / ".join(
            number(values.get((f"{case} {state}", engine, metric)), scale) for state in ("motion", "rest")
        )

    lines = []
    for case in dict.fromkeys(case.rsplit(" ", 1)[0] for case, _, _ in values):
        speeds = [both(case, engine, "speed-up") for engine in engines]
        left = [both(case, engine, "left", 100.0) for engine in f64]
        lines.append([case, both(case, REFERENCE, "time"), *speeds, *left])
    heads = ["case", f"{REFERENCE}, ns", *engines, *["left, %" for _ in f64]]
    return ["", f"## {TITLE}", "", NOTE, "", *table(heads, lines)]


def by_engine(rows: list[Row], suite: str, metric: str, scale: float = 1.0) -> list[str]:
    """A line for each case, a column for each engine that tells this."""
    values = {(r["case"], r["engine"]): r["value"] for r in rows if (r["suite"], r["metric"]) == (suite, metric)}
    engines = list(dict.fromkeys(engine for _, engine in values))
    cases = dict.fromkeys(case for case, _ in values)
    return table(
        ["case", *engines], [[case, *[number(values.get((case, e)), scale) for e in engines]] for case in cases]
    )


def by_metric(rows: list[Row], suite: str) -> list[str]:
    """A line for each case and engine, a column for each metric."""
    of_suite = [row for row in rows if row["suite"] == suite]
    values = {(r["case"], r["engine"], r["metric"]): r["value"] for r in of_suite}
    units = {r["metric"]: r["unit"] for r in of_suite}
    heads = [metric if unit == "1" else f"{metric}, {unit}" for metric, unit in units.items()]
    lines = [
        [case, engine, *[number(values.get((case, engine, metric))) for metric in units]]
        for case, engine in dict.fromkeys((r["case"], r["engine"]) for r in of_suite)
    ]
    return table(["case", "engine", *heads], lines)


Maker = Callable[[list[Row]], list[str]]
SECTIONS: tuple[tuple[str, str, str, Maker], ...] = (
    (
        "batch",
        "Time of a step of one world, ns",
        "`sapwood bench batch`. Medians of turns, of 64 worlds; `sapwood alone` is a `Simulation`; ratios are on "
        "[the page of benchmarks](../benchmarks.md).",
        lambda rows: by_engine(rows, "batch", "time"),
    ),
    (
        "batch",
        "Steps left to the solver of one world, %",
        "They meet the same tolerance.",
        lambda rows: by_engine(rows, "batch", "left", 100.0),
    ),
    (
        "batch",
        "Deepest penetration, mm",
        "In sampled poses, by this package's geometry for all engines.",
        lambda rows: by_engine(rows, "batch", "penetration", 1e3),
    ),
    (
        "batch scaling",
        "Worlds, lanes and threads: time of a step of one world, ns",
        "`sapwood bench batch --scaling`. CPU time of one thread, wall time of several.",
        lambda rows: by_engine(rows, "batch scaling", "time"),
    ),
    (
        "batch scaling",
        "Memory of a world, kB",
        "What the process grows by, over the number of worlds: of few worlds it is what is there once.",
        lambda rows: by_engine(rows, "batch scaling", "memory", 1e-3),
    ),
    (
        "batch scaling",
        "Time to make all worlds, ms",
        "",
        lambda rows: by_engine(rows, "batch scaling", "construction", 1e3),
    ),
    (
        "batch resets",
        "Resets of a tenth of the worlds before every step",
        "One step a call; ns for each of all worlds. What is reset falls, and has fewer contacts.",
        lambda rows: by_metric(rows, "batch resets"),
    ),
    (
        "batch divergence",
        "Worlds that differ beside worlds that are all the same",
        "",
        lambda rows: by_metric(rows, "batch divergence"),
    ),
    (
        "batch million",
        "A million steps of worlds under random controls",
        "`sapwood bench batch --million`.",
        lambda rows: by_metric(rows, "batch million"),
    ),
)


def pages(machines: dict[str, list[Row]], about: dict[str, str]) -> dict[Path, str]:
    """A page of many worlds for every machine that has rows of it, and one that leads to them."""
    made = {machine: page(machine, rows, about.get(machine, "")) for machine, rows in machines.items()}
    found = {PAGE.with_name(f"batch-{machine}.md"): text for machine, text in made.items() if text}
    lines = [
        f"# {TITLE}",
        "",
        "What was measured of [`sw.Batch`](../batch.md), beside MuJoCo in the same process, on each machine:",
        "",
        *[f"* [{path.stem.removeprefix('batch-')}]({path.name})" for path in found],
        "",
        "`python -m sapwood.bench page` makes these pages from the figures beside them.",
    ]
    return {PAGE: "\n".join(lines) + "\n", **found}


def page(machine: str, rows: list[Row], about: str) -> str:
    """The page of many worlds of a machine, empty where it has no rows of it."""
    suites = {row["suite"] for row in rows}
    made = [section for section in SECTIONS if section[0] in suites]
    if not made:
        return ""
    lines = [f"# {TITLE}: {machine}", "", about]
    for _, title, note, make in made:
        lines += ["", f"## {title}", "", *([note, ""] if note else []), *make(rows)]
    return "\n".join(lines).replace("\n\n\n", "\n\n") + "\n"
