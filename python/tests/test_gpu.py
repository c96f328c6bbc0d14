"""Batches on a GPU. Where there is none the same kernels run on the host, whose C++ compiler compiles them."""

from __future__ import annotations

import operator
import os
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from operator import attrgetter
from typing import Any, cast

import numpy as np
import pytest
from batches import WALKER

import sapwood as sw

pytestmark = pytest.mark.skipif(
    shutil.which(os.environ.get("CXX", "c++")) is None, reason="no C++ compiler for the kernels"
)


@pytest.fixture(scope="module")
def model() -> sw.Model:
    return sw.load(WALKER)


def make(model: sw.Model, n: int, **options: Any) -> sw.DeviceBatch:
    batch: Any = sw.Batch(model, n, device="host", **options)
    assert isinstance(batch, sw.DeviceBatch)
    return batch


def test_worlds_move_as_on_the_processor(model: sw.Model) -> None:
    ours, other = make(model, 4, precision="f64"), sw.Batch(model, 4)
    rng = np.random.default_rng(0)
    velocities = rng.normal(scale=0.3, size=(4, model.nv))
    ours.v, other.v = velocities, velocities
    for _ in range(5):
        controls = rng.uniform(-0.3, 0.3, (4, model.nu))
        ours.ctrl, other.ctrl = controls, controls
        ours.step(4)
        other.step(4)
    np.testing.assert_allclose(ours.q.numpy(), other.q, atol=1e-9)
    np.testing.assert_allclose(ours.time.numpy(), other.time, atol=1e-12)
    assert ours.status.numpy()[:, 6].tolist() == [20] * 4


def test_arrays_are_views(model: sw.Model) -> None:
    batch = make(model, 3)
    q, status = np.from_dlpack(batch.q), np.from_dlpack(batch.status)
    assert q.shape == (3, model.nq)
    assert (str(q.dtype), str(status.dtype)) == ("float32", "int32")
    assert (batch.q.shape, batch.q.dtype, len(batch.q)) == ((3, model.nq), "float32", 3)
    before = q.copy()
    batch.step()
    assert not np.array_equal(q, before)
    np.testing.assert_array_equal(np.asarray(batch.q), q)
    assert not hasattr(batch.q, "__cuda_array_interface__")
    del batch
    # A view keeps its batch alive.
    assert np.isfinite(q).all()


def test_worlds_are_reset_by_mask(model: sw.Model) -> None:
    batch = make(model, 3, precision="f64")
    start = batch.q.numpy()
    batch.step(10)
    moved = batch.q.numpy()
    batch.reset(mask=[False, True, False])
    np.testing.assert_array_equal(batch.q.numpy()[1], start[1])
    np.testing.assert_array_equal(batch.q.numpy()[0], moved[0])
    batch.reset(mask=[2], states=(start[:1] + 0.0, np.ones((1, model.nv))))
    assert batch.v.numpy()[2].tolist() == [1.0] * model.nv
    assert batch.status.numpy()[:, 6].tolist() == [10, 0, 0]


def test_worlds_are_reset_to_keyframes(model: sw.Model) -> None:
    ours, other = make(model, 3, precision="f64"), sw.Batch(model, 3)
    for batch in (ours, other):
        batch.step(10)
        batch.reset(mask=[False, True, True], keyframe="high")
    for name in ("q", "v", "ctrl", "time"):
        np.testing.assert_allclose(getattr(ours, name).numpy(), getattr(other, name), atol=1e-9, err_msg=name)


def test_worlds_have_parameters_of_their_own(model: sw.Model) -> None:
    ours, other = make(model, 3, precision="f64"), sw.Batch(model, 3)
    for batch in (ours, other):
        batch.parameters.masses[1] *= 1.5
        batch.set_parameters(worlds=[2], gravity=[0, 0, -3], frictions=np.full(model.ngeom, 0.2))
        batch.v = np.full((3, model.nv), 0.3)
        batch.step(60)
    np.testing.assert_allclose(ours.q.numpy(), other.q, atol=1e-9)
    assert np.abs(ours.q.numpy()[1:] - ours.q.numpy()[0]).max() > 1e-3
    for world in (2, -1):
        assert ours.parameters(world).gravity.tolist() == [0, 0, -3]
    ours.parameters.reset()
    np.testing.assert_array_equal(ours.parameters.masses[1], ours.parameters.masses[0])
    with pytest.raises(IndexError, match="the batch has 3 worlds"):
        ours.parameters(3)
    ours.parameters.masses[1, 1] = -1
    with pytest.raises(ValueError, match=r"world 1: parameters.masses\[1\] is -1: expected"):
        ours.step()
    ours.step()


def test_sensors_show_what_they_show_on_the_processor(model: sw.Model) -> None:
    sensed = sw.load(
        WALKER.replace('size="0.1"/>', 'size="0.1"/><site name="imu" pos="0 0 0.2"/>', 1)
        .replace(
            "<keyframe>",
            '<sensor><gyro site="imu"/><accelerometer site="imu"/><framequat objtype="site" objname="imu"/>'
            '<jointpos joint="hip1"/><actuatorfrc actuator="1"/></sensor><keyframe>',
        )
        .replace('<motor joint="knee1"', '<motor name="1" joint="knee1"')
    )
    ours, other = make(sensed, 2, precision="f64"), sw.Batch(sensed, 2)
    assert ours.sensordata.shape == (2, sensed.nsensordata)
    for batch in (ours, other):
        batch.ctrl = np.full((2, 4), 0.3)
        batch.step(30)
    np.testing.assert_allclose(ours.sensordata.numpy(), other.sensordata, atol=1e-6)


