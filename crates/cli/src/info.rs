//! `sapwood info`.

use std::fmt::{self, Write};

use anyhow::Result;
use formats::Loaded;
use geometry::{Scene, Shape};
use multibody::{
    Actuator, Coordinate, Equality, EqualityKind, Joint, Model, PathPoint, Tendon, TendonPath, Transmission, Warning,
};
use serde::Serialize;

use crate::arguments::InfoArguments;
use crate::console::print;
use crate::failure::print_json;
use crate::scene;
use crate::source::Source;

/// The text lists this many bodies, tendons or equality constraints; the JSON lists all.
const MAX_ROWS: usize = 200;

/// Prints what was read.
pub fn info(arguments: &InfoArguments) -> Result<()> {
    let Loaded { model, scene } = scene::load(Some(&arguments.model), None, &arguments.read)?;
    let info = Info::new(&arguments.model, &model, &scene);
    if arguments.json {
        print_json(&info);
    } else {
        print(&text(&info, &model.warnings)?);
    }
    Ok(())
}

/// What was read, in SI units.
#[derive(Serialize)]
struct Info<'a> {
    file: String,
    name: &'a str,
    counts: Counts,
    mass: f64,
    timestep: f64,
    gravity: [f64; 3],
    bodies: Vec<BodyInfo<'a>>,
    joints: Vec<JointInfo<'a>>,
    actuators: Vec<ActuatorInfo<'a>>,
    tendons: Vec<TendonInfo<'a>>,
    equalities: Vec<EqualityInfo<'a>>,
    keyframes: Vec<&'a str>,
    warnings: Vec<WarningInfo<'a>>,
}

#[derive(Serialize)]
struct Counts {
    bodies: usize,
    trees: usize,
    joints: usize,
    nq: usize,
    nv: usize,
    nu: usize,
    tendons: usize,
    equalities: usize,
    geoms: usize,
    geoms_by_shape: Vec<(&'static str, usize)>,
    sites: usize,
    keyframes: usize,
    warnings: usize,
}

#[derive(Serialize)]
struct BodyInfo<'a> {
    name: &'a str,
    parent: usize,
    mass: f64,
    geoms: usize,
}

#[derive(Serialize)]
struct JointInfo<'a> {
    name: &'a str,
    kind: &'static str,
    body: usize,
    nv: usize,
    range: Option<(f64, f64)>,
}

#[derive(Serialize)]
struct ActuatorInfo<'a> {
    name: &'a str,
    /// The joint that it acts on.
    joint: Option<&'a str>,
    /// The tendon that it acts on; neither for what is not simulated.
    tendon: Option<&'a str>,
    ctrl_range: Option<(f64, f64)>,
    force_range: Option<(f64, f64)>,
}

#[derive(Serialize)]
struct TendonInfo<'a> {
    name: &'a str,
    /// Joints and their coefficients, of a fixed tendon.
    joints: Vec<(&'a str, f64)>,
    /// What a spatial tendon passes: sites and bodies of geoms, by name, with the divisors of pulleys.
    path: Vec<(&'static str, String)>,
    range: Option<(f64, f64)>,
}

#[derive(Serialize)]
struct EqualityInfo<'a> {
    name: &'a str,
    kind: &'static str,
    /// The names of the bodies, joints or tendons that it ties to each other.
    between: Vec<&'a str>,
    active: bool,
}

#[derive(Serialize)]
struct WarningInfo<'a> {
    file: &'a str,
    line: u32,
    element: &'a str,
    message: &'a str,
}

impl<'a> Info<'a> {
    fn new(source: &Source, model: &'a Model, scene: &Scene) -> Self {
        let mut geoms_of = vec![0; model.bodies.len()];
        for geom in &scene.geoms {
            geoms_of[geom.body] += 1;
        }
        // The first body is the world, which no file lists.
        let bodies = model.bodies.iter().zip(geoms_of).skip(1);
        Self {
            file: source.to_string(),
            name: &model.name,
            counts: counts(model, scene),
            mass: model.mass(),
            timestep: model.timestep,
            gravity: model.gravity.to_array(),
            bodies: bodies
                .map(|(b, geoms)| BodyInfo { name: &b.name, parent: b.parent, mass: b.inertia.mass, geoms })
                .collect(),
            joints: model.joints.iter().map(joint_info).collect(),
            actuators: model.actuators.iter().map(|actuator| actuator_info(actuator, model)).collect(),
            tendons: model.tendons.iter().map(|tendon| tendon_info(tendon, model)).collect(),
            equalities: model.equalities.iter().map(|equality| equality_info(equality, model)).collect(),
            keyframes: model.keyframes.iter().map(|key| key.name.as_str()).collect(),
            warnings: model
                .warnings
                .iter()
                .map(|w| WarningInfo { file: &w.file, line: w.line, element: &w.element, message: &w.message })
                .collect(),
        }
    }
}

