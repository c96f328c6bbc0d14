"""Attacks the Python package and the command: ``python attack.py --seconds 60 --seed 3``.

Calls, states and pickles, runs of the command, requests to the viewer, random starts of the models that are
installed, with MuJoCo beside them, and their texts. What may happen is a result or a documented error; all else is
a finding.
``cargo xtask attack`` calls this.
"""

from __future__ import annotations

import argparse
import http.client
import importlib.util
import itertools
import json
import os
import pickle
import random
import signal
import stat
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
from attack_calls import attack_calls

import sapwood as sw

# Of the command: done, failed, bad input, ended by a signal.
CODES = (0, 1, 2, 129, 130, 143)
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
OUTPUTS = ("summary.json", "energy.svg", "replay.html", "trajectory.npz")
# Steps of a start, and degrees of freedom of models that are tried.
STEPS, MAX_DOFS = 60, 120
WORLD = """<mujoco model="{name}"><worldbody><geom type="plane" size="0 0 1"/>
<body name="{name}" pos="0 0 .2"><freejoint/><geom size=".1"/>
<body pos="0 0 .2"><joint name="j{name}"/><geom size=".05"/></body></body>
</worldbody><actuator><motor joint="j{name}"/></actuator></mujoco>"""

Part = Callable[[random.Random, Path], Iterator[str | None]]
"""A case each: None, or what was found."""


def calls(rng: random.Random, _: Path) -> Iterator[str | None]:
    """Calls of the API, 100 in a process."""
    while True:
        result = attack_calls(rng.randrange(1 << 30), 100, patience=0.1)
        yield from result["findings"]
        yield from [None] * result["made"]


def damaged(rng: random.Random, content: bytes) -> bytes:
    """Bytes that are cut short, longer, or changed in some places."""
    how = rng.randrange(4)
    if how == 0:
        return content[: rng.randrange(len(content))]
    if how == 1:
        return content + rng.randbytes(rng.randrange(1, 100))
    changed = bytearray(content)
    for _ in range(rng.choice([1, 1, 5, 100])):
        at = rng.randrange(min(len(changed), 200) if how == 2 else len(changed))
        changed[at] = rng.randrange(256)
    return bytes(changed)


def states(rng: random.Random, _: Path) -> Iterator[str | None]:
    """States that are damaged or of another model: refused, or finite ones; nothing changes where they are refused."""
    own, foreign = (sw.Simulation(sw.load(WORLD.format(name=name))) for name in ("own", "foreign"))
    batch = sw.Batch(own.model, 2)
    while True:
        own.step(rng.randrange(20))
        before, other = own.state(), foreign.state()
        content = rng.choice([before, before, other])
        given = content if content is other else damaged(rng, content)
        name = rng.choice(["restore", "set_state"])
        try:
            if name == "restore":
                own.restore(given)
            else:
                batch.set_state(0, given)
        except ValueError as error:
            yield None if str(error) and own.state() == before else f"{name}: changed by what it has refused: {error}"
        except Exception as error:
            yield f"{name}: {type(error).__name__}: {error}"
        else:
            yield "a state of another model was taken" if content is other else None
        own.restore(before)
        pickled = damaged(rng, pickle.dumps(own.model))
        try:
            pickle.loads(pickled)
        # Bytes of a pickle may ask for anything: its own errors are as many as there are. For an array of bytes that
        # does not fit into memory CPython itself writes "SystemError: deallocated bytearray object has exported
        # buffers" to standard error: pickle.loads(b"\x96" + (1 << 60).to_bytes(8, "little")) is enough.
        except Exception as error:
            yield f"pickle: {error}" if "panic" in type(error).__name__.lower() else None
        else:
            yield None


def environments(rng: random.Random, _: Path) -> Iterator[str | None]:
    """States of vector environments."""
    from sapwood.gym import HopperVectorEnv

    envs = HopperVectorEnv(num_envs=2)
    envs.reset(seed=1)
    whole = envs.state()
    while True:
        try:
            envs.restore(damaged(rng, whole))
        except ValueError as error:
            yield None if envs.state() == whole or str(error) else "no message"
        except Exception as error:
            yield f"a vector environment's state: {type(error).__name__}: {error}"
        else:
            yield None
        envs.restore(whole)


def odd_place(rng: random.Random, place: Path) -> None:
    """Something at a place that is no regular file."""
    kind = rng.choice(["folder", "pipe", "/dev/full", "/dev/null", "nowhere", "old"])
    if kind == "folder":
        place.mkdir()
    elif kind == "pipe":
        os.mkfifo(place)
    elif kind == "old":
        place.write_text("old")
    else:
        place.symlink_to(kind if kind.startswith("/") else place.parent / "no" / "such")