def test_pd_control_holds(model: sw.Model) -> None:
    ours, other = make(model, 2, precision="f64"), sw.Batch(model, 2)
    target = np.array(other.q)
    for batch in (ours, other):
        # These stay when the kernels are made anew.
        batch.set_parameters(worlds=[1], gravity=[0, 0, -3])
        batch.step(10)
        batch.pd(np.full(model.nv, 20.0), np.full(model.nv, 2.0), target, effort_limit=np.full(model.nv, 5.0))
        batch.step(20)
    np.testing.assert_allclose(ours.q.numpy(), other.q, atol=1e-9)
    assert ours.pd_target.shape == (2, model.nq)
    assert ours.parameters(1).gravity.tolist() == [0, 0, -3]
    view = np.from_dlpack(ours.pd_target)
    ours.end_pd()
    _others = [np.full(view.size, 7.0) for _ in range(1000)]
    np.testing.assert_array_equal(view, target)  # its memory is still there
    with pytest.raises(ValueError, match="call pd first"):
        _ = ours.pd_target


def test_what_is_not_there_says_so(model: sw.Model) -> None:
    batch = make(model, 2)
    cases: list[tuple[Callable[[], object], type[Exception], str]] = [
        (lambda: sw.Batch(model, 2, device="tpu"), ValueError, 'expected "cpu", "cuda"'),
        (lambda: sw.Batch(model, 2, device=cast("str", 0)), ValueError, 'device is 0: expected "cpu", "cuda"'),
        (lambda: batch.step(1, stream=-1), ValueError, "stream is -1: expected an address"),
        (lambda: sw.Batch(model, 0, device="host"), ValueError, "expected 1 or more worlds"),
        (lambda: sw.Batch(model, 2, device="host", threads=2), ValueError, 'device="cpu"'),
        (lambda: sw.Batch(model, 2, device="host", scheme="midpoint"), NotImplementedError, 'device="cpu"'),
        (lambda: sw.Batch(model, 2, rows=3), ValueError, "rows"),
        (lambda: setattr(batch, "q", np.zeros((2, 2))), ValueError, "expected"),
        (lambda: attrgetter("contacts")(batch), AttributeError, 'device="cpu"'),
        (lambda: batch.step(-1), ValueError, "expected 0 or more"),
        (lambda: batch.step(10**10), ValueError, "k is 10000000000: expected at most"),
        (lambda: batch.step(1, stream="default"), TypeError, "stream is of .*torch.cuda.current_stream"),
        (lambda: sw.Batch(model, 10**12, device="host"), ValueError, "n is 1000000000000: expected at most"),
        (lambda: sw.Batch(model, 2, device="host", rows=0), ValueError, "rows: expected 1 to 96"),
        (lambda: sw.Batch(model, 2, device="host", rows=-3), ValueError, "rows: expected 1 to 96"),
        (lambda: setattr(batch, "q", np.zeros((2, model.nq))), ValueError, r"q\[0\].*quaternion"),
        (lambda: batch.q[0], TypeError, "from_dlpack"),
        (lambda: operator.setitem(cast("Any", batch.ctrl), 0, 1.0), TypeError, "from_dlpack"),
        (lambda: attrgetter("qpos")(batch), AttributeError, r"qpos of MuJoCo is sim\.q"),
        (lambda: attrgetter("mocap_positions")(batch), AttributeError, 'device="cpu"'),
        (lambda: batch.reset(keyframe="home"), ValueError, "home"),
        (lambda: batch.reset("home"), ValueError, r"reset\(keyframe='home'\)"),
        (lambda: batch.reset([1, 1]), ValueError, "world 1 twice"),
        (lambda: batch.reset([0], states=(np.zeros((1, model.nq)), np.zeros(model.nv))), ValueError, "quaternion"),
        (lambda: batch.set_parameters(geom_sizes=np.ones((model.ngeom, 3))), NotImplementedError, "geom_sizes"),
        (lambda: batch.set_parameters([1], contypes=np.full(model.ngeom, 4)), NotImplementedError, "world 1: contypes"),
    ]
    for call, error, words in cases:
        with pytest.raises(error, match=words):
            call()


def test_batches_of_one_model_are_stepped_by_several_threads(model: sw.Model) -> None:
    alone, batches = make(model, 20), [make(model, 20) for _ in range(4)]
    alone.step(200)
    with ThreadPoolExecutor(len(batches)) as pool:
        list(pool.map(lambda batch: batch.step(200), batches))
    for batch in batches:
        np.testing.assert_array_equal(batch.q.numpy(), alone.q.numpy())


def test_quaternions_of_any_length_show_as_unit_ones() -> None:
    sensor = '<sensor><framexaxis objtype="xbody" objname="torso"/></sensor>'
    batch = make(sw.load(WALKER.replace("<keyframe>", f"{sensor}<keyframe>")), 1, precision="f64")
    q = batch.q.numpy()
    q[0, 3:7] = [1.5, 0.0, 0.0, 1.5]
    batch.q = q
    np.testing.assert_allclose(batch.sensordata.numpy()[0], [0, 1, 0], atol=1e-12)
    # Looking changes nothing.
    assert batch.q.numpy()[0, 3] == 1.5


def test_without_a_gpu_one_sentence_says_what_is_missing(model: sw.Model) -> None:
    try:
        batch: Any = sw.Batch(model, 2, device="cuda")
    except RuntimeError as error:
        assert "NVIDIA" in str(error) or "NVRTC" in str(error) or "CUDA" in str(error)  # noqa: PT017
        assert "\n" not in str(error)  # noqa: PT017
    else:
        assert batch.q.__cuda_array_interface__["shape"] == (2, model.nq)
