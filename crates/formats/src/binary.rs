//! Models as bytes: complete, bit for bit, for other processes and for caches. Not a format to keep models in: another version of
//! Sapwood may not read it, and says so.

use std::collections::HashMap;
use std::sync::Arc;

use geometry::{Geom, HeightField, Look, Mesh, Scene, Shape, Texture, TextureKind};
use multibody::Model;
use serde::{Deserialize, Serialize};

use crate::Loaded;

/// What bytes of a model begin with.
const MAGIC: &[u8; 8] = b"sapmodel";

/// The layout of what follows: one more whenever a type in [`Contents`] changes, which the test `layout_is_known` notices.
const LAYOUT: u32 = 23;

/// Magic, layout, checksum.
const HEADER: usize = 8 + 4 + 8;

/// Why bytes are not a model.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BytesError {
    /// They do not begin like a model.
    #[error(
        "the bytes are not a model: expected {HEADER} or more that begin with \"sapmodel\", as to_bytes makes them"
    )]
    Format,
    /// They are of another version.
    #[error(
        "the bytes have layout {found}: expected {LAYOUT}, that of this version of Sapwood; load the model's file anew"
    )]
    Layout {
        /// The layout that came.
        found: u32,
    },
    /// They have changed since they were made.
    #[error("the bytes are damaged: expected those that to_bytes made, all of them")]
    Damaged,
    /// They tell of a model that cannot be.
    #[error("the bytes tell of no model: {0}")]
    Model(String),
}

/// A model and its scene; meshes and height fields once, however many geoms share them.
#[derive(Serialize, Deserialize)]
struct Contents {
    model: Model,
    scene: Scene,
    /// For geoms with a mesh or a height field, its index in `assets`; the geoms have empty ones in their place.
    of_geom: Vec<Option<u32>>,
    assets: Vec<Shape>,
    /// For geoms with a texture its index in `textures`; the geoms have empty ones in its place.
    texture_of_geom: Vec<Option<u32>>,
    textures: Vec<Arc<Texture>>,
}

/// The bytes of a model and its scene, from which [`from_bytes`] makes the same ones, bit for bit.
///
/// # Panics
/// When they do not fit into memory.
pub fn to_bytes(model: &Model, scene: &Scene) -> Vec<u8> {
    let mut contents = Contents {
        model: model.clone(),
        scene: scene.clone(),
        of_geom: Vec::new(),
        assets: Vec::new(),
        texture_of_geom: Vec::new(),
        textures: Vec::new(),
    };
    contents.take_textures();
    let mut known = HashMap::new();
    for geom in &mut contents.scene.geoms {
        let (address, empty) = match &geom.shape {
            Shape::Mesh(mesh) => (Arc::as_ptr(mesh).cast::<()>(), Shape::Mesh(Arc::default())),
            Shape::HeightField(field) => (Arc::as_ptr(field).cast(), Shape::HeightField(Arc::default())),
            _ => {
                contents.of_geom.push(None);
                continue;
            }
        };
        let asset = std::mem::replace(&mut geom.shape, empty);
        let assets = &mut contents.assets;
        let index = *known.entry(address).or_insert_with(|| {
            assets.push(asset);
            assets.len() as u32 - 1
        });
        contents.of_geom.push(Some(index));
    }
    let mut bytes = MAGIC.to_vec();
    bytes.extend(LAYOUT.to_le_bytes());
    bytes.extend([0; 8]);
    // Nothing in a model can fail to be written: there are no maps with odd keys, no sequences of unknown length.
    let mut bytes = postcard::to_extend(&contents, bytes).unwrap_or_default();
    if bytes.len() >= HEADER {
        let sum = checksum(&bytes[HEADER..]);
        bytes[12..HEADER].copy_from_slice(&sum.to_le_bytes());
    }
    bytes
}

impl Contents {
    /// Takes the textures out of the geoms, each once.
    fn take_textures(&mut self) {
        let Self { scene, texture_of_geom, textures, .. } = self;
        let mut known = HashMap::new();
        texture_of_geom.extend(scene.geoms.iter_mut().map(texture_in).map(|texture| {
            let texture = std::mem::take(texture?);
            Some(*known.entry(Arc::as_ptr(&texture)).or_insert_with(|| {
                textures.push(texture);
                textures.len() as u32 - 1
            }))
        }));
    }

    /// Puts them back.
    fn put_textures(&mut self) -> Result<(), &'static str> {
        let Self { scene, texture_of_geom, textures, .. } = self;
        if texture_of_geom.len() != scene.geoms.len() {
            return Err("its geoms and textures do not fit each other");
        }
        for (geom, index) in scene.geoms.iter_mut().zip(texture_of_geom) {
            match (texture_in(geom), index.map(|index| textures.get(index as usize))) {
                (None, None) => {}
                (Some(place), Some(Some(texture))) => *place = texture.clone(),
                _ => return Err("a geom names a texture that is not there"),
            }
        }
        Ok(())
    }
}

