//! Prints what a model file says as JSON: sizes, names, masses, frames, and the dynamics at given states.
//!
//! `model_json MODEL [STATES]`: STATES is a JSON file with a list of `[q, v]`; for each the poses of the bodies, the
//! mass matrix, the bias force, the lengths of tendons and the residuals of the equality constraints are printed.

use std::path::Path;

use multibody::{CrbaWorkspace, Kinematics, Model, RneaWorkspace};
use sapwood_formats::{LoadOptions, Loaded};
use serde_json::{Value, json};
use spatial::{Pose, Quat, RigidInertia, Vec3};

fn vector(v: Vec3<f64>) -> Value {
    json!([v.x, v.y, v.z])
}

fn pose(p: Pose<f64>) -> Value {
    let Quat { w, x, y, z } = p.rot;
    json!({"pos": vector(p.pos), "quat": [w, x, y, z]})
}

fn inertia(i: &RigidInertia<f64>) -> Value {
    let [xx, xy, xz, yy, yz, zz] = i.inertia.entries();
    json!({"mass": i.mass, "com": vector(i.com), "inertia": [xx, yy, zz, xy, xz, yz]})
}

fn dynamics(model: &Model, q: &[f64], v: &[f64]) -> Value {
    let (tree, nv) = (&model.tree, model.nv());
    let mut kinematics = Kinematics::new(tree);
    multibody::forward_kinematics(tree, tree.all(), q, &mut kinematics);
    multibody::velocities(tree, tree.all(), v, &mut kinematics);
    let mut matrix = vec![0.0; nv * nv];
    multibody::mass_matrix(tree, tree.all(), &kinematics, None, &mut CrbaWorkspace::new(tree), &mut matrix, nv, 0);
    (0..nv).for_each(|i| matrix[i * nv + i] += model.armature[i]);
    let mut bias = vec![0.0; nv];
    let mut workspace = RneaWorkspace::new(tree);
    multibody::rnea(tree, tree.all(), &kinematics, v, None, model.gravity, &mut workspace, &mut bias);
    let place = |body: &multibody::Body| match body.node {
        Some(n) => Pose::new(kinematics.frames[n].pos, kinematics.frames[n].quat) * body.pose,
        None => body.pose,
    };
    let bodies: Vec<Value> = model.bodies.iter().map(|b| pose(place(b))).collect();
    let mut residuals = Vec::new();
    multibody::equality_residuals(model, &kinematics, q, &mut residuals);
    let lengths: Vec<f64> = model.tendons.iter().map(|tendon| tendon.length(model, q)).collect();
    json!({"bodies": bodies, "mass_matrix": matrix, "bias": bias, "lengths": lengths, "residuals": residuals})
}

fn describe(Loaded { model, scene }: &Loaded, states: &[(Vec<f64>, Vec<f64>)]) -> Value {
    let bodies = model
        .bodies
        .iter()
        .map(|b| json!({"name": b.name, "parent": b.parent, "pose": pose(b.pose), "inertia": inertia(&b.inertia)}));
    let joints = model.joints.iter().map(|j| {
        json!({"name": j.name, "kind": j.kind.name(), "body": j.body, "q": j.q, "v": j.v, "range": j.range,
                    "effort_limit": j.effort_limit})
    });
    let actuators = model.actuators.iter().map(|a| {
        json!({"name": a.name, "gain": a.law.gain, "bias": a.law.bias, "ctrl_range": a.ctrl_range,
               "force_range": a.force_range, "transmission": format!("{:?}", a.transmission)})
    });
    let tendons = model.tendons.iter().map(|t| {
        json!({"name": t.name, "terms": t.terms(), "range": t.range, "stiffness": t.stiffness, "damping": t.damping,
               "rest": t.rest, "friction_loss": t.friction_loss, "armature": t.armature,
               "limit_compliance": format!("{:?}", t.limit_compliance)})
    });
    let equalities = model.equalities.iter().map(|e| {
        json!({"name": e.name, "kind": format!("{:?}", e.kind), "active": e.active,
               "compliance": format!("{:?}", e.compliance)})
    });
    let geoms = scene.geoms.iter().map(|g| {
        let m = &model.materials[g.material];
        json!({"name": g.name, "body": g.body, "pose": pose(g.pose), "shape": format!("{:?}", g.shape),
               "contype": g.contype, "conaffinity": g.conaffinity, "margin": g.margin, "rgba": g.rgba,
               "friction": [m.friction, m.torsional_friction, m.rolling_friction], "resistance": format!("{:?}", m.resistance), "priority": m.priority})
    });
    let sites = model.sites.iter().map(|s| json!({"name": s.name, "body": s.body, "pose": pose(s.pose)}));
    let keys =
        model.keyframes.iter().map(|k| json!({"name": k.name, "time": k.time, "q": k.q, "v": k.v, "ctrl": k.ctrl}));
    let array = |items: &mut dyn Iterator<Item = Value>| Value::Array(items.collect());
    json!({
        "nq": model.nq(), "nv": model.nv(), "nu": model.nu(), "q0": model.q0,
        "armature": model.armature, "damping": model.damping, "stiffness": model.stiffness,
        "spring_reference": model.spring_reference, "friction_loss": model.friction_loss,
        "gravity": vector(model.gravity), "timestep": model.timestep,
        "bodies": array(&mut bodies.into_iter()), "joints": array(&mut joints.into_iter()),
        "actuators": array(&mut actuators.into_iter()), "geoms": array(&mut geoms.into_iter()),
        "tendons": array(&mut tendons.into_iter()), "equalities": array(&mut equalities.into_iter()),
        "sites": array(&mut sites.into_iter()), "keyframes": array(&mut keys.into_iter()),
        "pairs": scene.pairs.len(), "excluded": scene.excluded,
        "warnings": model.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "states": states.iter().map(|(q, v)| dynamics(model, q, v)).collect::<Vec<_>>(),
    })
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let path = arguments.first().ok_or("usage: model_json MODEL [STATES]")?;
    let loaded = sapwood_formats::load(Path::new(path), &LoadOptions::default())?;
    let states = match arguments.get(1) {
        Some(file) => serde_json::from_str(&std::fs::read_to_string(file)?)?,
        None => Vec::new(),
    };
    println!("{}", describe(&loaded, &states));
    Ok(())
}
