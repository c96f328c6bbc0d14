"""Drake behind the face of :mod:`sapwood.bench.engines`."""

from __future__ import annotations

import logging
import math
from typing import Any

import numpy as np

import sapwood as sw
from sapwood.bench.engines import Sample, State, Vector


class Drake:
    """Drake's MultibodyPlant with point contact, in discrete steps or, under an integrator, in continuous time.

    Its defaults otherwise: near-rigid threshold 1, no compliance where the file gives none. It reads neither the time
    step of an MJCF file, nor the springs of its hinges, nor the damping of its position servos; they are given to it
    here.

    Args:
        text: MJCF text of free bodies, balls, and hinges, which may have position servos.
        approximation: ``sap`` or ``lagged``.
        timestep: Time step, s; None: the file's. Under an integrator, what ``step`` advances by.
        integrator: One of Drake's, such as ``runge_kutta3``; None: discrete steps.
        accuracy: Of the integrator, which chooses its steps.
    """

    def __init__(
        self,
        text: str,
        approximation: str,
        timestep: float | None = None,
        integrator: str | None = None,
        accuracy: float = 1e-3,
    ) -> None:
        from pydrake.multibody.parsing import Parser
        from pydrake.multibody.plant import AddMultibodyPlant, MultibodyPlantConfig
        from pydrake.systems.analysis import ApplySimulatorConfig, Simulator, SimulatorConfig
        from pydrake.systems.framework import DiagramBuilder

        # It notes every attribute that it does not know.
        logging.getLogger("drake").setLevel(logging.ERROR)
        self.name = f"drake-{approximation}"
        model = sw.load(text)
        self.timestep = model.timestep if timestep is None else timestep
        builder = DiagramBuilder()
        self._continuous = integrator is not None
        config = MultibodyPlantConfig(
            time_step=0.0 if self._continuous else self.timestep,
            contact_model="point",
            discrete_contact_approximation=approximation,
        )
        self._plant, _ = AddMultibodyPlant(config, builder)
        (instance,) = Parser(self._plant).AddModelsFromString(text, "xml")
        set_servo_gains(self._plant, text)
        add_springs(self._plant, text)
        self._plant.Finalize()
        self._simulator: Any = Simulator(builder.Build())
        if integrator is not None:
            settings = SimulatorConfig(integration_scheme=integrator, accuracy=accuracy, use_error_control=True)
            ApplySimulatorConfig(settings, self._simulator)
        self._context: Any = self._plant.GetMyMutableContextFromRoot(self._simulator.get_mutable_context())
        self._servos = self._plant.get_desired_state_input_port(instance)
        self.controls: Vector = np.tile([-1.0, 1.0], (model.nu, 1))
        self._order(model)
        self.control(np.zeros(model.nu))
        self._initial: State = self.state()

    def _order(self, model: sw.Model) -> None:
        """Where the coordinates of every joint of ours are in Drake's, free bodies as (ours, theirs) of q and v."""
        self._free: list[tuple[int, int, int, int]] = []
        self._hinges: list[tuple[int, int, int, int]] = []
        self._balls: list[tuple[int, int, Any]] = []
        for joint in model.joints:
            if joint.kind == "free":
                body = self._plant.GetBodyByName(model.body_names[joint.body])
                # Drake counts a body's velocities among all coordinates in some versions, among velocities in others.
                v = body.floating_velocities_start_in_v()
                self._free.append((joint.q.start, joint.v.start, body.floating_positions_start(), v))
                continue
            theirs = self._plant.GetJointByName(joint.name)
            if joint.kind == "ball":
                self._balls.append((joint.q.start, joint.v.start, theirs))
            else:
                self._hinges.append((joint.q.start, joint.v.start, theirs.position_start(), theirs.velocity_start()))
        assert self._plant.num_velocities() == model.nv
        self._nq, self._nv = model.nq, model.nv

    def reset(self) -> None:
        """Default pose, at rest."""
        self.restore(self._initial)

    def control(self, ctrl: Vector) -> None:
        """Sets the positions that the servos hold."""
        if self._servos.size():
            self._servos.FixValue(self._context, np.concatenate([ctrl, np.zeros(len(ctrl))]))

    def step(self, n: int) -> None:
        """Advances by n steps."""
        if self._continuous:
            self._simulator.AdvanceTo(self._context_time() + n * self.timestep)
            return
        # Step k happens when time passes k dt, the first at 0: between steps, no round-off adds or drops one.
        done = math.ceil(self._context_time() / self.timestep)
        self._simulator.AdvanceTo((done + n - 0.5) * self.timestep)

    def _context_time(self) -> float:
        return float(self._simulator.get_context().get_time())

    def sample(self) -> Sample:
        """What happened in the last step."""
        results = self._plant.get_contact_results_output_port().Eval(self._context)
        contacts = [results.point_pair_contact_info(i) for i in range(results.num_point_pair_contacts())]
        depth = max((info.point_pair().depth for info in contacts), default=0.0)
        pushing = sum(np.linalg.norm(info.contact_force()) > 0 for info in contacts)
        return Sample(int(pushing), None, max(depth, 0.0), None)

    def state(self) -> State:
        """The present state."""
        return self._simulator.get_context().Clone()

    def restore(self, state: State) -> None:
        """Goes back to a state."""
        self._simulator.get_mutable_context().SetTimeStateAndParametersFrom(state)
        self._simulator.Initialize()

    @property
    def q(self) -> Vector:
        """Positions in MuJoCo's layout."""
        theirs, q = self._plant.GetPositions(self._context), np.empty(self._nq)
        for ours, _, start, _ in self._free:
            q[ours : ours + 3], q[ours + 3 : ours + 7] = theirs[start + 4 : start + 7], theirs[start : start + 4]
        for ours, _, start, _ in self._hinges:
            q[ours] = theirs[start]
        for ours, _, joint in self._balls:
            q[ours : ours + 4] = roll_pitch_yaw(joint.get_angles(self._context)).ToQuaternion().wxyz()
        return q

    @property
    def v(self) -> Vector:
        """Velocities in MuJoCo's layout."""
        theirs, v, q = self._plant.GetVelocities(self._context), np.empty(self._nv), self.q
        for at, ours, _, start in self._free:
            v[ours : ours + 3] = theirs[start + 3 : start + 6]
            v[ours + 3 : ours + 6] = rotation(q[at + 3 : at + 7]).T @ theirs[start : start + 3]
        for _, ours, _, start in self._hinges:
            v[ours] = theirs[start]
        for at, ours, joint in self._balls:
            # Theirs is in the axes of the parent.
            v[ours : ours + 3] = rotation(q[at : at + 4]).T @ joint.get_angular_velocity(self._context)
        return v

    def place(self, q: Vector, v: Vector) -> None:
        """Puts the bodies there, with these velocities."""
        their_q, their_v = np.zeros(self._plant.num_positions()), np.zeros(self._nv)
        for at, ours, q_start, v_start in self._free:
            their_q[q_start : q_start + 4], their_q[q_start + 4 : q_start + 7] = q[at + 3 : at + 7], q[at : at + 3]
            their_v[v_start : v_start + 3] = rotation(q[at + 3 : at + 7]) @ v[ours + 3 : ours + 6]
            their_v[v_start + 3 : v_start + 6] = v[ours : ours + 3]
        for at, ours, q_start, v_start in self._hinges:
            their_q[q_start], their_v[v_start] = q[at], v[ours]
        self._plant.SetPositions(self._context, their_q)
        self._plant.SetVelocities(self._context, their_v)
        for at, ours, joint in self._balls:
            turn = rotation(q[at : at + 4])
            joint.set_angles(self._context, roll_pitch_yaw(turn).vector())
            joint.set_angular_velocity(self._context, turn @ v[ours : ours + 3])


