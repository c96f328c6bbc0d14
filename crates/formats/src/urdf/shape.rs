//! `<geometry>`.

use geometry::Shape;

use super::mesh::{Meshes, Purpose};
use crate::LoadError;
use crate::xml::Element;

/// The shape in the `<geometry>` of a `<visual>` or `<collision>`.
pub(super) fn read(parent: Element<'_>, meshes: &mut Meshes, purpose: Purpose) -> Result<Shape, LoadError> {
    let geometry = parent.child("geometry").ok_or_else(|| parent.error("no <geometry>: expected one"))?;
    let Some(shape) = geometry.children().next() else {
        return Err(geometry.error("empty: expected <box>, <cylinder>, <sphere>, <capsule> or <mesh>"));
    };
    match shape.name() {
        "box" => {
            let size = shape.array::<3>("size")?;
            let size = size.ok_or_else(|| shape.error("no attribute `size`: expected one"))?;
            if size.iter().any(|x| *x <= 0.0) {
                return Err(shape.error("size: expected numbers above 0"));
            }
            Ok(Shape::Box { half_extents: size.map(|x| 0.5 * x) })
        }
        "sphere" => Ok(Shape::Sphere { radius: length(shape, "radius")? }),
        "cylinder" => {
            Ok(Shape::Cylinder { radius: length(shape, "radius")?, half_length: 0.5 * length(shape, "length")? })
        }
        "capsule" => {
            Ok(Shape::Capsule { radius: length(shape, "radius")?, half_length: 0.5 * length(shape, "length")? })
        }
        "mesh" => Ok(Shape::Mesh(meshes.get(shape, purpose)?)),
        _ => Err(shape.error("expected <box>, <cylinder>, <sphere>, <capsule> or <mesh>")),
    }
}

fn length(shape: Element<'_>, name: &str) -> Result<f64, LoadError> {
    let value = shape.number(name)?.ok_or_else(|| shape.error(format!("no attribute `{name}`: expected one")))?;
    if value > 0.0 { Ok(value) } else { Err(shape.error(format!("{name}=\"{value}\": expected a number above 0"))) }
}
