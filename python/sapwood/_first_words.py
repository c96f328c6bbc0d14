"""What users of other engines type first, and what it is called here: in messages, and in ``docs/coming-from``.

``python python/documentation/first_words.py`` writes the tables into the pages.
"""

from __future__ import annotations

import functools
import importlib.util
import re
from typing import TypeVar

from sapwood._errors import did_you_mean, quoted
from sapwood._guesses import ATTRIBUTES, SETTINGS, meant_arguments

MUJOCO = {
    "MjModel.from_xml_path(p)": "sw.load(p)",
    "MjModel.from_xml_string(s)": "sw.load(s)",
    "MjData(m)": "sw.Simulation(model, timestep=…)",
    "MjModel": "sw.load",
    "mj_step(m, d, n)": "sim.step(n)",
    "mj_step1": "sim.step()",
    "mj_step2": "sim.step()",
    "mj_forward": "sim.forward(), for accelerations and forces; all else is of the present state anyway",
    "mj_kinematics": "not needed",
    "mj_resetData": "sim.reset()",
    "mj_resetDataKeyframe(m, d, k)": "sim.reset(k), by index or name",
    "d.qpos": "sim.q",
    "d.qvel": "sim.v",
    "d.qacc": "sim.acceleration",
    "d.ctrl": "sim.ctrl",
    "d.act": "sim.act",
    "d.time": "sim.time",
    "d.qfrc_applied": "sim.applied_force",
    "d.xfrc_applied": "sim.applied_wrench (torque first)",
    "d.body(b).xpos": "sim.body(b).position",
    "xquat": "sim.body(b).quaternion",
    "xmat": "sim.body(b).rotation",
    "xipos": "sim.body(b).com",
    "cvel": "sim.body(b).velocity",
    "geom_xpos": "sim.geom_positions",
    "site_xpos": "sim.site_positions",
    "site_xmat": "sim.site(s).rotation",
    "d.subtree_com": "sim.center_of_mass()",
    "d.energy": "sim.energy()",
    "d.qfrc_actuator": "sim.actuation_forces",
    "d.actuator_force": "sim.actuator_forces",
    "d.qfrc_passive": "sim.passive_forces",
    "d.qfrc_constraint": "sim.constraint_forces",
    "d.qfrc_bias": "model.bias_forces(q, v)",
    "mj_fullM": "model.mass_matrix(q)",
    "qM": "model.mass_matrix(q)",
    "d.sensordata": "sim.sensordata",
    "d.sensor(s).data": "sim.sensor(s).value",
    "d.contact": "sim.contact_forces()",
    "d.ncon": "sim.stats.contacts",
    "mj_contactForce": "sim.contact_forces(), force in world axes",
    "cfrc_ext": "sim.contact_forces(), sim.body_contact_forces",
    "ten_length": "sim.tendon_lengths",
    "actuator_length": "sim.actuator(a).length",
    "mj_jacBody": "sim.jacobian(b)",
    "mj_jacSite": "sim.jacobian(site=s)",
    "mj_jac": "sim.jacobian(b, point=p)",
    "mj_jacDot": "sim.bias_acceleration(b, point=p), J̇ v",
    "mj_inverse": "sim.inverse_dynamics(a), what must be added to the forces that act",
    "mj_integratePos": "model.integrate(q, dv)",
    "mj_differentiatePos": "model.difference(q0, q1)",
    "mj_getState": "sim.state(), sim.state(as_array=True)",
    "mj_setState": "sim.restore(state)",
    "mj_copyData": "sim.restore(state)",
    "mjd_transitionFD": "sim.step_jacobians(), sim.sensor_jacobians()",
    "mj_ray": "sim.ray(origin, direction)",
    "mj_geomDistance": "sim.distance(a, b)",
    "mj_name2id": "model.body_index(name), joint_index, …",
    "mj_id2name": "model.body_names[i], joint_names, …",
    "mj_saveLastXML": "model.to_mjcf(path)",
    "m.opt.timestep": "sim.timestep, model.timestep",
    "m.opt": "sim.options, model.timestep, model.gravity",
    "m.opt.gravity": "sim.parameters.gravity",
    "setConst": "not needed",
    "mj_setConst": "not needed",
    "m.body_mass": "model.body_masses; to change, sim.parameters.masses",
    "m.body_inertia": "sim.body(b).inertia; to change, sim.parameters.inertias, about axes of the body",
    "m.body_ipos": "sim.parameters.coms",
    "m.body_parentid": "model.body_parents",
    "m.geom_bodyid": "model.geom_bodies",
    "m.geom_friction": "sim.parameters.frictions",
    "m.geom_solref": "sim.parameters.solref",
    "m.geom_solimp": "sim.parameters.solimp",
    "m.pair_friction": "sim.parameters.pair_frictions",
    "m.pair_solref": "sim.parameters.pair_solref",
    "m.pair_solimp": "sim.parameters.pair_solimp",
    "m.jnt_solref": "sim.parameters.limit_solref",
    "m.jnt_solimp": "sim.parameters.limit_solimp",
    "m.geom_size": "sim.parameters.geom_sizes",
    "m.geom_pos": "sim.parameters.geom_positions",
    "m.site_bodyid": "model.site_bodies",
    "m.dof_damping": "sim.parameters.damping",
    "m.dof_armature": "model.armature; to change, sim.parameters.armature",
    "m.dof_frictionloss": "sim.parameters.frictionloss",
    "m.jnt_stiffness": "sim.parameters.stiffness",
    "m.jnt_axis": "sim.parameters.joint_axes",
    "m.jnt_pos": "sim.parameters.joint_anchors",
    "m.actuator_group": "model.actuator_groups",
    "m.jnt_range": "sim.parameters.joint_ranges",
    "m.jnt_qposadr": "model.joints[i].q",
    "m.jnt_dofadr": "model.joints[i].v",
    "m.njnt": "model.njoint",
    "m.jnt_type": "model.joints[i].kind",
    "m.actuator_ctrlrange": "model.ctrl_range",
    "m.actuator_forcerange": "model.force_range",
    "m.actuator_gainprm": "sim.parameters.gains",
    "m.actuator_biasprm": "sim.parameters.kp, .kv",
    "m.qpos0": "model.keyframe().q",
    "m.key_qpos": "model.keyframe(k).q",
    "m.nkey": "len(model.keyframe_names)",
    "m.na": "len(sim.act)",
    "m.ntendon": "len(model.tendon_names)",
    "m.ncam": "len(model.camera_names)",
    "m.neq": "len(model.equality_names)",
    "m.sensor_adr": "model.sensor_addresses",
    "MjSpec": "sw.ModelBuilder",
    "d.eq_active": "sim.equality_active, sim.equality(name).active",
    "m.eq_data": "sim.equality(name).anchors; its attach takes the present pose",
    "m.geom_contype": "sim.geom(g).contype, sim.parameters.contypes",
    "d.mocap_pos": "sim.mocap_positions, sim.body(b).position = …",
    "d.mocap_quat": "sim.mocap_quaternions, sim.body(b).quaternion = …",
    "mujoco.Renderer(m).render()": "sim.render(width, height), without OpenGL",
    "mujoco.viewer.launch_passive(m, d)": "sw.view(sim, run=False)",
    "viewer.launch": "sw.view(sim)",
    "mjv_initGeom": "sim.markers.sphere(place), sim.markers.arrow(place, origin), sim.markers.frame(place)",
    "viewer.user_scn": "sim.markers",
    "rollout": "sw.Batch",
    "mjx": "sw.Batch, on the CPU",
    "put_model": "sw.Batch(model, n)",
    "integrator=": "scheme=",
    "cone=": "contact=",
    "iterations=": "factorization_budget=",
    "dt=": "timestep=",
    'gymnasium.make("Ant-v5")': 'gymnasium.make("sapwood/Ant-v0") after import sapwood.gym',
    "geom_xmat": "sim.geom(g).rotation",
    "cacc": "sim.body(b).acceleration, sim.body_accelerations",
    "d.qfrc_inverse": "sim.inverse_dynamics(a)",
    "d.subtree_linvel": "sim.momentum()",
    "d.subtree_angmom": "sim.momentum()",
    "d.actuator_velocity": "sim.actuator(a).velocity",
    "ten_velocity": "sim.tendon(t).velocity",
    "ten_J": "sim.tendon(t).jacobian",
    "d.qacc_warmstart": "part of sim.state()",
    "d.nefc": "sim.stats.constraints",
    "efc_force": "sim.contact_forces(), sim.equality(name).force, sim.constraint_forces",
    "solver_niter": "sim.stats.iterations",
    "d.warning": "a SimulationError: the state stays as before the step",
    "tree_asleep": "sim.stats.asleep",
    "m.body_subtreemass": "model.mass of all",
    "m.body_pos": "sim.parameters.body_positions; where it is now, sim.body(b).position",
    "m.body_quat": "sim.parameters.body_quaternions; where it is now, sim.body(b).quaternion",
    "m.body_mocapid": "sim.body(b).mocap",
    "m.nmocap": "len(sim.mocap_positions)",
    "m.geom_quat": "sim.parameters.geom_quaternions",
    "m.geom_type": "sim.geom(g).type",
    "m.geom_conaffinity": "sim.geom(g).conaffinity, sim.parameters.conaffinities",
    "m.jnt_bodyid": "model.joints[i].body",
    "m.jnt_limited": "model.joints[i].range, None without",
    "m.jnt_actfrcrange": "model.joints[i].effort_limit",
    "m.actuator_trnid": "sim.actuator(a).target",
    "m.eq_active0": "sim.equality_active after sim.reset()",
    "m.key_ctrl": "model.keyframe(k).ctrl",
    "m.key_qvel": "model.keyframe(k).v",
    "m.key_mpos": "model.keyframe(k).mocap",
    "m.key_mquat": "model.keyframe(k).mocap",
    "m.names": "model.body_names, model.joint_names, …",
    "mj_collision": "sim.forward(), then sim.contacts",
    "mj_fwdPosition": "not needed",
    "mj_comPos": "not needed",
    "mj_rne": "model.bias_forces(q, v), model.inverse_dynamics(q, v, a)",
    "mj_mulM": "model.mass_matrix(q) @ x",
    "mj_solveM": "model.forward_dynamics(q, v, tau)",
    "mj_getTotalmass": "model.mass",
    "mj_setTotalmass": "sim.parameters.masses",
    "mj_objectVelocity": "sim.body(b).velocity, sim.geom(g).velocity, sim.site(s).velocity",
    "mj_objectAcceleration": "sim.body(b).acceleration, sim.site(s).acceleration",
    "mj_applyFT": "sim.body(b).applied_wrench",
    "mj_multiRay": "sim.rays(…)",
    "mj_saveModel": "model.to_bytes()",
    "mj_jacSubtreeCom": "sim.center_of_mass_jacobian()",
    "mj_jacGeom": "sim.jacobian(geom=g)",
    "mj_energyPos": "sim.energy()",
    "mj_energyVel": "sim.energy()",
    "d.joint(j).qpos": "sim.joint(j).q",
    "d.joint(j).qvel": "sim.joint(j).v",
    "d.geom(g).xpos": "sim.geom(g).position",
    "d.site(s).xpos": "sim.site(s).position",
    "d.actuator(a).ctrl": "sim.actuator(a).ctrl",
    "m.body(b).mass": "sim.body(b).mass",
    "m.sensor_dim": "model.sensor_dims",
    "m.sensor_type": "model.sensor_types",
    "m.actuator_ctrllimited": "sim.actuator(a).ctrl_range",
    "m.tendon_range": "sim.tendon(t).range",
    "m.actuator_gear": "sim.parameters.gains, force per unit of control",
    "m.actuator_forcelimited": "sim.actuator(a).force_range",
    "m.body_iquat": "sim.parameters.inertias, about axes of the body",
    "m.body_rootid": "model.body_parents",
    "m.body_weldid": "model.body_parents",
    "m.body_jntadr": "model.joints[i].body",
    "m.body_jntnum": "model.joints[i].body",
    "m.body_gravcomp": "part of sim.passive_forces; to change, sim.applied_force",
    "m.dof_bodyid": "model.joints[i].body",
    "m.eq_type": "sim.equality(name).kind",
    "m.jnt_margin": "sim.parameters.joint_ranges, whose ends are where limits act: a margin moves them inwards",
    "m.geom_condim": "sim.parameters.condims",
    "m.geom_rgba": "sim.geom(g).color",
    "m.site_pos": "sim.site(s).position, where it is now",
    "m.opt.disableactuator": "sim.parameters.actuators_enabled[np.equal(model.actuator_groups, 2)] = 0",
    "m.opt.disableflags": 'sim.parameters.disable("contact", "gravity"), sim.parameters.enable("contact"), '
    "sim.equality_active",
    "d.qfrc_gravcomp": "part of sim.passive_forces",
    "d.qfrc_spring": "part of sim.passive_forces",
    "d.qfrc_damper": "part of sim.passive_forces",
    "d.xaxis": "sim.jacobian(b), the column of the joint",
    "m.dof_jntid": "model.joints[i].v, of each joint the first",
    "mj_stateSize": "sim.state(as_array=True).size",
    "mj_crb": "model.mass_matrix(q)",
    "mj_makeM": "model.mass_matrix(q)",
    "mj_factorM": "not needed: model.forward_dynamics(q, v, tau) solves with M",
    "mj_passive": "sim.forward(), then sim.passive_forces",
    "mj_fwdActuation": "sim.forward(), then sim.actuator_forces",
    "mj_fwdVelocity": "not needed",
    "mj_sensorPos": "not needed",
    "mj_subtreeVel": "not needed",
    "mj_rnePostConstraint": "not needed",
    "mj_angmomMat": "sim.momentum_jacobian()",
    "mj_constraintUpdate": "sim.forward(), then sim.constraint_forces",
    "mj_versionString": "sw.__version__",
    "mj_loadPluginLibrary": "not needed: plugins are not read",
    "mju_mulQuat": "scipy's Rotation, from_quat(q, scalar_first=True)",
    "mju_negQuat": "scipy's Rotation, from_quat(q, scalar_first=True)",
    "mju_quat2Mat": "scipy's Rotation, from_quat(q, scalar_first=True)",
    "mju_mat2Quat": "scipy's Rotation, from_quat(q, scalar_first=True)",
    "mju_axisAngle2Quat": "scipy's Rotation, from_quat(q, scalar_first=True)",
    "mju_euler2Quat": "scipy's Rotation, from_quat(q, scalar_first=True)",
    "mju_rotVecQuat": "scipy's Rotation, from_quat(q, scalar_first=True)",
    "m.data": "sw.Simulation(model)",
    "sim.data": "the simulation itself: sim.q, sim.v, sim.ctrl, …",
}