fn texture_in(geom: &mut Geom) -> Option<&mut Arc<Texture>> {
    match &mut geom.look {
        Some(Look::Texture { texture, .. }) => Some(texture),
        _ => None,
    }
}

/// The model and the scene of [`to_bytes`].
///
/// # Errors
/// When the bytes are not those of a model, of another version, damaged, or tell of a model that cannot be. Whatever the bytes are, memory
/// stays within a small multiple of their number.
pub fn from_bytes(bytes: &[u8]) -> Result<Loaded, BytesError> {
    let Some((header, body)) = bytes.split_at_checked(HEADER).filter(|(header, _)| header.starts_with(MAGIC)) else {
        return Err(BytesError::Format);
    };
    let found = u32::from_le_bytes([header[8], header[9], header[10], header[11]]);
    if found != LAYOUT {
        return Err(BytesError::Layout { found });
    }
    if header[12..] != checksum(body).to_le_bytes() {
        return Err(BytesError::Damaged);
    }
    let wrong = |error: &dyn std::fmt::Display| BytesError::Model(error.to_string());
    let (mut contents, rest) = postcard::take_from_bytes::<Contents>(body).map_err(|error| wrong(&error))?;
    if !rest.is_empty() {
        return Err(wrong(&format!("{} bytes follow it", rest.len())));
    }
    contents.put_textures().map_err(|what| wrong(&what))?;
    let Contents { model, mut scene, of_geom, assets, .. } = contents;
    if of_geom.len() != scene.geoms.len() {
        return Err(wrong(&"its geoms and assets do not fit each other"));
    }
    for (geom, asset) in scene.geoms.iter_mut().zip(of_geom) {
        if let Some(index) = asset {
            let asset = assets.get(index as usize).ok_or_else(|| wrong(&"a geom names an asset that is not there"))?;
            geom.shape = asset.clone();
        }
    }
    model.check_structure().map_err(|error| wrong(&error))?;
    check_scene(&model, &scene).map_err(|what| wrong(&format!("{what} of the scene make no sense")))?;
    Ok(Loaded { model, scene })
}

/// Indices and numbers that contact detection relies on.
fn check_scene(model: &Model, scene: &Scene) -> Result<(), &'static str> {
    let ensure = |holds: bool, what| if holds { Ok(()) } else { Err(what) };
    for geom in &scene.geoms {
        ensure(geom.body < model.bodies.len() && geom.material < model.materials.len(), "geoms")?;
        let rotation = geom.pose.rot.to_array();
        let placed = geom.pose.pos.is_finite() && rotation.iter().all(|x| x.is_finite()) && geom.margin.is_finite();
        ensure(placed && is_shape(&geom.shape) && is_look(geom.look.as_ref()), "geoms")?;
    }
    ensure(scene.sky.as_ref().is_none_or(|sky| sky.is_whole() && sky.kind == TextureKind::Cube), "textures")?;
    let geom = |index: &usize| *index < scene.geoms.len();
    let pairs = scene.pairs.iter();
    ensure(pairs.clone().all(|p| p.geoms.iter().all(geom) && p.material < model.materials.len()), "pairs")?;
    let body = |index: &usize| *index < model.bodies.len();
    ensure(scene.excluded.iter().flatten().all(body), "excluded pairs")
}

fn is_look(look: Option<&Look>) -> bool {
    match look {
        Some(Look::Texture { texture, repeat, .. }) => texture.is_whole() && repeat.iter().all(|x| x.is_finite()),
        Some(Look::Paints) | None => true,
    }
}

fn is_shape(shape: &Shape) -> bool {
    let positive = |sizes: &[f64]| sizes.iter().all(|x| *x > 0.0 && x.is_finite());
    match shape {
        Shape::Plane { half_extents } => half_extents.iter().all(|x| *x >= 0.0 && x.is_finite()),
        Shape::Sphere { radius } => positive(&[*radius]),
        Shape::Capsule { radius, half_length } => {
            positive(&[*radius]) && *half_length >= 0.0 && half_length.is_finite()
        }
        Shape::Cylinder { radius, half_length } => positive(&[*radius, *half_length]),
        Shape::Ellipsoid { radii: sizes } | Shape::Box { half_extents: sizes } => positive(sizes),
        Shape::Mesh(mesh) => is_mesh(mesh),
        Shape::HeightField(field) => is_height_field(field),
    }
}

fn is_mesh(mesh: &Mesh) -> bool {
    let Mesh { vertices, triangles, surface, .. } = mesh;
    surface.fits(triangles.len())
        && vertices.iter().all(|v| v.is_finite())
        && triangles.iter().flatten().all(|i| (*i as usize) < vertices.len())
}

fn is_height_field(field: &HeightField) -> bool {
    let HeightField { name, size, half_extents, heights, base } = field.clone();
    HeightField::new(name, size, half_extents, heights, base).is_ok()
}

