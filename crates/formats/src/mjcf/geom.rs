//! `<geom>`: shapes, their surfaces and their mass.

use geometry::{FluidCoefficients, Geom, MassModel, Shape, SurfaceMotion};
use spatial::{Pose, Quat, RigidInertia, Vec3};

use super::Reader;
use super::defaults::{Attributes, ClassId};
use super::orientation::from_z_axis;
use super::surface;
use crate::LoadError;
use crate::xml::Element;

/// The part that a geom has in the inertia of its body.
#[derive(Clone, Copy, Debug)]
pub(super) struct GeomMass {
    /// Mass, centre of mass and inertia, in the body's frame.
    pub inertia: RigidInertia<f64>,
    /// The axes of its shape in the body's frame; none of meshes, whose principal axes are others.
    pub axes: Option<Quat<f64>>,
    /// The group that `inertiagrouprange` selects by.
    pub group: i32,
}

/// The types of geoms (and of sites).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Plane,
    HeightField,
    Sphere,
    Capsule,
    Ellipsoid,
    Cylinder,
    Box,
    Mesh,
    Sdf,
}

pub(super) const TYPES: [(&str, Type); 9] = [
    ("plane", Type::Plane),
    ("hfield", Type::HeightField),
    ("sphere", Type::Sphere),
    ("capsule", Type::Capsule),
    ("ellipsoid", Type::Ellipsoid),
    ("cylinder", Type::Cylinder),
    ("box", Type::Box),
    ("mesh", Type::Mesh),
    ("sdf", Type::Sdf),
];

/// Density of a geom without mass or density, kg/m³.
const DENSITY: f64 = 1000.0;

/// A shape with its place in the frame of the element, and where its mass is.
struct Placed {
    shape: Shape,
    pose: Pose<f64>,
    mass_model: MassModel,
}