PYBULLET = {
    "connect": "not needed: sw.load and sw.Simulation",
    "disconnect": "not needed",
    "GUI": "sw.view(sim)",
    "loadURDF": "sw.load(file)",
    "loadMJCF": "sw.load(file)",
    "loadSDF": "sw.load(file)",
    'loadURDF("plane.urdf")': "sw.load(file, ground=True)",
    "several robots in one world": "sw.ModelBuilder, [`attach`](../modelling.md#put-models-together)",
    "stepSimulation": "sim.step()",
    "setTimeStep(dt)": "sim.timestep = dt, sw.Simulation(model, timestep=dt)",
    "setGravity": "sim.parameters.gravity",
    "setRealTimeSimulation": "sw.view(sim)",
    "resetSimulation": "sim.reset()",
    "saveState": "sim.state()",
    "restoreState": "sim.restore(state)",
    "getNumJoints": "model.njoint",
    "getJointInfo": "model.joints[i]",
    "getNumBodies": "model.nbody",
    "getJointState(r, j)": "sim.joint(j).q, .v, .effort",
    "getJointStates": "sim.q, sim.v",
    "resetJointState(r, j, q)": "sim.joint(j).q = q",
    "setJointMotorControl2(…, POSITION_CONTROL)": "sim.pd(kp, kd, target)",
    "setJointMotorControl2(…, TORQUE_CONTROL)": "sim.applied_force[i] = tau, or sim.actuator(a).ctrl",
    "setJointMotorControlArray": "sim.pd(kp, kd, target), or sim.ctrl",
    "getBasePositionAndOrientation": "sim.body(b).com, .quaternion",
    "getLinkState": "sim.body(b).position, …",
    "resetBasePositionAndOrientation": "sim.joint(j).q = [*position, *quaternion], of the free joint",
    "getBaseVelocity": "sim.body(b).velocity",
    "resetBaseVelocity": "sim.joint(j).v, of the free joint",
    "applyExternalForce(…, WORLD_FRAME)": "sim.body(b).applied_wrench[3:], at the centre of mass",
    "applyExternalTorque": "sim.body(b).applied_wrench[:3]",
    "getContactPoints(a, b)": "sim.contact_forces()",
    "getClosestPoints": "sim.distance(a, b)",
    "rayTest": "sim.ray(origin, direction)",
    "rayTestBatch": "sim.rays(…)",
    "calculateJacobian": "sim.jacobian(b): (6, nv), world axes",
    "calculateMassMatrix": "model.mass_matrix(q)",
    "calculateInverseDynamics": "model.inverse_dynamics(q, v, a)",
    "getDynamicsInfo": "sim.body(b).mass, .inertia",
    "changeDynamics(mass=…, lateralFriction=…)": "sim.parameters.masses, .frictions",
    "createConstraint": "connect, weld, … of MJCF or sw.ModelBuilder",
    "createMultiBody": "sw.ModelBuilder",
    "addUserDebugLine(a, b)": "sim.markers.line([place, origin])",
    "removeAllUserDebugItems()": "sim.markers.clear()",
    "changeVisualShape(b, l)": "sim.geom(g).color",
    "getCameraImage(w, h)": 'sim.render(w, h), kind="depth", kind="segmentation"',
    "connect(p.GUI)": "sw.view(sim)",
    "calculateInverseKinematics": "sw.inverse_kinematics(model, sw.PoseTarget(b, position=p))",
    "getQuaternionFromEuler": "scipy's Rotation, from_quat(q, scalar_first=True)",
    "getEulerFromQuaternion": "scipy's Rotation, from_quat(q, scalar_first=True)",
    "getMatrixFromQuaternion": "scipy's Rotation, from_quat(q, scalar_first=True)",
    "multiplyTransforms": "scipy's Rotation, from_quat(q, scalar_first=True)",
    "setTimeOut": "not needed",
    "setAdditionalSearchPath": "sw.load(file, package_path=…)",
    "setCollisionFilterPair": "sim.geom(g).contype, .conaffinity",
    "setCollisionFilterGroupMask": "sim.geom(g).contype, .conaffinity",
    "enableJointForceTorqueSensor": "sim.joint(j).effort, or force and torque sensors",
    "getPhysicsEngineParameters": "sim.options",
    "setPhysicsEngineParameter": "sw.Simulation(model, timestep=…)",
    "getJointStateMultiDof": "sim.joint(j).q, .v",
    "resetJointStateMultiDof": "sim.joint(j).q = q",
    "performCollisionDetection": "sim.forward(), then sim.contacts",
    "removeBody": "sw.ModelBuilder, then a new simulation",
    "changeConstraint": "sim.body(b).position = … of a mocap body that is welded",
    "removeConstraint": "sim.equality(name).active = False",
    "startStateLogging": "sim.record(), or sw.VideoWriter",
    "useFixedBase=": "floating_base=",
    "timeStep=": "timestep=",
    "fixed_base=": "floating_base=",
}

