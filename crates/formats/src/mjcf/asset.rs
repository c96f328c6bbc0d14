//! `<asset>`: meshes, height fields and materials that geoms refer to.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use geometry::{HeightField, Look, Texture};

use super::asset_files::{Files, asset_name};
use super::compiler::Compiler;
use super::defaults::{Attributes, Defaults};
use super::{height_field, mesh, texture};
use crate::LoadError;
use crate::limits::Budget;
use crate::warnings::Warnings;
use crate::xml::{Element, parse_array};

/// The assets of a model by name.
#[derive(Debug, Default)]
pub(super) struct Assets {
    meshes: BTreeMap<String, mesh::MeshAsset>,
    height_fields: BTreeMap<String, Arc<HeightField>>,
    materials: BTreeMap<String, Material>,
    textures: BTreeMap<String, Arc<Texture>>,
    sky: Option<Arc<Texture>>,
}

/// What a material gives geoms.
#[derive(Clone, Debug)]
struct Material {
    rgba: [f32; 4],
    texture: Option<String>,
    repeat: [f64; 2],
    uniform: bool,
}

/// What materials say of their looks.
const APPEARANCE: [&str; 6] = ["emission", "specular", "shininess", "reflectance", "metallic", "roughness"];

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
        let files = Files { base, compiler };
        let mut assets = Self::default();
        let budget = &mut Budget::default();
        let (mut wanted, mut declared) = (Vec::new(), BTreeSet::new());
        for element in root.children_named("asset").flat_map(Element::children) {
            match element.name() {
                "mesh" => {
                    let attributes = defaults.attributes(element, 0)?;
                    let asset = mesh::read(root, &attributes, files, budget, warnings)?;
                    claim(element, &mut assets.meshes, asset)?;
                }
                "hfield" => {
                    let field = height_field::read(element, &asset_name(element)?, files, budget)?;
                    claim(element, &mut assets.height_fields, Arc::new(field))?;
                }
                "material" => {
                    let attributes = defaults.attributes(element, 0)?;
                    let material = material(&attributes)?;
                    element.skip_all();
                    attributes.skip(&APPEARANCE);
                    wanted.extend(material.texture.clone().map(|texture| (element, texture)));
                    claim(element, &mut assets.materials, material)?;
                }
                // Models are declared here and brought in by `<attach>`.
                "model" => element.skip_all(),
                // What cannot be shown does not change the motion.
                "texture" => {
                    declared.extend(asset_name(element).ok());
                    match texture::read(element, files, budget) {
                        Ok(texture::TextureAsset { texture, is_sky: true }) if assets.sky.is_none() => {
                            assets.sky = Some(Arc::new(texture));
                        }
                        Ok(texture::TextureAsset { texture, .. }) => {
                            assets.textures.insert(texture.name.clone(), Arc::new(texture));
                        }
                        Err(message) => warnings.add(element, &format!("not shown: {message}")),
                    }
                }
                // Left unread: a warning will name it.
                _ => {}
            }
        }
        for (material, texture) in wanted.into_iter().filter(|(_, texture)| !declared.contains(texture)) {
            warnings.add_attribute(material, "texture", &format!("no texture has the name {texture:?}: not shown"));
        }
        Ok(assets)
    }

    /// The mesh that an attribute of `at` names.
    pub fn mesh(&self, at: Element<'_>, name: &str) -> Result<&mesh::MeshAsset, LoadError> {
        self.meshes.get(name).ok_or_else(|| at.error(format!("mesh=\"{name}\": expected the name of a mesh")))
    }

    /// The height field that an attribute of `at` names.
    pub fn height_field(&self, at: Element<'_>, name: &str) -> Result<Arc<HeightField>, LoadError> {
        let field = self.height_fields.get(name).cloned();
        field.ok_or_else(|| at.error(format!("hfield=\"{name}\": expected the name of a height field")))
    }

    /// The colour of a geom: its own, its material's, or grey.
    pub fn rgba(&self, attributes: &Attributes<'_, '_>) -> Result<[f32; 4], LoadError> {
        Ok(colour(attributes)?.or(self.material(attributes).map(|material| material.rgba)).unwrap_or(GREY))
    }

    /// What a geom shows in the place of its colour.
    pub fn look(&self, attributes: &Attributes<'_, '_>) -> Option<Look> {
        let Material { texture, repeat, uniform, .. } = self.material(attributes)?;
        let texture = self.textures.get(texture.as_deref()?)?.clone();
        Some(Look::Texture { texture, repeat: *repeat, uniform: *uniform })
    }

    /// Whether a geom names a material that there is, or none.
    pub fn knows_material(&self, attributes: &Attributes<'_, '_>) -> bool {
        attributes.text("material").is_none() || self.material(attributes).is_some()
    }

    /// The first texture for the sky.
    pub fn sky(&self) -> Option<Arc<Texture>> {
        self.sky.clone()
    }

    fn material(&self, attributes: &Attributes<'_, '_>) -> Option<&Material> {
        attributes.text("material").and_then(|name| self.materials.get(name))
    }
}

fn material(attributes: &Attributes<'_, '_>) -> Result<Material, LoadError> {
    let element = attributes.element();
    // A texture by its role stands in a child of its own.
    let layers = element.children_named("layer").filter(|layer| layer.attribute("role") == Some("rgb"));
    let layer = layers.filter_map(|layer| layer.attribute("texture")).next_back();
    Ok(Material {
        rgba: colour(attributes)?.unwrap_or([1.0; 4]),
        texture: attributes.text("texture").or(layer).map(String::from),
        repeat: attributes.array("texrepeat")?.unwrap_or([1.0; 2]),
        uniform: attributes.flag("texuniform")?.unwrap_or(false),
    })
}

fn colour(attributes: &Attributes<'_, '_>) -> Result<Option<[f32; 4]>, LoadError> {
    let parse = |(at, name, value)| Ok(parse_array::<4>(at, name, value)?.map(|c| c as f32));
    attributes.find(&["rgba"]).map(parse).transpose()
}

fn claim<T>(element: Element<'_>, assets: &mut BTreeMap<String, T>, asset: T) -> Result<(), LoadError> {
    let name = asset_name(element)?;
    let kind = element.name();
    if assets.insert(name.clone(), asset).is_some() {
        return Err(element.error(format!("name=\"{name}\": expected a name that no other {kind} has")));
    }
    Ok(())
}