impl<'a> Reader<'_, 'a> {
    /// Reads a geom of `body`. `frame` is that of the `<frame>` elements around it.
    pub(super) fn geom(
        &mut self,
        element: Element<'a>,
        class: ClassId,
        frame: Pose<f64>,
        body: usize,
    ) -> Result<GeomMass, LoadError> {
        let attributes = &self.defaults.attributes(element, class)?;
        let Placed { shape, pose, mass_model } = self.placed_shape(attributes)?;
        let pose = frame * pose;
        let group = attributes.integer("group")?.unwrap_or(0);
        let inertia = self.geom_inertia(attributes, &shape, mass_model)?.rotated(pose.rot.to_mat3());
        let inertia = RigidInertia { com: inertia.com + pose.pos, ..inertia };

        let axes = (!matches!(shape, Shape::Mesh(_))).then_some(pose.rot);
        let friction = surface::geom_friction(attributes)?;
        let mut material = surface::material(attributes, friction, &self.options, &mut self.warnings)?;
        material.priority = attributes.integer("priority")?.unwrap_or(0);
        let bits = |name| Ok::<_, LoadError>(attributes.integer(name)?.unwrap_or(1) as u32);
        let (mut contype, mut conaffinity) = (bits("contype")?, bits("conaffinity")?);
        if !self.options.flags.contact {
            (contype, conaffinity) = (0, 0);
        }
        self.warn_about_geom(attributes)?;
        let name = self.names.claim(element, "geom", &self.suffix, self.scene.geoms.len())?;
        self.geoms.push(element);
        self.scene.geoms.push(Geom {
            name,
            body,
            pose,
            shape,
            contype,
            conaffinity,
            material: self.surfaces.index(material),
            margin: attributes.number("margin")?.unwrap_or(0.0),
            rgba: self.assets.rgba(attributes)?,
            group: group.max(0) as u32,
            look: self.assets.look(attributes),
            surface_motion: surface_motion(attributes)?,
            fluid: fluid(attributes)?,
        });
        Ok(GeomMass { inertia, axes, group })
    }

    fn placed_shape(&mut self, attributes: &Attributes<'_, 'a>) -> Result<Placed, LoadError> {
        let element = attributes.element();
        let kind = attributes.keyword("type", &TYPES)?;
        let mut pose = self.compiler.angles.pose(attributes)?;
        if let Some((at, _, name)) = attributes.find(&["mesh"]) {
            attributes.skip(&["size", "fromto"]);
            let fit = attributes.number("fitscale")?.unwrap_or(1.0);
            let mesh = self.assets.mesh(at, name)?;
            return match kind {
                None | Some(Type::Mesh) => {
                    Ok(Placed { shape: Shape::Mesh(mesh.shape.clone()), pose, mass_model: mesh.mass_model })
                }
                Some(Type::Sdf) => {
                    let message = "signed distance fields are not simulated: the mesh stands in for it";
                    self.warnings.add_attribute(element, "type", message);
                    Ok(Placed { shape: Shape::Mesh(mesh.shape.clone()), pose, mass_model: mesh.mass_model })
                }
                Some(kind) => {
                    let (shape, centre) =
                        mesh.fitted(kind, self.compiler.fit_aabb, fit).map_err(|e| element.error(e))?;
                    Ok(Placed { shape, pose: pose * centre, mass_model: mass_model(attributes)? })
                }
            };
        }
        if let Some((at, _, name)) = attributes.find(&["hfield"]) {
            attributes.skip(&["size"]);
            let shape = Shape::HeightField(self.assets.height_field(at, name)?);
            return Ok(Placed { shape, pose, mass_model: MassModel::Solid });
        }
        let kind = kind.unwrap_or(Type::Sphere);
        let (size, segment) = size_and_segment(attributes, kind, [0.0; 3])?;
        if let Some(segment) = segment {
            pose = segment;
        }
        let shape = primitive(attributes, kind, size)?;
        Ok(Placed { shape, pose, mass_model: mass_model(attributes)? })
    }

    fn geom_inertia(
        &self,
        attributes: &Attributes<'_, 'a>,
        shape: &Shape,
        model: MassModel,
    ) -> Result<RigidInertia<f64>, LoadError> {
        let (mass, density) = (attributes.number("mass")?, attributes.number("density")?);
        for (name, value) in [("mass", mass), ("density", density)] {
            if let Some(value) = value.filter(|&v| v < 0.0) {
                return Err(attributes.source(name).error(format!("{name}=\"{value}\": expected 0 or more")));
            }
        }
        // Weightless geoms may be meshes without a volume.
        if mass == Some(0.0) || (mass.is_none() && density == Some(0.0)) {
            return Ok(RigidInertia::ZERO);
        }
        // A height field weighs as much as a box of half its greatest height, as in MuJoCo.
        let block = match shape {
            Shape::HeightField(field) => {
                let [x, y] = field.half_extents;
                let highest = field.heights.iter().copied().fold(0.0, f64::max);
                Some(Shape::Box { half_extents: [x, y, 0.25 * highest + 0.5 * field.base] })
            }
            _ => None,
        };
        let shape = block.as_ref().unwrap_or(shape);
        let inertia = match mass {
            Some(mass) => shape.inertia_of_mass(mass, model),
            None => shape.inertia(density.unwrap_or(DENSITY), model),
        };
        inertia.map_err(|error| attributes.element().error(format!("{error}: expected a mesh with a volume")))
    }

    fn warn_about_geom(&mut self, attributes: &Attributes<'_, 'a>) -> Result<(), LoadError> {
        let element = attributes.element();
        attributes.skip(&["user", "castshadow"]);
        if !self.assets.knows_material(attributes) {
            self.warnings.add_attribute(element, "material", "no material has this name: ignored");
        }
        if attributes.number("gap")?.is_some_and(|gap| gap != 0.0) {
            self.warnings.add_attribute(element, "gap", "contacts without force are not reported: ignored");
        }
        if attributes.number("adhesion")?.is_some_and(|force| force != 0.0) {
            self.warnings.add_attribute(element, "adhesion", "not simulated: ignored");
        }
        Ok(())
    }
}

/// Linear and angular velocity of the surface; numbers that are missing are 0.
fn surface_motion(attributes: &Attributes<'_, '_>) -> Result<Option<SurfaceMotion>, LoadError> {
    let [x, y, z, a, b, c] = attributes.leading("surfacevel", [0.0; 6])?;
    let motion = SurfaceMotion { linear: Vec3::new(x, y, z), angular: Vec3::new(a, b, c) };
    Ok(Some(motion).filter(|motion| motion.linear != Vec3::ZERO || motion.angular != Vec3::ZERO))
}

