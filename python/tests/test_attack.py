"""A thousand calls of the API with arguments that fit and that do not: results or documented errors, no crash."""

from __future__ import annotations

import inspect
import random
import sys
from pathlib import Path
from typing import Any

import attack
import numpy as np
import pytest
from api_targets import targets
from attack_calls import attack_calls

import sapwood as sw
from sapwood._sapwood import Assembly


@pytest.mark.parametrize("seed", [1, 2])
def test_calls_give_results_or_documented_errors(seed: int) -> None:
    result = attack_calls(seed, 500, patience=0.1, limit=60.0)
    assert result["findings"] == []
    came = [outcome for counts in result["outcomes"].values() for outcome in counts]
    # Otherwise it is the arguments that are wrong.
    assert came.count("result") > 100
    assert came.count("ValueError") > 30


@pytest.mark.parametrize(
    "part", [part for part in attack.PARTS if part is not attack.calls], ids=lambda part: part.__name__
)
def test_attacks_find_nothing(part: attack.Part) -> None:
    made, findings = attack.attack(part, seed=1, seconds=3.0)
    assert findings == []
    assert made > 0


def made_findings(part: attack.Part, seconds: float = 20.0) -> list[str]:
    return attack.attack(part, seed=3, seconds=seconds)[1]


def test_an_open_door_of_the_viewer_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("viser")
    from sapwood.viewer import _guard

    monkeypatch.setattr(_guard.Guard, "refusal", lambda *_: None)
    assert any("with Host" in finding for finding in made_findings(attack.requests))


def test_values_that_are_not_checked_are_found(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("viser")
    from sapwood.viewer import _panel

    # Three times the limit: what stops the simulation would end the attack.
    def too_wide(value: Any, limits: tuple[float, float], use: Any) -> None:
        if isinstance(value, float) and np.isfinite(value):
            use(min(max(value, 3.0 * limits[0]), 3.0 * limits[1]))

    monkeypatch.setattr(_panel, "within", too_wide)
    assert any("a client moved a control" in finding for finding in made_findings(attack.requests))


def test_an_undocumented_error_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    from sapwood.gym import HopperVectorEnv

    whole = HopperVectorEnv.restore

    def restore(env: HopperVectorEnv, state: Any) -> None:
        try:
            whole(env, state)
        except ValueError as error:
            raise KeyError("q") from error

    monkeypatch.setattr(HopperVectorEnv, "restore", restore, raising=True)
    assert any("KeyError" in finding for finding in made_findings(attack.environments))


def test_what_a_run_leaves_behind_is_found(tmp_path: Path) -> None:
    assert attack.left_behind(tmp_path, ["run"]) is None
    (tmp_path / "summary.json").write_text('{"steps": 1')
    assert "is not whole" in (attack.left_behind(tmp_path, ["run"]) or "")
    (tmp_path / "summary.json").write_text("old")
    assert attack.left_behind(tmp_path, ["run"]) is None
    (tmp_path / "replay.html.part").touch()
    assert "was left behind" in (attack.left_behind(tmp_path, ["run"]) or "")


def test_a_seed_makes_the_same_damage_again() -> None:
    content = bytes(range(256)) * 4
    for seed in range(20):
        one, two = (attack.damaged(random.Random(seed), content) for _ in range(2))
        assert one == two
    assert len({attack.damaged(random.Random(seed), content) for seed in range(20)}) > 15


def test_everything_public_has_a_signature_and_a_docstring() -> None:
    # `targets` asks for all signatures; the other half of the builder is not public.
    public = [target for target in targets() if target.owner is not Assembly and target.kind != "set"]
    assert len(public) > 400
    without = []
    for target in public:
        owner = sys.modules[target.label.rpartition(".")[0]] if target.owner is None else target.owner
        documented = target.owner if target.kind == "new" else inspect.getattr_static(owner, target.name)
        if not documented.__doc__:
            without.append(target.label)
    assert without == []


def test_reprs_are_short_and_say_what_it_is() -> None:
    sim = sw.Simulation(sw.scenes.tower(2))
    batch = sw.Batch(sim.model, 2, contacts=True, threads=1)
    sim.step(10)
    batch.step(10)
    things = [sim, sim.model, sim.parameters, sim.bodies, sim.body(1), sim.geom(0), sim.stats, sim.step_jacobians()]
    things += [
        batch,
        batch.contacts,
        batch.contacts.padded(),
        batch.parameters(0),
        sim.record(),
        sw.Renderer(sim.model),
    ]
    for thing in things:
        text = repr(thing)
        assert type(thing).__name__.removesuffix("View").lower() in text.lower() or "bodies" in text, text
        assert " at 0x" not in text
        assert len(text) < 700, text
    assert repr(sim) == '<sapwood.Simulation of "tower-2" at 0.05 s>'