DRAKE = {
    "Parser(plant).AddModels(file)": "sw.load(file, package_path=…)",
    "MultibodyPlant": "sw.load(file)",
    "AddMultibodyPlantSceneGraph": "sw.load(file)",
    "DiagramBuilder": "not needed",
    "Simulator(diagram) and the root context": "sw.Simulation(model, timestep=…)",
    "Simulator": "sw.Simulation",
    "simulator.AdvanceTo(t)": "sim.advance_to(t), sim.step(n)",
    "get_time": "sim.time",
    "plant.GetPositions(c)": "sim.q",
    "SetPositions": "sim.q[:] = …",
    "num_positions": "model.nq",
    "plant.GetVelocities(c)": "sim.v",
    "SetVelocities": "sim.v[:] = …",
    "num_velocities": "model.nv",
    "num_actuators": "model.nu",
    "num_bodies": "model.nbody",
    "CalcTotalMass": "model.mass",
    "GetBodyByName": "sim.body(name)",
    "GetJointByName": "sim.joint(name)",
    "GetFrameByName": "sim.site(name)",
    "actuation input port": "sim.ctrl (actuators of an MJCF file), sim.applied_force (nv,)",
    "EvalBodyPoseInWorld(c, body)": "sim.body(b).position, .rotation",
    "EvalBodySpatialVelocityInWorld(c, body)": "sim.body(b).velocity",
    "CalcJacobianSpatialVelocity(…)": "sim.jacobian(b), sim.jacobian(b, point=p)",
    "CalcMassMatrix(c)": "model.mass_matrix(q)",
    "CalcBiasTerm(c) − CalcGravityGeneralizedForces(c)": "model.bias_forces(q, v)",
    "CalcInverseDynamics(c, vdot, forces)": "model.inverse_dynamics(q, v, a)",
    "CalcCenterOfMassPositionInWorld(c)": "sim.center_of_mass()",
    "contact results output port": "sim.contact_forces()",
    "QueryObject.ComputeSignedDistancePairClosestPoints": "sim.distance(a, b)",
    "StartMeshcat()": "sw.view(sim)",
    "AddDefaultVisualization": "sw.view(sim), sim.record()",
    "RgbdSensor": 'sim.render(w, h, camera, kind="rgb" or "depth" or "segmentation")',
    "DiscreteTimeLinearQuadraticRegulator on FirstOrderTaylorApproximation": (
        "the same on A, B = sim.step_jacobians(): [example](../jacobians.md)"
    ),
    "plant.SetFreeBodyPose(c, body, X)": "sim.joint(j).q = [*position, *quaternion]",
    "InverseKinematics": "sw.inverse_kinematics(model, targets)",
    "RollPitchYaw": "scipy's Rotation, from_quat(q, scalar_first=True)",
    "RotationMatrix": "scipy's Rotation, from_quat(q, scalar_first=True)",
    "WeldFrames": "weld of MJCF or sw.ModelBuilder, or no joint",
    "GetModelInstanceByName": "sim.body(name): bodies of a part that is attached have its prefix",
    "CalcSpatialMomentumInWorldAboutPoint": "sim.momentum()",
    "CalcPotentialEnergy": "sim.energy().potential",
    "CalcKineticEnergy": "sim.energy().kinetic",
    "Finalize": "not needed",
    "SetDefaultPositions": "keyframes: sim.reset(k)",
    "num_joints": "model.njoint",
    "gravity_field": "sim.parameters.gravity",
    "time_step=": "timestep=",
}

