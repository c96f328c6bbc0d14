//! `<geometry>`.

use geometry::Shape;
use spatial::{Pose, Quat, Vec3};

use super::value;
use crate::LoadError;
use crate::robot::mesh::{Meshes, Purpose};
use crate::xml::Element;

const EXPECTED: &str = "expected <box>, <capsule>, <cylinder>, <ellipsoid>, <sphere>, <plane>, <mesh> or <empty>";

/// A shape where its element has it.
pub(super) struct Placed {
    /// The shape.
    pub shape: Shape,
    /// Its frame in that of the element.
    pub pose: Pose<f64>,
}

/// The shape in the `<geometry>` of a `<visual>` or `<collision>`; none for an empty one.
pub(super) fn read(parent: Element<'_>, meshes: &mut Meshes, purpose: Purpose) -> Result<Option<Placed>, LoadError> {
    let geometry = parent.child("geometry").ok_or_else(|| parent.error("no <geometry>: expected one"))?;
    let Some(element) = geometry.children().next() else { return Err(geometry.error(format!("empty: {EXPECTED}"))) };
    let mut pose = Pose::IDENTITY;
    let shape = match element.name() {
        "empty" => return Ok(None),
        "box" => Shape::Box { half_extents: lengths(element, "size")?.map(|x| 0.5 * x) },
        "sphere" => Shape::Sphere { radius: length(element, "radius")? },
        // Drake had a form of its own.
        "ellipsoid" if element.child("a").is_some() => {
            Shape::Ellipsoid { radii: [length(element, "a")?, length(element, "b")?, length(element, "c")?] }
        }
        "ellipsoid" => Shape::Ellipsoid { radii: lengths(element, "radii")? },
        "cylinder" => {
            Shape::Cylinder { radius: length(element, "radius")?, half_length: 0.5 * length(element, "length")? }
        }
        "capsule" => {
            Shape::Capsule { radius: length(element, "radius")?, half_length: 0.5 * length(element, "length")? }
        }
        "plane" => {
            let normal = value::array::<3>(element, "normal")?.map_or(Vec3::new(0.0, 0.0, 1.0), Vec3::from);
            let tilted = turn_to(normal).ok_or_else(|| element.error("a normal of length 0: expected a direction"))?;
            pose = Pose::new(Vec3::ZERO, tilted);
            // Planes that touch have no end; their size is for pictures.
            let size = value::array::<2>(element, "size")?.unwrap_or([1.0; 2]);
            Shape::Plane { half_extents: if purpose == Purpose::Picture { size.map(|x| 0.5 * x) } else { [0.0; 2] } }
        }
        "mesh" => {
            let scale = value::array::<3>(element, "scale")?.unwrap_or([1.0; 3]);
            Shape::Mesh(meshes.get(element, value::required(element, "uri")?, scale, purpose)?)
        }
        _ => return Err(element.error(EXPECTED)),
    };
    Ok(Some(Placed { shape, pose }))
}

/// The shortest turn from z to a direction; none for a vector without one.
fn turn_to(direction: Vec3<f64>) -> Option<Quat<f64>> {
    let unit = direction * (1.0 / direction.norm());
    let z = Vec3::new(0.0, 0.0, 1.0);
    let half_turn = Quat::new(0.0, 1.0, 0.0, 0.0);
    let cross = z.cross(unit);
    let turn = Quat::new(1.0 + unit.z, cross.x, cross.y, cross.z);
    if unit.z <= -1.0 + 1e-12 { Some(half_turn) } else { turn.normalized() }
}

fn length(element: Element<'_>, name: &str) -> Result<f64, LoadError> {
    let [x] = above_zero(element, name, value::array(element, name)?)?;
    Ok(x)
}

fn lengths(element: Element<'_>, name: &str) -> Result<[f64; 3], LoadError> {
    above_zero(element, name, value::array(element, name)?)
}

fn above_zero<const N: usize>(
    element: Element<'_>,
    name: &str,
    lengths: Option<[f64; N]>,
) -> Result<[f64; N], LoadError> {
    let lengths = lengths.filter(|lengths| lengths.iter().all(|x| *x > 0.0));
    lengths.ok_or_else(|| element.error(format!("{name}: expected <{name}> with {N} numbers above 0")))
}