/// How a medium acts on it, unless that is left to the inertia of its body; numbers that are missing are those of the default.
fn fluid(attributes: &Attributes<'_, '_>) -> Result<Option<FluidCoefficients>, LoadError> {
    const SHAPES: [(&str, bool); 2] = [("none", false), ("ellipsoid", true)];
    let coefficients = attributes.leading("fluidcoef", FluidCoefficients::default().to_array())?;
    if !attributes.keyword("fluidshape", &SHAPES)?.unwrap_or(false) {
        return Ok(None);
    }
    if coefficients[..3].iter().any(|&drag| drag < 0.0) {
        let message = format!("fluidcoef={coefficients:?}: expected 0 or more of the first three, which are drag");
        return Err(attributes.source("fluidcoef").error(message));
    }
    Ok(Some(FluidCoefficients::from_array(coefficients)))
}

fn mass_model(attributes: &Attributes<'_, '_>) -> Result<MassModel, LoadError> {
    let shell = attributes.flag("shellinertia")?.unwrap_or(false);
    Ok(if shell { MassModel::Shell } else { MassModel::Solid })
}

/// The sizes of a geom or site (`otherwise` those that are missing), and its pose when `fromto` gives both.
///
/// With `fromto` the element's z axis runs from the second point to the first, and its last size is half their
/// distance.
pub(super) fn size_and_segment(
    attributes: &Attributes<'_, '_>,
    kind: Type,
    otherwise: [f64; 3],
) -> Result<([f64; 3], Option<Pose<f64>>), LoadError> {
    let mut size = attributes.leading("size", otherwise)?;
    let Some([a, b, c, d, e, f]) = attributes.array("fromto")? else { return Ok((size, None)) };
    let (from, to) = (Vec3::new(a, b, c), Vec3::new(d, e, f));
    let at = attributes.source("fromto");
    let half_length = (from - to).norm() / 2.0;
    let axis = (from - to).normalized();
    let axis = axis.ok_or_else(|| at.error("fromto: expected two points apart from each other"))?;
    match kind {
        Type::Capsule | Type::Cylinder => size[1] = half_length,
        Type::Ellipsoid | Type::Box => size = [size[0], size[0], half_length],
        _ => return Err(at.error("fromto: expected it on a capsule, cylinder, ellipsoid or box only")),
    }
    Ok((size, Some(Pose::new((from + to) * 0.5, from_z_axis(axis)))))
}

fn primitive(attributes: &Attributes<'_, '_>, kind: Type, size: [f64; 3]) -> Result<Shape, LoadError> {
    let at = attributes.source("size");
    let (needed, name) = match kind {
        Type::Plane => (0, "plane"),
        Type::Sphere => (1, "sphere"),
        Type::Capsule => (2, "capsule"),
        Type::Cylinder => (2, "cylinder"),
        Type::Ellipsoid => (3, "ellipsoid"),
        Type::Box => (3, "box"),
        Type::Mesh | Type::Sdf => return Err(at.error("no attribute `mesh`: expected the name of a mesh")),
        Type::HeightField => return Err(at.error("no attribute `hfield`: expected the name of a height field")),
    };
    if size[..needed].iter().any(|&s| s <= 0.0) {
        let plural = if needed == 1 { "" } else { "s" };
        return Err(at.error(format!("size={:?}: expected {needed} number{plural} above 0 for a {name}", &size)));
    }
    let [x, y, z] = size;
    Ok(match kind {
        // Without an end where the size is none.
        Type::Plane => Shape::Plane { half_extents: [x.max(0.0), y.max(0.0)] },
        Type::Sphere => Shape::Sphere { radius: x },
        Type::Capsule => Shape::Capsule { radius: x, half_length: y },
        Type::Cylinder => Shape::Cylinder { radius: x, half_length: y },
        Type::Ellipsoid => Shape::Ellipsoid { radii: [x, y, z] },
        _ => Shape::Box { half_extents: [x, y, z] },
    })
}