ENGINES = {"mujoco": ("MuJoCo", MUJOCO), "pybullet": ("PyBullet", PYBULLET), "drake": ("Drake", DRAKE)}
"""Page, name of the engine, and what its users type."""

IDENTIFIER = re.compile(r"^(?:\w+(?:\([^)]*\))?\.)*(\w+=?)(?:\(.*\))?$")


def identifier(typed: str) -> str | None:
    """The name at the end of what is typed, with ``=`` of an argument; None of words that are no code."""
    found = IDENTIFIER.match(typed)
    return found[1] if found else None


def here(name: str) -> str | None:
    """What a name of another engine is here, as the end of a message."""
    found = {
        f"{typed.removesuffix('=')} of {engine} is {words}"
        for engine, names in ENGINES.values()
        for typed, words in names.items()
        if identifier(typed) == name
    }
    return "; ".join(sorted(found)) or None


def attribute_error(owner: str, name: str, known: list[str]) -> AttributeError:
    """The error of an attribute that objects of a class do not have."""
    hint = ATTRIBUTES.get(owner, {}).get(name) or _elsewhere(owner, name) or here(name)
    if owner == "sapwood" and not hint and _is_module(name):
        hint = f"import sapwood.{name} first"
    else:
        hint = hint or did_you_mean(name, [word for word in known if not word.startswith("_")])
    message = f"{owner!r} has no attribute {quoted(name)}"
    return AttributeError(f"{message}: {hint}" if hint else message)