fn counts(model: &Model, scene: &Scene) -> Counts {
    const SHAPES: [&str; 8] = ["plane", "sphere", "capsule", "cylinder", "ellipsoid", "box", "mesh", "hfield"];
    let mut by_shape = SHAPES.map(|name| (name, 0));
    for geom in &scene.geoms {
        by_shape[shape_index(&geom.shape)].1 += 1;
    }
    Counts {
        bodies: model.bodies.len() - 1,
        trees: model.tree.trees.len(),
        joints: model.joints.len(),
        nq: model.nq(),
        nv: model.nv(),
        nu: model.nu(),
        tendons: model.tendons.len(),
        equalities: model.equalities.len(),
        geoms: scene.geoms.len(),
        geoms_by_shape: by_shape.into_iter().filter(|&(_, n)| n > 0).collect(),
        sites: model.sites.len(),
        keyframes: model.keyframes.len(),
        warnings: model.warnings.len(),
    }
}

fn shape_index(shape: &Shape) -> usize {
    match shape {
        Shape::Plane { .. } => 0,
        Shape::Sphere { .. } => 1,
        Shape::Capsule { .. } => 2,
        Shape::Cylinder { .. } => 3,
        Shape::Ellipsoid { .. } => 4,
        Shape::Box { .. } => 5,
        Shape::Mesh(_) => 6,
        Shape::HeightField(_) => 7,
    }
}

fn joint_info(joint: &Joint) -> JointInfo<'_> {
    JointInfo { name: &joint.name, kind: joint.kind.name(), body: joint.body, nv: joint.kind.nv(), range: joint.range }
}

fn actuator_info<'a>(actuator: &'a Actuator, model: &'a Model) -> ActuatorInfo<'a> {
    let (joint, tendon) = match actuator.transmission {
        Transmission::Joint { joint, .. }
        | Transmission::JointAxes { joint, .. }
        | Transmission::Orientation { joint, .. } => (Some(model.joints[joint].name.as_str()), None),
        Transmission::Tendon { tendon, .. } => (None, Some(model.tendons[tendon].name.as_str())),
        Transmission::Site { .. }
        | Transmission::SliderCrank { .. }
        | Transmission::Input
        | Transmission::Unsupported
        | Transmission::Adhesion { .. } => (None, None),
    };
    let Actuator { name, ctrl_range, force_range, .. } = actuator;
    ActuatorInfo { name, joint, tendon, ctrl_range: *ctrl_range, force_range: *force_range }
}

fn tendon_info<'a>(tendon: &'a Tendon, model: &'a Model) -> TendonInfo<'a> {
    let joints = tendon.terms().iter().map(|&(joint, coefficient)| (model.joints[joint].name.as_str(), coefficient));
    let mut path = Vec::new();
    if let TendonPath::Spatial(branches) = &tendon.path {
        for (place, branch) in branches.iter().enumerate() {
            if place > 0 || branch.divisor != 1.0 {
                path.push(("pulley", branch.divisor.to_string()));
            }
            path.extend(branch.points.iter().map(|point| match point {
                PathPoint::Site(site) => ("site", model.sites[*site].name.clone()),
                PathPoint::Obstacle(obstacle) => ("around", model.bodies[obstacle.body].name.clone()),
            }));
        }
    }
    TendonInfo { name: &tendon.name, joints: joints.collect(), path, range: tendon.range }
}

fn equality_info<'a>(equality: &'a Equality, model: &'a Model) -> EqualityInfo<'a> {
    let of_bodies = |bodies: [usize; 2]| bodies.map(|body| model.bodies[body].name.as_str()).to_vec();
    let name_of = |coordinate| match coordinate {
        Coordinate::Joint(joint) => model.joints[joint].name.as_str(),
        Coordinate::Tendon(tendon) => model.tendons[tendon].name.as_str(),
    };
    let (kind, between) = match equality.kind {
        EqualityKind::Connect { bodies, .. } => ("connect", of_bodies(bodies)),
        EqualityKind::Weld { bodies, .. } => ("weld", of_bodies(bodies)),
        EqualityKind::Distance { bodies, .. } => ("distance", of_bodies(bodies)),
        EqualityKind::Coupling { y, x, .. } => {
            ("coupling", [Some(y), x].into_iter().flatten().map(|(coordinate, _)| name_of(coordinate)).collect())
        }
    };
    EqualityInfo { name: &equality.name, kind, between, active: equality.active }
}

