//! Soft bodies as `<flexcomp>` of type `direct`; those that several bodies hold as `<flex>`, with a body for each node that moves by itself.

use std::collections::BTreeMap;

use deformable::{MassModel, Material, MaterialModel, Order, SoftBody, SoftBodyDescription};
use geometry::SoftAttachment;
use spatial::{Pose, Vec3};

use super::super::flex::material::SUFFIX;
use super::numbers::{list, number};
use super::xml::{Attributes, Xml};
use super::{WriteError, Writer, free_name, give_name, label};
use crate::overlaps::poses_at_start;

/// Where soft bodies are written.
#[derive(Default)]
pub(super) struct SoftBelow {
    /// Those that stand in one body, by that body.
    by_body: BTreeMap<usize, Vec<usize>>,
    /// Those that several bodies hold, or a body and the world: with the names of the bodies of their nodes.
    listed: Vec<(usize, Vec<String>)>,
    poses: Vec<Pose<f64>>,
    names: Vec<String>,
}

impl Writer<'_> {
    /// Which body each soft body stands in: the one that holds nodes of it, or the world.
    pub(super) fn soft_below(&mut self) -> Result<SoftBelow, WriteError> {
        let (model, scene) = (self.model, self.scene);
        let mut below = SoftBelow::default();
        if scene.soft_bodies.is_empty() {
            return Ok(below);
        }
        below.poses = poses_at_start(model);
        below.names = super::names("soft body", scene.soft_bodies.iter().map(|soft| soft.name.clone()))?;
        for (index, soft) in scene.soft_bodies.iter().enumerate() {
            let label = label("soft body", &soft.name, index);
            if soft.mesh.order() == Order::Quadratic {
                let reason = "has elements of ten nodes: MJCF has those of four only";
                return Err(WriteError { element: label, reason: reason.into() });
            }
            if below.names[index].is_empty() {
                below.names[index] = free_name(&below.names, &format!("soft{index}"));
            }
            self.note_what_is_lost(&label, soft);
            let mut holders: Vec<usize> = self.holds(index).map(|hold| hold.body).collect();
            holders.sort_unstable();
            holders.dedup();
            match holders[..] {
                [] => below.by_body.entry(0).or_default().push(index),
                [body] if soft.pinned.is_empty() => below.by_body.entry(body).or_default().push(index),
                _ => {
                    let bodies = self.bodies_of_nodes(index, &below.names[index]);
                    below.listed.push((index, bodies));
                }
            }
        }
        let listed = below.listed.iter().map(|(index, _)| *index);
        let order: Vec<usize> = below.by_body.values().flatten().copied().chain(listed).collect();
        if !order.is_sorted() {
            self.note("soft bodies", "are read in the order of the bodies that hold them, which is another one");
        }
        Ok(below)
    }

    fn note_what_is_lost(&mut self, label: &str, soft: &SoftBody) {
        let material = soft.material;
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
        let mut attributes = shared_attributes(soft, &below.names[index]);
        attributes.extend([
            ("type", "direct".into()),
            ("mass", number(mass_text(soft))),
            ("point", coordinates(&points)),
        ]);
        xml.open("flexcomp", &attributes);
        material_and_contact(xml, soft);
        if !pins.is_empty() {
            xml.empty("pin", &[("id", words(&pins))]);
        }
        xml.close("flexcomp");
    }

    /// The names of the bodies that the nodes of a `<flex>` are fixed in: the world for those that are pinned, the bodies that hold nodes,
    /// and one of its own for each other node.
    fn bodies_of_nodes(&mut self, index: usize, name: &str) -> Vec<String> {
        let (soft, scene) = (&self.scene.soft_bodies[index], self.scene);
        let own = |node: usize| match soft.is_pinned(node as u32) {
            true => "world".to_owned(),
            false => free_name(&self.bodies, &format!("{name}_{node}")),
        };
        let mut bodies: Vec<String> = (0..soft.node_count()).map(own).collect();
        for hold in scene.soft_attachments.iter().filter(|hold| hold.soft == index) {
            give_name(&mut self.bodies, hold.body, "body");
            bodies[hold.node as usize].clone_from(&self.bodies[hold.body]);
        }
        bodies
    }

    /// A body on three slides for each node of a `<flex>` that nothing holds.
    pub(super) fn flex_nodes(&self, xml: &mut Xml, below: &SoftBelow) {
        for (index, names) in &below.listed {
            let soft = &self.scene.soft_bodies[*index];
            let mut is_free: Vec<bool> = (0..soft.node_count()).map(|node| !soft.is_pinned(node as u32)).collect();
            self.holds(*index).for_each(|hold| is_free[hold.node as usize] = false);
            let mass = soft.total_mass() / soft.node_count() as f64;
            let nodes = soft.mesh.positions().iter().zip(names).zip(is_free);
            for ((x, name), _) in nodes.filter(|(_, is_free)| *is_free) {
                xml.open("body", &[("name", name.clone()), ("pos", list(&x.to_array()))]);
                // It does not turn: any inertia does.
                let inertia = list(&[1e-6 * mass; 3]);
                xml.empty("inertial", &[("pos", "0 0 0".into()), ("mass", number(mass)), ("diaginertia", inertia)]);
                for axis in ["1 0 0", "0 1 0", "0 0 1"] {
                    xml.empty("joint", &[("type", "slide".into()), ("axis", axis.into())]);
                }
                xml.close("body");
            }
        }
    }

    /// Materials that are not the default: MJCF leaves it to readers what custom texts mean.
    pub(super) fn soft_materials(&self, xml: &mut Xml, below: &SoftBelow) {
        let soft = self.scene.soft_bodies.iter().map(|soft| soft.material.model).zip(&below.names);
        let special: Vec<_> = soft.filter(|(model, _)| *model != MaterialModel::default()).collect();
        if special.is_empty() {
            return;
        }
        xml.open("custom", &[]);
        for (model, name) in special {
            xml.empty("text", &[("name", format!("{name}{SUFFIX}")), ("data", model.to_string())]);
        }
        xml.close("custom");
    }

    /// The section `<deformable>`.
    pub(super) fn flexes(&self, xml: &mut Xml, below: &SoftBelow) {
        if below.listed.is_empty() {
            return;
        }
        xml.open("deformable", &[]);
        for (index, names) in &below.listed {
            let soft = &self.scene.soft_bodies[*index];
            let mut points = vec![Vec3::ZERO; soft.node_count()];
            soft.pinned.iter().for_each(|&node| points[node as usize] = soft.mesh.positions()[node as usize]);
            self.holds(*index).for_each(|hold| points[hold.node as usize] = hold.point);
            let mut attributes = shared_attributes(soft, &below.names[*index]);
            attributes.extend([("body", names.join(" ")), ("vertex", coordinates(&points))]);
            xml.open("flex", &attributes);
            material_and_contact(xml, soft);
            xml.close("flex");
        }
        xml.close("deformable");
    }
}