def _elsewhere(owner: str, name: str) -> str | None:
    """What has an attribute of this name beside the class that was asked."""
    from sapwood._parameters import NAMES
    from sapwood._sapwood import Model, Simulation

    if name.startswith("_") or owner not in {"Simulation", "Batch", "Model"}:
        return None
    asked = {"Simulation": "sim", "Batch": "batch", "Model": "sim"}[owner]
    if name in NAMES:
        return f"{asked}.parameters.{name}"
    if owner == "Model":
        return f"sim.{name} of sim = sw.Simulation(model)" if hasattr(Simulation, name) else None
    if hasattr(Model, name):
        return f"{asked}.model.{name}"
    return f"batch.simulation(i).{name}" if owner == "Batch" and hasattr(Simulation, name) else None


Class = TypeVar("Class", bound=type)


def with_advice(cls: Class) -> Class:
    """A class whose ``__init__`` says what is meant by an argument that it does not take."""
    make = vars(cls)["__init__"]
    known = list(cls.__annotations__)

    @functools.wraps(make)
    def checked(self: object, *positional: object, **named: object) -> None:
        for name in named:
            if name not in known:
                raise argument_error(cls.__name__, name, known)
        make(self, *positional, **named)

    setattr(cls, "__init__", checked)  # noqa: B010 - checkers of types do not let it be assigned
    return cls


def _is_module(name: str) -> bool:
    return name.isidentifier() and importlib.util.find_spec(f"sapwood.{name}") is not None


def read_only_error(owner: str, name: str) -> AttributeError | None:
    """The error of an attribute that objects of a class have and that is not to be set; None where Python's will do."""
    message = f"{name!r} of {owner!r} is not writable"
    change = SETTINGS.get(owner, {}).get(name)
    if change is None:
        return AttributeError(message) if owner == "Model" else None
    return AttributeError(f"{message}: {change}")


def argument_error(function: str, name: str, known: list[str]) -> TypeError:
    """The error of an argument that a function does not take."""
    meant = meant_arguments(name, known) or here(name + "=") or did_you_mean(name, known)
    hint = meant or f"expected one of {', '.join(known)}"
    return TypeError(f"{function}() got an unexpected keyword argument {quoted(name)}: {hint}")
