//! Soft bodies as `<flexcomp>` of type `direct`.

use std::collections::BTreeMap;

use deformable::{MassModel, MaterialModel, Order, SoftBody};
use geometry::SoftAttachment;
use spatial::{Pose, Vec3};

use super::numbers::{list, number};
use super::xml::Xml;
use super::{WriteError, Writer, free_name, label};
use crate::overlaps::poses_at_start;

/// Soft bodies by the body in which they stand, and what is to be known of that.
pub(super) struct SoftBelow {
    by_body: BTreeMap<usize, Vec<usize>>,
    poses: Vec<Pose<f64>>,
    names: Vec<String>,
}

impl Writer<'_> {
    /// Which body each soft body stands in: the one that holds nodes of it, or the world.
    pub(super) fn soft_below(&mut self) -> Result<SoftBelow, WriteError> {
        let (model, scene) = (self.model, self.scene);
        let mut below = SoftBelow { by_body: BTreeMap::new(), poses: Vec::new(), names: Vec::new() };
        if scene.soft_bodies.is_empty() {
            return Ok(below);
        }
        below.poses = poses_at_start(model);
        below.names = super::names("soft body", scene.soft_bodies.iter().map(|soft| soft.name.clone()))?;
        for (index, soft) in scene.soft_bodies.iter().enumerate() {
            let label = label("soft body", &soft.name, index);
            let fail = |reason: &str| Err(WriteError { element: label.clone(), reason: reason.into() });
            if soft.mesh.order() == Order::Quadratic {
                return fail("has elements of ten nodes: MJCF has those of four only");
            }
            let mut holders: Vec<usize> = self.holds(index).map(|hold| hold.body).collect();
            holders.dedup();
            let body = match holders[..] {
                [] => 0,
                [body] if soft.pinned.is_empty() => body,
                _ => {
                    return fail(
                        "is held by several bodies, or by one and the world: a flexcomp has one for all its pins",
                    );
                }
            };
            if below.names[index].is_empty() {
                below.names[index] = free_name(&below.names, &format!("soft{index}"));
            }
            self.note_what_is_lost(&label, soft);
            below.by_body.entry(body).or_default().push(index);
        }
        let order: Vec<usize> = below.by_body.values().flatten().copied().collect();
        if !order.is_sorted() {
            self.note("soft bodies", "are read in the order of the bodies that hold them, which is another one");
        }
        Ok(below)
    }

    fn note_what_is_lost(&mut self, label: &str, soft: &SoftBody) {
        let material = soft.material;
        if material.model != MaterialModel::LinearCorotated {
            self.note(
                label,
                &format!("is read as linear-corotated: MJCF has no words for a material that is {}", material.model),
            );
        }
        if material.damping_mass != 0.0 {
            self.note(label, "loses its damping relative to mass, which MJCF does not have");
        }
        if soft.description().mass == MassModel::Consistent {
            self.note(label, "is read with its mass at its nodes");
        }
    }

    fn holds(&self, soft: usize) -> impl Iterator<Item = &SoftAttachment> {
        self.scene.soft_attachments.iter().filter(move |hold| hold.soft == soft)
    }

    /// The soft bodies that stand in a body.
    pub(super) fn soft_bodies(&self, xml: &mut Xml, body: usize, below: &SoftBelow) {
        for &index in below.by_body.get(&body).into_iter().flatten() {
            self.soft_body(xml, index, body, below);
        }
    }

    fn soft_body(&self, xml: &mut Xml, index: usize, body: usize, below: &SoftBelow) {
        let soft = &self.scene.soft_bodies[index];
        let mut points: Vec<Vec3<f64>> = soft.mesh.positions().to_vec();
        if body != 0 {
            let inverse = below.poses[body].inverse();
            points.iter_mut().for_each(|x| *x = inverse.transform_point(*x));
        }
        let mut pins = soft.pinned.clone();
        for hold in self.holds(index) {
            points[hold.node as usize] = hold.point;
            pins.push(hold.node);
        }
        let coordinates: Vec<f64> = points.iter().flat_map(|x| x.to_array()).collect();
        let words = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(" ");
        let [r, g, b, a] = soft.colour;
        let attributes = [
            ("name", below.names[index].clone()),
            ("type", "direct".into()),
            ("dim", "3".into()),
            ("mass", number(mass_text(soft))),
            ("radius", number(soft.radius)),
            ("rgba", format!("{r} {g} {b} {a}")),
            ("point", list(&coordinates)),
            ("element", words(soft.mesh.elements())),
        ];
        xml.open("flexcomp", &attributes);
        let material = soft.material;
        let elasticity =
            [("young", material.young), ("poisson", material.poisson), ("damping", material.damping_stiffness)];
        xml.empty("elasticity", &elasticity.map(|(name, value)| (name, number(value))));
        let self_contact = if soft.self_contact { "auto" } else { "none" };
        xml.empty("contact", &[("friction", number(soft.friction)), ("selfcollide", self_contact.into())]);
        if !pins.is_empty() {
            xml.empty("pin", &[("id", words(&pins))]);
        }
        xml.close("flexcomp");
    }
}

/// The mass that is read as the body's density.
fn mass_text(soft: &SoftBody) -> f64 {
    let unit = deformable::Material::default().density;
    let description = deformable::SoftBodyDescription::clone(soft.description());
    let usual = deformable::Material { density: unit, ..description.material };
    let Ok(usual) = SoftBody::new(deformable::SoftBodyDescription { material: usual, ..description }) else {
        return soft.total_mass();
    };
    let (usual, mass) = (usual.total_mass(), soft.total_mass());
    // As `SoftBody::with_total_mass` computes it.
    let density = |mass: f64| unit * (mass / usual);
    let near = (0..=8).flat_map(|k| [1.0, -1.0].map(|sign| mass * (1.0 + sign * f64::from(k) * f64::EPSILON)));
    near.into_iter().find(|mass| density(*mass) == soft.material.density).unwrap_or(mass)
}
