//! `<flexcomp>` of dimension 3: soft bodies of tetrahedra.
//!
//! Nodes of `grid` and `direct` are numbered as MuJoCo numbers them. `box`, `cylinder` and `ellipsoid` have MuJoCo's surface, but are filled
//! with a grid, where MuJoCo joins the surface to one node in the middle.

pub(super) mod material;

use deformable::{Material, MaterialModel, SoftBodyDescription, TetMesh};
use geometry::Scene;
use multibody::Model;

use super::Reader;
use super::body::Item;
use super::defaults::Attributes;
use super::flex_mesh::{Inside, KINDS, Kind, Mesh, pins};
use crate::mesh_files::volume::VolumeMesh;
use crate::xml::Element;
use crate::{LoadError, StandingSoftBody};

/// Flexible bodies that are left out, among the kinds of names.
pub(super) const MISSING_FLEX: &str = "flexible body that is missing from the model";

pub(super) const WITHOUT_YOUNG: &str =
    "has no <elasticity young=…>: of constraints only `equality=\"true\"` is simulated, and only `dof` full and 2d";
const WITHOUT_EDGES: &str =
    "elastic cloth is simulated where its edges keep their lengths: expected <edge equality=\"true\"/>";

/// What is said of a surface.
#[derive(Default)]
pub(super) struct SoftSurface {
    radius: f64,
    friction: Option<f64>,
    colour: Option<[f32; 4]>,
    self_contact: bool,
}

impl SoftSurface {
    pub fn of(self, name: String, mesh: TetMesh, material: Material) -> SoftBodyDescription {
        let Self { radius, friction, colour, self_contact } = self;
        let usual = SoftBodyDescription::new(name, mesh, material);
        let (friction, colour) = (friction.unwrap_or(usual.friction), colour.unwrap_or(usual.colour));
        SoftBodyDescription { radius, friction, colour, self_contact, ..usual }
    }
}

/// Young's modulus, Pa; 0 where there is none.
pub(super) fn young(element: Element<'_>) -> Result<f64, LoadError> {
    Ok(element.child("elasticity").map(|e| e.number("young")).transpose()?.flatten().unwrap_or(0.0))
}

/// A soft body that waits for the model, which says where its parent body is.
pub(super) struct Flex<'a> {
    element: Element<'a>,
    body: usize,
    description: SoftBodyDescription,
    /// All its mass, kg.
    mass: f64,
}

impl Flex<'_> {
    /// Its name, and the model of its material.
    pub fn material_model(&mut self) -> (&str, &mut MaterialModel) {
        (&self.description.name, &mut self.description.material.model)
    }
}

impl<'a> Reader<'_, 'a> {
    /// Reads a `<flexcomp>` of `body`. What is no volume is left out with a warning.
    pub(super) fn flexcomp(&mut self, item: &Item<'a>, body: usize) -> Result<(), LoadError> {
        let element = item.element;
        let attributes = &self.defaults.attributes(element, 0)?;
        let kind = attributes.keyword("type", &KINDS)?.unwrap_or(Kind::Grid);
        let young = young(element)?;
        let reason = match (attributes.integer("dim")?.unwrap_or(2), kind) {
            _ if attributes.flag("rigid")? == Some(true) => Some("`rigid` bodies are geoms: expected a geom"),
            (3, Kind::Square | Kind::Disc | Kind::Circle) => {
                Some("types of surfaces are not filled with tetrahedra: expected a file of `type=\"gmsh\"`")
            }
            (3, _) => (young == 0.0).then_some(WITHOUT_YOUNG),
            _ => Some(WITHOUT_EDGES),
        };
        if let Some(reason) = reason {
            self.warnings.add(element, &format!("{reason}; it is missing from the model"));
            self.names.reserve(MISSING_FLEX, attributes.text("name").unwrap_or_default(), 0);
            element.skip_all();
            return Ok(());
        }
        let pose = item.frame * self.compiler.angles.pose(attributes)?;
        let volume = self.flex_mesh(attributes, pose, Inside::Grid)?;
        if volume.corners != 4 {
            return Err(element.error("expected tetrahedra of four nodes (MJCF has linear elements)"));
        }
        let name = self.names.claim(element, "flex", &item.suffix, self.flexes.len())?;
        let pinned = pins(element, &volume)?;
        let mesh = tetrahedra(element, volume)?;
        let (material, surface) = self.material_and_surface(attributes, young)?;
        let description = SoftBodyDescription { pinned, ..surface.of(name, mesh, material) };
        let mass = attributes.number("mass")?.unwrap_or(1.0);
        if !(mass > 0.0 && mass.is_finite()) {
            return Err(attributes.source("mass").error(format!("mass=\"{mass}\": expected a number above 0, kg")));
        }
        attributes.skip(&["inertiabox", "group", "flatskin", "texcoord", "origin"]);
        self.flexes.push(Flex { element, body, description, mass });
        Ok(())
    }

    /// What `<flexcomp>` and `<flex>` say alike: the material, which has this Young's modulus, and the surface.
    pub(super) fn material_and_surface(
        &mut self,
        attributes: &Attributes<'_, 'a>,
        young: f64,
    ) -> Result<(Material, SoftSurface), LoadError> {
        let element = attributes.element();
        let mut material = Material { young, poisson: 0.0, damping_stiffness: 0.0, ..Material::default() };
        if let Some(elasticity) = element.child("elasticity") {
            material.poisson = elasticity.number("poisson")?.unwrap_or(0.0);
            material.damping_stiffness = elasticity.number("damping")?.unwrap_or(0.0);
            elasticity.skip(&["thickness", "elastic2d"]);
        }
        let mut surface =
            SoftSurface { radius: attributes.number("radius")?.unwrap_or(0.005), ..SoftSurface::default() };
        if attributes.has(&["rgba", "material"]) {
            surface.colour = Some(self.assets.rgba(attributes)?);
        }
        if let Some(contact) = element.child("contact") {
            surface.friction = contact.numbers("friction")?.and_then(|f| f.first().copied());
            surface.self_contact = contact.attribute("selfcollide").is_some_and(|kind| kind != "none");
            contact.skip(&["internal", "activelayers", "vertcollide"]);
        }
        if let Some(edge) = element.child("edge") {
            edge.skip_all();
        }
        Ok((material, surface))
    }
}

/// Adds the soft bodies to the scene: nodes pinned to the world stay in place, those pinned to a body are held by it.
pub(super) fn attach(flexes: Vec<Flex<'_>>, model: &Model, scene: &mut Scene) -> Result<(), LoadError> {
    if flexes.is_empty() {
        return Ok(());
    }
    let poses = crate::overlaps::poses_at_start(model);
    for Flex { element, body, description, mass } in flexes {
        let standing = StandingSoftBody { body, description, held: Vec::new() };
        standing.add_to(scene, model, &poses, Some(mass)).map_err(|error| element.error(error.to_string()))?;
    }
    Ok(())
}

fn tetrahedra(element: Element<'_>, Mesh { nodes, elements, .. }: Mesh) -> Result<TetMesh, LoadError> {
    let mesh = VolumeMesh { nodes, nodes_per_element: 4, elements };
    mesh.into_mesh().map_err(|error| element.error(error.to_string()))
}