fn words(numbers: &[u32]) -> String {
    numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")
}

fn coordinates(points: &[Vec3<f64>]) -> String {
    list(&points.iter().flat_map(|x| x.to_array()).collect::<Vec<f64>>())
}

/// What `<flexcomp>` and `<flex>` have alike.
fn shared_attributes(soft: &SoftBody, name: &str) -> Attributes {
    let [r, g, b, a] = soft.colour;
    vec![
        ("name", name.to_owned()),
        ("dim", "3".into()),
        ("radius", number(soft.radius)),
        ("rgba", format!("{r} {g} {b} {a}")),
        ("element", words(soft.mesh.elements())),
    ]
}

fn material_and_contact(xml: &mut Xml, soft: &SoftBody) {
    let material = soft.material;
    let elasticity =
        [("young", material.young), ("poisson", material.poisson), ("damping", material.damping_stiffness)];
    xml.empty("elasticity", &elasticity.map(|(name, value)| (name, number(value))));
    let self_contact = if soft.self_contact { "auto" } else { "none" };
    xml.empty("contact", &[("friction", number(soft.friction)), ("selfcollide", self_contact.into())]);
}

/// The mass that is read as the body's density.
fn mass_text(soft: &SoftBody) -> f64 {
    let unit = Material::default().density;
    let description = SoftBodyDescription::clone(soft.description());
    let usual = Material { density: unit, ..description.material };
    let Ok(usual) = SoftBody::new(SoftBodyDescription { material: usual, ..description }) else {
        return soft.total_mass();
    };
    let (usual, mass) = (usual.total_mass(), soft.total_mass());
    // As `SoftBody::with_total_mass` computes it.
    let density = |mass: f64| unit * (mass / usual);
    let mut near = (0..=8).flat_map(|k| [1.0, -1.0].map(|sign| mass * (1.0 + sign * f64::from(k) * f64::EPSILON)));
    near.find(|mass| density(*mass) == soft.material.density).unwrap_or(mass)
}
