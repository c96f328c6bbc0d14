//! `<geometry>`.

use geometry::Shape;

use crate::LoadError;
use crate::robot::mesh::{Meshes, Purpose};
use crate::xml::Element;

/// The shape in the `<geometry>` of a `<visual>` or `<collision>`; none for one of size 0.
pub(super) fn read(parent: Element<'_>, meshes: &mut Meshes, purpose: Purpose) -> Result<Option<Shape>, LoadError> {
    let geometry = parent.child("geometry").ok_or_else(|| parent.error("no <geometry>: expected one"))?;
    let Some(shape) = geometry.children().next() else {
        return Err(geometry.error("empty: expected <box>, <cylinder>, <sphere>, <capsule> or <mesh>"));
    };
    match shape.name() {
        "box" => {
            let size = shape.array::<3>("size")?;
            let size = size.ok_or_else(|| shape.error("no attribute `size`: expected one"))?;
            if size.iter().any(|x| *x < 0.0) {
                return Err(shape.error("size: expected numbers above 0"));
            }
            Ok(Some(Shape::Box { half_extents: size.map(|x| 0.5 * x) }).filter(|_| !size.contains(&0.0)))
        }
        "sphere" => Ok(length(shape, "radius")?.map(|radius| Shape::Sphere { radius })),
        "cylinder" => Ok(tube(shape)?.map(|(radius, half_length)| Shape::Cylinder { radius, half_length })),
        "capsule" => Ok(tube(shape)?.map(|(radius, half_length)| Shape::Capsule { radius, half_length })),
        "mesh" => {
            let scale = shape.array::<3>("scale")?.unwrap_or([1.0; 3]);
            Ok(Some(Shape::Mesh(meshes.get(shape, shape.required("filename")?, scale, purpose)?)))
        }
        _ => Err(shape.error("expected <box>, <cylinder>, <sphere>, <capsule> or <mesh>")),
    }
}

/// Radius and half the length.
fn tube(shape: Element<'_>) -> Result<Option<(f64, f64)>, LoadError> {
    let (radius, length) = (length(shape, "radius")?, length(shape, "length")?);
    Ok(radius.zip(length.map(|length| 0.5 * length)))
}

/// A length that is not negative; none for 0.
fn length(shape: Element<'_>, name: &str) -> Result<Option<f64>, LoadError> {
    let value = shape.number(name)?.ok_or_else(|| shape.error(format!("no attribute `{name}`: expected one")))?;
    if value < 0.0 {
        return Err(shape.error(format!("{name}=\"{value}\": expected a number above 0")));
    }
    Ok((value > 0.0).then_some(value))
}