def set_servo_gains(plant: Any, text: str) -> None:  # noqa: ANN401
    """Gives the position servos their damping."""
    from xml.etree import ElementTree

    from pydrake.multibody.tree import PdControllerGains

    for servo in ElementTree.fromstring(text).iter("position"):
        actuator = plant.GetJointActuatorByName(servo.get("name"))
        gains = PdControllerGains(p=float(servo.get("kp", "1")), d=float(servo.get("kv", "0")))
        actuator.set_controller_gains(gains)


def add_springs(plant: Any, text: str) -> None:  # noqa: ANN401
    """Gives the hinges their springs; it has none for balls."""
    from xml.etree import ElementTree

    from pydrake.multibody.tree import RevoluteSpring

    for joint in ElementTree.fromstring(text).iter("joint"):
        stiffness = float(joint.get("stiffness", "0"))
        if stiffness and joint.get("type", "hinge") != "hinge":
            raise ValueError(f"joint {joint.get('name')}: Drake has springs for hinges alone")
        if stiffness:
            hinge = plant.GetJointByName(joint.get("name"))
            plant.AddForceElement(RevoluteSpring(hinge, nominal_angle=0.0, stiffness=stiffness))


def roll_pitch_yaw(turn: Any) -> Any:  # noqa: ANN401
    """Drake's, of a rotation matrix or of the angles themselves."""
    from pydrake.math import RollPitchYaw, RotationMatrix

    return RollPitchYaw(turn if np.ndim(turn) == 1 else RotationMatrix(turn))


def rotation(quaternion: Vector) -> Vector:
    """The matrix of a quaternion w x y z."""
    w, x, y, z = quaternion / np.linalg.norm(quaternion)
    return np.array(
        [
            [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
            [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
            [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
        ]
    )