def commands(rng: random.Random, folder: Path) -> Iterator[str | None]:
    """Runs of the command with odd outputs, full disks, closed pipes and signals."""
    for number in range(1 << 30):
        out = folder / f"run-{number}"
        out.mkdir()
        for name in rng.sample(OUTPUTS, rng.choice([0, 0, 1, 2])):
            odd_place(rng, out / name)
        words = rng.choice(
            [
                ["run", "@humanoid", "--time", rng.choice(["0.05", "1e5"]), "--out", str(out)],
                ["info", "@dog", *rng.choice([[], ["--json"]])],
                ["write", "@tower-3", str(out / "model.xml")],
                ["run", rng.choice(["@nobody", "/dev/zero", str(out)]), "--time", "0.01"],
            ]
        )
        stdout = rng.choice([None, "/dev/full", "/dev/null"])
        command = [sys.executable, "-m", "sapwood", *words]
        limit = rng.choice([None, None, "ulimit -f 8; "])
        if limit:
            command = ["sh", "-c", limit + 'exec "$@"', "sh", *command]
        with Path(stdout or "/dev/null").open("w") as target:
            taken: Any = target if stdout else subprocess.PIPE
            child = subprocess.Popen(command, stdout=taken, stderr=subprocess.PIPE, cwd=folder)
        is_endless = "1e5" in words
        if is_endless or rng.random() < 0.2:
            time.sleep(rng.uniform(0.0, 1.5))
            # After `nohup` the command ignores what it is to ignore.
            child.send_signal(rng.choice([sent for sent in SIGNALS if signal.getsignal(sent) != signal.SIG_IGN]))
        try:
            _, said = child.communicate(timeout=60)
        except subprocess.TimeoutExpired:
            child.kill()
            _, said = child.communicate()
            yield f"{words}: does not end\n{said.decode(errors='replace')}"
            continue
        text = said.decode(errors="replace")
        # Before the command listens, signals end it as they end any process.
        is_ended = child.returncode in CODES or -child.returncode in [int(sent) for sent in SIGNALS]
        if not is_ended or "panicked" in text or (child.returncode == 2 and not text):
            yield f"{words}: ended with {child.returncode}: {text[-2000:]}"
            continue
        yield left_behind(out, words)


def left_behind(out: Path, words: list[str]) -> str | None:
    """What is wrong with the files in a folder after a run."""
    for path in out.iterdir():
        if path.name.endswith(".part"):
            return f"{words}: {path.name} was left behind"
        if path.name == "summary.json" and stat.S_ISREG(path.lstat().st_mode) and path.read_text() != "old":
            try:
                json.loads(path.read_text())
            except ValueError as error:
                return f"{words}: {path.name} is not whole: {error}"
    return None


def requests(rng: random.Random, _: Path) -> Iterator[str | None]:
    """Requests to the viewer, and values that no slider and no pointer can have."""
    if importlib.util.find_spec("viser") is None:
        return
    sim = sw.Simulation(sw.load(WORLD.format(name="seen")))
    with sw.view(sim, run=False, port=8830) as viewer:
        port = viewer.server.get_port()
        token = viewer.url.rpartition("/")[2]
        own = f"localhost:{port}"
        numbers = (0.0, 1e6, -1e300, float("nan"), float("inf"), "1", None, [1.0])
        while True:
            path = rng.choice(
                [f"/{token}", f"/{token[:-1]}", "/", f"/?token={token}", f"//{token}", "/%2e%2e/" + token]
            )
            host, origin = (
                rng.choice([own, "evil.example", "[", ""]),
                rng.choice([None, f"http://{own}", "http://evil", "null"]),
            )
            may = path == f"/{token}" and host == own and origin in (None, f"http://{own}")
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
            connection.putrequest("GET", path, skip_host=True)
            connection.putheader("Host", host)
            if origin is not None:
                connection.putheader("Origin", origin)
            for name, value in rng.choice([{}, {"Upgrade": "websocket", "Connection": "Upgrade"}]).items():
                connection.putheader(name, value)
            connection.endheaders()
            status = connection.getresponse().status
            connection.close()
            yield f"{path} with Host {host} and Origin {origin}: {status}" if status == 200 and not may else None
            bound = rng.choice(viewer.panel.bound)
            bound.slider._impl.value = rng.choice(numbers)
            bound._moved(SimpleNamespace(client=0))
            pull = [
                [rng.choice([0.0, 0.3, 1e200, float("nan")]) for _ in range(rng.choice([3, 3, 1]))] for _ in range(2)
            ]
            phase = rng.choice(["start", "update", "end"])
            viewer.dragged(1, SimpleNamespace(phase=phase, start_position=pull[0], end_position=pull[1]))
            viewer._carry_out()
            if viewer.drag is not None:
                viewer.drag.apply()
            sim.step(3)
            is_within = abs(float(sim.ctrl[0])) <= 1.0 and bool(np.isfinite(sim.q).all())
            yield None if is_within else f"a client moved a control to {sim.ctrl[0]}, positions to {sim.q}"