/// FNV-1a over words of eight bytes: it notices damage, it does not keep anyone from making bytes up.
fn checksum(bytes: &[u8]) -> u64 {
    let step = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x0000_0100_0000_01b3);
    let (words, rest) = bytes.as_chunks::<8>();
    let hash = words.iter().fold(0xcbf2_9ce4_8422_2325, |hash, word| {
        let hash = step(hash, u64::from_le_bytes(*word));
        hash ^ hash >> 29
    });
    rest.iter().fold(step(hash, bytes.len() as u64), |hash, byte| step(hash, u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LoadOptions, load_str};

    const TEXT: &str = r#"<mujoco model="pot"><asset><mesh name="m" vertex="0 0 0 1 0 0 0 1 0 0 0 1"/>
      <texture name="t" type="2d" builtin="checker" width="2" height="2"/><material name="squares" texture="t"/>
      <hfield name="h" nrow="2" ncol="2" size="1 1 1 1" elevation="0 1 1 0"/></asset>
      <default><geom friction="0.7"/></default>
      <worldbody><geom type="plane" size="0 0 1"/><geom type="hfield" hfield="h" pos="9 0 0"/>
      <body name="a" pos="0 0 1"><freejoint name="root"/><geom type="mesh" mesh="m" material="squares"/><geom type="mesh" mesh="m" pos="0 0 1" material="squares"/>
        <site name="s"/><body name="b" pos="1 0 0"><joint name="hinge" axis="0 1 0" range="-90 90" damping="0.1"/>
          <geom type="box" size=".1 .2 .3"/></body></body>
      <body name="c" pos="3 0 0"><joint type="ball" name="ball"/><geom size="0.1" pos="0 0 1"/></body></worldbody>
      <tendon><fixed name="t"><joint joint="hinge" coef="1"/></fixed></tendon>
      <actuator><position joint="hinge" kp="3"/><motor tendon="t"/></actuator>
      <equality><weld body1="b" body2="c"/></equality><contact><exclude body1="a" body2="c"/></contact>
      <keyframe><key name="k" qpos="0 0 1 1 0 0 0 0.5 1 0 0 0"/></keyframe></mujoco>"#;

    fn loaded() -> Loaded {
        load_str(TEXT, None, &LoadOptions::default()).unwrap()
    }

    #[test]
    fn a_model_comes_back_bit_for_bit() {
        let before = loaded();
        let bytes = to_bytes(&before.model, &before.scene);
        let after = from_bytes(&bytes).unwrap();
        assert_eq!(format!("{before:?}"), format!("{after:?}"));
        assert_eq!(to_bytes(&after.model, &after.scene), bytes);
        // The two geoms still share their mesh.
        let mesh = |k: usize| match &after.scene.geoms[k].shape {
            Shape::Mesh(mesh) => mesh.clone(),
            other => panic!("{other:?}"),
        };
        assert!(Arc::ptr_eq(&mesh(2), &mesh(3)));
    }

    #[test]
    fn damage_is_noticed() {
        let bytes = to_bytes(&loaded().model, &loaded().scene);
        for k in 0..bytes.len() {
            let mut wrong = bytes.clone();
            wrong[k] ^= 1 << (k % 8);
            assert!(from_bytes(&wrong).is_err(), "byte {k}");
            assert!(from_bytes(&bytes[..k]).is_err(), "{k} bytes");
        }
        assert_eq!(from_bytes(b"").unwrap_err(), BytesError::Format);
        let mut other = bytes;
        other[8] += 1;
        assert_eq!(from_bytes(&other).unwrap_err(), BytesError::Layout { found: LAYOUT + 1 });
    }

    /// Bytes with a right checksum may hold anything: each is an error or a model that works.
    #[test]
    fn made_up_bytes_do_no_harm() {
        let bytes = to_bytes(&loaded().model, &loaded().scene);
        let (mut models, mut seed) = (0, 1_u64);
        for k in 0..20 * (bytes.len() - HEADER) {
            let mut wrong = bytes.clone();
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            wrong[HEADER + k / 20] = (seed >> 33) as u8;
            let sum = checksum(&wrong[HEADER..]);
            wrong[12..HEADER].copy_from_slice(&sum.to_le_bytes());
            let Ok(Loaded { model, .. }) = from_bytes(&wrong) else { continue };
            models += 1;
            let v = vec![0.0; model.nv()];
            let mut dq = v.clone();
            multibody::difference(&model.tree, &model.q0, &model.q0, &mut dq);
            let mut kinematics = multibody::Kinematics::new(&model.tree);
            multibody::forward_kinematics(&model.tree, model.tree.all(), &model.q0, &mut kinematics);
            multibody::equality_residuals(&model, &kinematics, &model.q0, &mut Vec::new());
        }
        assert!(models > 0);
    }

    /// Where this fails, a type within a model has changed: raise `LAYOUT` by one, and take the numbers that come now.
    #[test]
    fn layout_is_known() {
        let bytes = to_bytes(&loaded().model, &loaded().scene);
        assert_eq!((LAYOUT, bytes.len()), (23, 3935));
    }
}