fn text(info: &Info<'_>, warnings: &[Warning]) -> std::result::Result<String, fmt::Error> {
    let mut out = String::new();
    let counts = &info.counts;
    writeln!(out, "{}: {}", info.file, info.name)?;
    let shapes: Vec<String> = counts.geoms_by_shape.iter().map(|(name, n)| format!("{n} {name}")).collect();
    let shapes = if shapes.is_empty() { String::new() } else { format!(" ({})", shapes.join(", ")) };
    for (name, value) in [
        ("bodies", format!("{} in {} moving trees", counts.bodies, counts.trees)),
        ("mass", format!("{:.6} kg", info.mass)),
        ("joints", format!("{}: nq = {}, nv = {}", counts.joints, counts.nq, counts.nv)),
        ("geoms", format!("{}{shapes}", counts.geoms)),
        ("actuators", counts.nu.to_string()),
        ("tendons", counts.tendons.to_string()),
        ("equalities", counts.equalities.to_string()),
        ("sites", counts.sites.to_string()),
        ("keyframes", list_names(&info.keyframes)),
        ("timestep", format!("{} s", info.timestep)),
        ("gravity", format!("{:?} m/s²", info.gravity)),
    ] {
        writeln!(out, "  {name:<12} {value}")?;
    }
    write_bodies(&mut out, info)?;
    write_tendons(&mut out, info)?;
    write_equalities(&mut out, info)?;
    match warnings.len() {
        0 => writeln!(out, "\n  no warnings: everything that the file holds is simulated")?,
        n => writeln!(out, "\n  {n} warnings:")?,
    }
    for warning in warnings {
        writeln!(out, "  {warning}")?;
    }
    Ok(out)
}

fn list_names(names: &[&str]) -> String {
    let named: Vec<&str> = names.iter().map(|name| or_no_name(name)).collect();
    if named.is_empty() { "0".into() } else { format!("{}: {}", named.len(), named.join(", ")) }
}

fn or_no_name(name: &str) -> &str {
    if name.is_empty() { "(no name)" } else { name }
}

fn write_bodies(out: &mut String, info: &Info<'_>) -> fmt::Result {
    let mut joints_of = vec![String::new(); info.bodies.len() + 1];
    for joint in &info.joints {
        let text = &mut joints_of[joint.body];
        let separator = if text.is_empty() { "" } else { ", " };
        let name = if joint.name.is_empty() { "" } else { " " };
        write!(text, "{separator}{}{name}{}", joint.kind, joint.name)?;
    }
    let mut depth = vec![0; info.bodies.len() + 1];
    writeln!(out, "\n  body, mass, geoms, joints")?;
    for (i, body) in info.bodies.iter().enumerate().take(MAX_ROWS) {
        depth[i + 1] = depth[body.parent] + 1;
        let name = format!("{:indent$}{}", "", body.name, indent = 2 * (depth[i + 1] - 1));
        let row = format!("  {name:<32} {:>9.4} kg {:>3}  {}", body.mass, body.geoms, joints_of[i + 1]);
        writeln!(out, "{}", row.trim_end())?;
    }
    write_rest(out, info.bodies.len())
}

fn write_tendons(out: &mut String, info: &Info<'_>) -> fmt::Result {
    if !info.tendons.is_empty() {
        writeln!(out, "\n  tendon, length, limits")?;
    }
    for tendon in info.tendons.iter().take(MAX_ROWS) {
        let mut terms: Vec<String> =
            tendon.joints.iter().map(|(joint, c)| format!("{c} {}", or_no_name(joint))).collect();
        if !tendon.path.is_empty() {
            let path = tendon.path.iter().map(|(kind, name)| format!("{kind} {}", or_no_name(name)));
            terms.push(path.collect::<Vec<_>>().join(", "));
        }
        let range = tendon.range.map(|(low, high)| format!("  {low} to {high}")).unwrap_or_default();
        writeln!(out, "  {:<32} {}{range}", or_no_name(tendon.name), terms.join(" + "))?;
    }
    write_rest(out, info.tendons.len())
}

fn write_equalities(out: &mut String, info: &Info<'_>) -> fmt::Result {
    if !info.equalities.is_empty() {
        writeln!(out, "\n  equality constraint, kind, between")?;
    }
    for equality in info.equalities.iter().take(MAX_ROWS) {
        let between: Vec<&str> = equality.between.iter().map(|name| or_no_name(name)).collect();
        let inactive = if equality.active { "" } else { " (inactive)" };
        let (name, kind) = (or_no_name(equality.name), equality.kind);
        writeln!(out, "  {name:<32} {kind:<9} {}{inactive}", between.join(", "))?;
    }
    write_rest(out, info.equalities.len())
}

/// How many of `count` rows have been left out.
fn write_rest(out: &mut String, count: usize) -> fmt::Result {
    match count.checked_sub(MAX_ROWS) {
        None | Some(0) => Ok(()),
        Some(rest) => writeln!(out, "  … and {rest} more: --json lists all"),
    }
}
