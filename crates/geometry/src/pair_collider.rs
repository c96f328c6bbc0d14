//! The contact points of one pair of geoms after another.

use spatial::{Mat3, Vec3};

use crate::collider::collide_items;
use crate::contact::Contact;
use crate::hull::HullTables;
use crate::movement::{Attachment, Movement};
use crate::narrow::{Convex, Points, Sink, max_points};
use crate::near::{Item, PlacedItem};
use crate::pairs::{Filter, GeomPair};
use crate::scene::Scene;
use crate::shape::HeightField;
use crate::solid::Solid;

/// What a geom is to contacts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum SolidKind {
    Plane,
    HeightField,
    Sphere,
    Capsule,
    Ellipsoid,
    Cylinder,
    Box,
    Hull,
}

/// A geom as contacts see it, for those who find them elsewhere. Kinds are in the order in which narrow phases take shapes.
#[derive(Clone, Copy, Debug)]
pub struct SolidView {
    /// What it is.
    pub kind: SolidKind,
    /// Radius, then half the length along z; or the radii of an ellipsoid, half the edges of a box.
    pub size: Vec3<f64>,
    /// Where it is in its frame.
    pub rot: Mat3<f64>,
    /// m
    pub pos: Vec3<f64>,
    /// Centre and half extents of a box along the geom's axes, in its own frame.
    pub centre: Vec3<f64>,
    /// m
    pub half_extents: Vec3<f64>,
    /// Of a ball about the centre.
    pub radius: f64,
    /// How deep it is pressed in where it rests, m.
    pub rest_depth: f64,
}

/// Finds the contact points of single pairs of geoms, the same as a [`Collider`](crate::Collider) finds of the whole scene: for callers
/// that look for near pairs themselves, in many worlds at once for instance.
#[derive(Clone, Debug)]
pub struct PairCollider {
    /// One for each geom, none for those that cannot touch.
    items: Vec<Option<Item>>,
    workspace: Convex,
}

impl PairCollider {
    /// For the geoms of `scene`, geom i moving as `attachments[i]` says and pressed in by `rest_depths[i]` where it rests, see
    /// [`Collider::with_rest_depths`](crate::Collider::with_rest_depths).
    ///
    /// # Panics
    /// When there is not one attachment and one depth for each geom, or a pair names a geom that is not there.
    pub fn new(scene: &Scene, attachments: &[Attachment], rest_depths: &[f64]) -> Self {
        assert_eq!(scene.geoms.len(), attachments.len(), "one attachment for each geom");
        let filter = Filter::new(scene, attachments);
        let item = |(geom, (of, attachment)): (usize, (&crate::Geom, &Attachment))| {
            let solid = filter.may_touch_something(geom).then(|| Solid::new(&of.shape))??;
            let mut item = Item::new(geom, attachment, solid, filter.half_margin(geom));
            item.rest_depth = rest_depths[geom];
            Some(item)
        };
        let items: Vec<_> = scene.geoms.iter().zip(attachments).enumerate().map(item).collect();
        let workspace = Convex::for_solids(items.iter().flatten().map(|item| &item.solid));
        Self { items, workspace }
    }

    /// Sets how deep each geom is pressed in where it rests.
    ///
    /// # Panics
    /// When there are fewer depths than geoms.
    pub fn set_rest_depths(&mut self, depths: &[f64]) {
        self.items.iter_mut().flatten().for_each(|item| item.rest_depth = depths[item.geom]);
    }

    /// How many contact points two geoms have at most, the first the one with the lower index; 0 where they cannot touch. Only of height
    /// fields there may be more.
    pub fn max_points(&self, geoms: [usize; 2]) -> usize {
        let [Some(a), Some(b)] = geoms.map(|geom| self.items[geom].as_ref()) else { return 0 };
        let (a, b) = (&a.solid, &b.solid);
        if b.rank() < a.rank() { max_points(b, a) } else { max_points(a, b) }
    }

    /// Centre and half extents of a box around a geom along the geom's own axes, in its own frame; none of a plane, and of what cannot
    /// touch.
    pub fn bounding_box(&self, geom: usize) -> Option<(Vec3<f64>, Vec3<f64>)> {
        let solid = &self.items[geom].as_ref()?.solid;
        Some((solid.centre(), solid.half_extents()?))
    }

    /// A geom as it is here; none of those that cannot touch.
    pub fn solid(&self, geom: usize) -> Option<SolidView> {
        let item = self.items[geom].as_ref()?;
        let (kind, size) = match item.solid {
            Solid::Plane => (SolidKind::Plane, Vec3::ZERO),
            Solid::HeightField(_) => (SolidKind::HeightField, Vec3::ZERO),
            Solid::Sphere { radius } => (SolidKind::Sphere, Vec3::new(radius, 0.0, 0.0)),
            Solid::Capsule { radius, half_length } => (SolidKind::Capsule, Vec3::new(radius, half_length, 0.0)),
            Solid::Ellipsoid { radii } => (SolidKind::Ellipsoid, radii),
            Solid::Cylinder { radius, half_length } => (SolidKind::Cylinder, Vec3::new(radius, half_length, 0.0)),
            Solid::Box { half } => (SolidKind::Box, half),
            Solid::Hull(_) => (SolidKind::Hull, Vec3::ZERO),
        };
        Some(SolidView {
            kind,
            size,
            rot: item.local.rot,
            pos: item.local.pos,
            centre: item.solid.centre(),
            half_extents: item.solid.half_extents().unwrap_or(Vec3::ZERO),
            radius: item.solid.bounding_radius(),
            rest_depth: item.rest_depth,
        })
    }

    /// The height field of a geom that is one, and its highest sample, or its bottom where that is higher.
    pub fn height_field(&self, geom: usize) -> Option<(&HeightField, f64)> {
        match &self.items[geom].as_ref()?.solid {
            Solid::HeightField(ground) => Some((&**ground, ground.top)),
            _ => None,
        }
    }

    /// The hull of a geom that is one, and a number that geoms of the same hull have in common.
    pub fn hull(&self, geom: usize) -> Option<(usize, HullTables)> {
        match &self.items[geom].as_ref()?.solid {
            Solid::Hull(hull) => Some((std::sync::Arc::as_ptr(hull).addr(), hull.tables())),
            _ => None,
        }
    }

    /// Replaces `out` by the contact points of a pair whose gap the two geoms' sweeps can close. `frames` are those that carry the geoms,
    /// in the order of the pair; that of a geom that is fixed in the world counts for nothing.
    pub fn contacts(&mut self, pair: &GeomPair, frames: [&Movement; 2], out: &mut Vec<Contact>) {
        let mut points = Points::new(&mut [], out);
        let [Some(a), Some(b)] = pair.geoms.map(|geom| self.items[geom].as_ref()) else { return };
        let place = |item: &Item, frame| if item.frame.is_some() { item.place(frame) } else { item.place_at_rest() };
        let ((at, ball), (bt, other)) = (place(a, frames[0]), place(b, frames[1]));
        let mut items = [PlacedItem { item: a, at: &at, ball: &ball }, PlacedItem { item: b, at: &bt, ball: &other }];
        let flipped = b.solid.rank() < a.solid.rank();
        if flipped {
            items.swap(0, 1);
        }
        let Some(limit) = items[0].limit(&items[1], pair.margin) else { return };
        let (geoms, margin) = (pair.geoms, pair.margin);
        let motions = items.map(|of| &of.ball.motion);
        let mut sink = Sink { out: &mut points, geoms, flipped, margin, pair: pair.explicit, limit, motions };
        collide_items(items, &mut self.workspace, &mut sink);
    }
}
