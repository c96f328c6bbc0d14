//! Materials: from the symbol of a primitive to a colour or a texture.
//!
//! `<bind_material>` of an instance binds symbols to `<material>`s, these name an `<effect>`, whose technique has a `<diffuse>` colour or
//! texture. What leads nowhere is no error: it changes nothing but looks.

use std::collections::HashMap;
use std::path::Path;

use geometry::Paint;

use super::super::materials::Textures;
use super::numbers;
use crate::xml::Element;

/// The paints of effects, each read once.
pub(super) struct Paints {
    textures: Textures,
    paints: Vec<Paint>,
    /// By the index of the `<effect>`.
    known: HashMap<usize, Option<u32>>,
}

type ById<'a> = HashMap<&'a str, Element<'a>>;

/// The identifiers of materials by the symbols that an instance binds to them.
pub(super) type Bindings<'a> = HashMap<&'a str, &'a str>;

/// What an instance binds.
pub(super) fn bindings<'a>(instance: Element<'a>) -> Bindings<'a> {
    let bind = instance.child("bind_material").and_then(|bind| bind.child("technique_common"));
    let materials = bind.into_iter().flat_map(Element::children);
    let pair = |m: Element<'a>| Some((m.attribute("symbol")?, m.attribute("target")?.trim_start_matches('#')));
    materials.filter_map(pair).collect()
}

impl Paints {
    pub fn new(mesh: &Path) -> Self {
        let textures = Textures::new(mesh);
        Self { textures, paints: Vec::new(), known: HashMap::new() }
    }

    /// The index of the paint of a symbol, which an instance has bound to a material or not.
    pub fn index(&mut self, symbol: Option<&str>, bound: &Bindings<'_>, by_id: &ById<'_>) -> Option<u32> {
        let symbol = symbol?;
        // Without a binding the symbol is often the material itself.
        let material = by_id.get(bound.get(symbol).copied().unwrap_or(symbol))?;
        let target = material.child("instance_effect")?.attribute("url")?;
        let effect = *by_id.get(target.trim_start_matches('#'))?;
        if let Some(&known) = self.known.get(&effect.index()) {
            return known;
        }
        let paint = self.read(effect, by_id);
        let index = paint.map(|paint| {
            self.paints.push(paint);
            self.paints.len() as u32 - 1
        });
        self.known.insert(effect.index(), index);
        index
    }

    pub fn finish(self) -> Vec<Paint> {
        self.paints
    }

    fn read(&mut self, effect: Element<'_>, by_id: &ById<'_>) -> Option<Paint> {
        let profile = effect.child("profile_COMMON")?;
        let shading = profile.child("technique")?.children();
        let diffuse = shading.into_iter().find_map(|model| model.child("diffuse"))?;
        if let Some(texture) = diffuse.child("texture") {
            let file = image(profile, texture.attribute("texture")?, by_id);
            let texture = file.and_then(|file| self.textures.get(file));
            return Some(Paint { rgb: [0.6; 3], texture });
        }
        let numbers: Vec<f32> = numbers(diffuse.child("color")?).ok()?;
        let rgb = numbers.first_chunk::<3>()?.map(|c| c.clamp(0.0, 1.0));
        Some(Paint { rgb, texture: None })
    }
}

/// The address of the picture that a sampler of an effect, or an image, names.
fn image<'a>(profile: Element<'a>, name: &'a str, by_id: &ById<'a>) -> Option<&'a str> {
    let parameter =
        |sid: &str| profile.children_named("newparam").find(|parameter| parameter.attribute("sid") == Some(sid));
    let sampler = parameter(name).and_then(|parameter| parameter.child("sampler2D"));
    let id = match sampler {
        None => name,
        Some(sampler) => match sampler.child("instance_image") {
            Some(instance) => instance.attribute("url")?.trim_start_matches('#'),
            None => {
                let surface = parameter(sampler.child("source")?.text().trim())?.child("surface")?;
                surface.child("init_from")?.text().trim()
            }
        },
    };
    let from = by_id.get(id)?.child("init_from")?;
    Some(from.child("ref").map_or(from.text(), Element::text).trim())
}