def installed_models(rng: random.Random) -> Iterator[tuple[Path, sw.Model, Any]]:
    """Models of installed packages that both engines read, one after the other, without end."""
    import mujoco

    folder = Path(mujoco.__file__).parents[1]
    paths = sorted(
        {*folder.glob("dm_control/**/*.xml"), *folder.glob("gymnasium/**/*.xml"), *folder.glob("mujoco/**/*.xml")}
    )
    read: dict[Path, tuple[sw.Model, Any] | None] = {}
    while paths:
        path = rng.choice(paths)
        if path not in read:
            try:
                ours, theirs = sw.load(path), mujoco.MjModel.from_xml_path(str(path))
                is_tried = 0 < ours.nv <= MAX_DOFS and ours.nv == theirs.nv and ours.nq == theirs.nq
                read[path] = (ours, theirs) if is_tried else None
            except (ValueError, sw.ModelError):
                read[path] = None
        pair = read[path]
        if pair is not None:
            yield path, *pair
        elif not any(read.get(other, True) for other in paths):
            return


def starts(rng: random.Random, _: Path) -> Iterator[str | None]:
    """Random starts of installed models: ours goes on wherever MuJoCo does, and to finite states."""
    if importlib.util.find_spec("mujoco") is None:
        return
    import mujoco

    for path, ours, theirs in installed_models(rng):
        sim, data = sw.Simulation(ours), mujoco.MjData(theirs)
        draw = np.random.default_rng(rng.randrange(1 << 30))
        data.qvel[:] = sim.v[:] = draw.normal(0, 0.5, ours.nv)
        lost = ""
        try:
            sim.step(STEPS)
        except sw.SimulationError as error:
            lost = str(error)
        for _step in range(STEPS):
            mujoco.mj_step(theirs, data)
        is_theirs_lost = any(warning.number for warning in data.warning) or not np.isfinite(data.qpos).all()
        if not np.isfinite(sim.q).all():
            yield f"{path}: a state that is not finite"
        elif lost and not is_theirs_lost:
            yield f"{path}: lost where MuJoCo goes on: {lost}"
        else:
            yield None


def round_trips(rng: random.Random, folder: Path) -> Iterator[str | None]:
    """Models of installed packages as text: read back, it is written the same once more, and MuJoCo takes it."""
    if importlib.util.find_spec("mujoco") is None:
        return
    import mujoco

    packages = Path(mujoco.__file__).parents[1]
    paths = sorted(path for end in ("xml", "urdf") for path in packages.glob(f"**/*.{end}"))
    paths = [path for path in paths if path.stat().st_size < 1 << 20]
    for case in itertools.count():
        if not paths:
            return
        path = paths.pop(rng.randrange(len(paths)))
        # Files beside a text are named after it, and MuJoCo keeps pictures by their paths: each case has its own.
        place, other_place = (folder / f"{part}_{case}" / "model.xml" for part in ("first", "again"))
        for of in (place, other_place):
            of.parent.mkdir()
        try:
            model = sw.load(path)
            text = model.to_mjcf(place)
        except (ValueError, sw.ModelError):
            yield None
            continue
        try:
            again = sw.load(place).to_mjcf(other_place)
            mujoco.MjModel.from_xml_path(str(place))
        except (ValueError, sw.ModelError) as error:
            yield f"{path}: its text is refused: {error}"
            continue
        lines = zip(text.splitlines(), again.splitlines(), strict=False)
        other = next((pair for pair in lines if pair[0] != pair[1]), None)
        yield None if text == again else f"{path}: its text, read and written: {other}"


PARTS: tuple[Part, ...] = (calls, states, environments, commands, requests, starts, round_trips)


def attack(part: Part, seed: int, seconds: float) -> tuple[int, list[str]]:
    """Makes cases of a part for some time: their number, and what was found."""
    end, made, findings = time.monotonic() + seconds, 0, []
    with tempfile.TemporaryDirectory() as folder:
        cases = part(random.Random(f"{part.__name__} {seed}"), Path(folder))
        try:
            for finding in cases:
                made += 1
                if finding is not None:
                    findings.append(finding)
                    print(f"FINDING: {part.__name__}, seed {seed}, case {made}: {finding}", flush=True)
                if time.monotonic() > end or len(findings) >= 20:
                    break
        finally:
            getattr(cases, "close", lambda: None)()
    return made, findings


def main() -> int:
    """Attacks with all parts, and says what came of it; the exit code."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--part", choices=[part.__name__ for part in PARTS], help="this one alone")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    # Shells have what they start in the background ignore Ctrl-C, and all that this starts would ignore it, too.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    chosen = [part for part in PARTS if arguments.part in (None, part.__name__)]
    rows = {part.__name__: attack(part, arguments.seed, arguments.seconds / len(chosen)) for part in chosen}
    for name, (made, findings) in rows.items():
        print(f"{name}: seed {arguments.seed}, {made} cases, {len(findings)} findings")
    return int(any(findings for _, findings in rows.values()))


if __name__ == "__main__":
    sys.exit(main())
