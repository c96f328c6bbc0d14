//! Geoms as both formats have them: some for pictures, some for contact.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use geometry::{Geom, Look, Mesh, MeshSurface, Shape};
use spatial::Pose;

/// The colour of geoms that name none.
pub(crate) const GREY: [f32; 4] = [0.6, 0.6, 0.6, 1.0];

/// Groups as MuJoCo's own models use them: what is to be seen, and what touches beside it.
pub(crate) const VISUAL: u32 = 1;
pub(crate) const COLLISION: u32 = 3;

/// A grey geom without a name, of the world, that touches nothing.
pub(crate) fn untouchable(pose: Pose<f64>, shape: Shape) -> Geom {
    Geom { pose, contype: 0, conaffinity: 0, rgba: GREY, group: VISUAL, ..Geom::new(0, shape) }
}

/// A geom in the colours of its mesh file, if that has any. One paint without a texture is a colour like any other.
pub(crate) fn with_own_paints(mut geom: Geom) -> Geom {
    let Shape::Mesh(mesh) = &geom.shape else { return geom };
    let surface = &mesh.surface;
    let Some([r, g, b]) = surface.mean() else { return geom };
    let plain = |paint: &geometry::Paint| paint.texture.is_none() || surface.texcoords.is_empty();
    geom.look = (surface.paints.len() > 1 || !surface.paints.iter().all(plain)).then_some(Look::Paints);
    geom.rgba = [r, g, b, 1.0];
    geom
}

/// Drops what meshes look like where no geom shows it: a geom of one colour of its own needs no paints, nor places in textures.
pub(crate) fn drop_unseen_surfaces<'g>(geoms: impl IntoIterator<Item = &'g mut Geom>) {
    let mut plain: BTreeMap<*const Mesh, Arc<Mesh>> = BTreeMap::new();
    for geom in geoms {
        let (Shape::Mesh(mesh), None) = (&mut geom.shape, &geom.look) else { continue };
        if mesh.surface == MeshSurface::default() {
            continue;
        }
        let bare = plain
            .entry(Arc::as_ptr(mesh))
            .or_insert_with(|| Arc::new(Mesh { surface: MeshSurface::default(), ..Mesh::clone(mesh) }));
        *mesh = bare.clone();
    }
}

/// Of geoms with one name, which both formats allow, the first keeps it; the others are numbered.
pub(crate) fn number_repeated_names<'g>(geoms: impl IntoIterator<Item = &'g mut Geom>) {
    let geoms: Vec<&mut Geom> = geoms.into_iter().filter(|geom| !geom.name.is_empty()).collect();
    let mut taken: BTreeSet<String> = geoms.iter().map(|geom| geom.name.clone()).collect();
    let (mut seen, mut counts) = (BTreeSet::new(), BTreeMap::new());
    for geom in geoms {
        if seen.insert(geom.name.clone()) {
            continue;
        }
        let count: &mut usize = counts.entry(geom.name.clone()).or_insert(1);
        let own = geom.name.clone();
        while taken.contains(&geom.name) {
            *count += 1;
            geom.name = format!("{own}_{count}");
        }
        taken.insert(geom.name.clone());
    }
}
