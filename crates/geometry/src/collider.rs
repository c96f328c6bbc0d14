//! The contact points of a scene, step by step.

use std::ops::Range;
use std::sync::Arc;

use crew::Crew;
use spatial::{Mat3, Pose, Vec3};

use crate::broad_phase::BroadPhase;
use crate::narrow::{Convex, Sink, collide};
use crate::pairs::{Allowed, Filter, Rows};
use crate::scene::Scene;
use crate::solid::{Placement, Solid};

/// A contact point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Contact {
    /// The two geoms, the lower index first.
    pub geoms: [usize; 2],
    /// Midway between the two surfaces, in the world, m.
    pub position: Vec3<f64>,
    /// Unit vector from `geoms[0]` towards `geoms[1]`.
    pub normal: Vec3<f64>,
    /// Distance of the surfaces along the normal less the margin, m; negative in penetration.
    pub gap: f64,
    /// The explicit pair ([`Scene::pairs`]) that asked for this contact.
    pub pair: Option<usize>,
}

impl Contact {
    /// The place of a contact point.
    const NONE: Self = Self { geoms: [0; 2], position: Vec3::ZERO, normal: Vec3::ZERO, gap: 0.0, pair: None };
}

/// How a geom moves.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Attachment {
    /// The moving frame that carries it; `None` when it is fixed in the world.
    pub frame: Option<usize>,
    /// Its pose in that frame.
    pub pose: Pose<f64>,
    /// Its rigid group: bodies that are welded together. The world's group is 0.
    pub group: usize,
    /// The group that its group hangs from.
    pub parent_group: usize,
}

/// How the surfaces of a frame's geoms may move in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Sweep {
    /// What all of them do, in the world, m. Two frames that move alike do not come nearer.
    pub shift: Vec3<f64>,
    /// The farthest that any of their points strays from that, m.
    pub slack: f64,
    /// Whether what they touch that rests too, or is fixed, is of no interest.
    pub rests: bool,
}

impl Sweep {
    /// How far a point may move at all.
    fn farthest(&self) -> f64 {
        self.shift.norm() + self.slack
    }
}

impl From<f64> for Sweep {
    /// Points that stray this far in any direction.
    fn from(slack: f64) -> Self {
        Self { shift: Vec3::ZERO, slack, rests: false }
    }
}

/// A geom that takes part in contacts.
#[derive(Clone, Debug)]
struct Item {
    geom: usize,
    frame: Option<usize>,
    local: Placement,
    solid: Solid,
    /// Centre and radius of its bounding ball, in its own frame.
    centre: Vec3<f64>,
    radius: f64,
    /// Half of the largest margin that a pair of it can have.
    half_margin: f64,
}

/// A bounding ball this step, its radius enlarged by reach and margin.
#[derive(Clone, Copy, Debug)]
struct Ball {
    centre: Vec3<f64>,
    radius: f64,
}

/// Finds the contact points of a scene.
///
/// The result is a function of the poses alone: nothing carries over from one call to the next but buffers.
#[derive(Clone, Debug)]
pub struct Collider {
    items: Vec<Item>,
    /// For each item this step: where it is, its bounding ball, and how its surface may move.
    placements: Vec<Placement>,
    balls: Vec<Ball>,
    sweeps: Vec<Sweep>,
    search: Search,
    /// The pairs that may touch in this step, in order.
    near: Vec<Near>,
    workspace: Convex,
    /// What threads find; none while there is one.
    shares: Vec<Share>,
}

/// Parts that work is cut into for threads: some take longer than others.
const SHARES: usize = 32;

/// A part of the near pairs.
#[derive(Clone, Debug)]
struct Share {
    number: usize,
    workspace: Convex,
    /// Its contact points.
    found: Vec<Contact>,
}

/// Two items that may touch in this step.
#[derive(Clone, Copy, Debug)]
struct Near {
    items: [u32; 2],
    /// Distance up to which they count.
    limit: f64,
    allowed: Allowed,
}

/// How pairs that may be near are found.
#[derive(Clone, Debug)]
enum Search {
    /// Every allowed pair, listed beforehand.
    List(Rows),
    /// A tree of bounding boxes.
    Tree(Box<BroadPhase>),
}

/// Above this number of allowed pairs a tree finds the near ones faster than going through the list.
const LIST_UP_TO: usize = 1000;

impl Collider {
    /// A collider for the geoms of `scene`, geom i moving as `attachments[i]` says.
    ///
    /// Meshes without a convex hull take no part.
    ///
    /// # Panics
    /// When there is not one attachment for each geom, or a pair names a geom that is not there.
    pub fn new(scene: Arc<Scene>, attachments: Vec<Attachment>) -> Self {
        assert_eq!(scene.geoms.len(), attachments.len(), "one attachment for each geom");
        let filter = Filter::new(&scene, &attachments);
        let mut items: Vec<Item> = scene
            .geoms
            .iter()
            .zip(&attachments)
            .enumerate()
            .filter_map(|(geom, (g, a))| {
                let solid = Solid::new(&g.shape)?;
                let (centre, radius) = (solid.centre(), solid.bounding_radius());
                let half_margin = filter.half_margin(geom);
                Some(Item { geom, frame: a.frame, local: a.pose.into(), solid, centre, radius, half_margin })
            })
            .collect();
        items.retain(|item| filter.may_touch_something(item.geom));
        // Canonical order, so that the first of any two items is the first argument of their function.
        items.sort_by_key(|item| (item.solid.rank(), item.geom));
        let geoms: Vec<usize> = items.iter().map(|item| item.geom).collect();
        let search = match Rows::new(&filter, &geoms, LIST_UP_TO) {
            Some(rows) => Search::List(rows),
            None => Search::Tree(Box::new(BroadPhase::new(filter, &geoms))),
        };
        let hulls = || items.iter().filter_map(|item| if let Solid::Hull(h) = &item.solid { Some(h) } else { None });
        let corners = hulls().map(|h| h.largest_face).max().unwrap_or(0);
        let vertices = hulls().map(|h| h.vertices.len()).max().unwrap_or(0);
        let ball = |item: &Item| Ball { centre: item.local.point(item.centre), radius: item.radius + item.half_margin };
        Self {
            placements: items.iter().map(|item| item.local).collect(),
            balls: items.iter().map(ball).collect(),
            sweeps: items.iter().map(|item| Sweep { rests: item.frame.is_none(), ..Sweep::default() }).collect(),
            items,
            search,
            near: Vec::new(),
            workspace: Convex::new(corners, vertices),
            shares: Vec::new(),
        }
    }

    /// Whether no two geoms may ever touch.
    pub fn is_empty(&self) -> bool {
        self.items.is_empty()
    }

    /// How far from the origin of each of `frames` moving frames the farthest point of its geoms is, m; 0 for frames
    /// without geoms. A moving half-space counts with its frame's distance alone.
    pub fn extents(&self, frames: usize) -> Vec<f64> {
        let mut extents = vec![0.0_f64; frames];
        for item in &self.items {
            let radius = if item.radius.is_finite() { item.radius } else { 0.0 };
            if let Some(extent) = item.frame.and_then(|f| extents.get_mut(f)) {
                *extent = extent.max(item.local.point(item.centre).norm() + radius);
            }
        }
        extents
    }

    /// Replaces `out` by the contact points whose gap the two geoms' sweeps can close.
    ///
    /// `frame(i)` is the rotation and the origin of moving frame i in the world; `sweep[i]` is how the surfaces of
    /// the geoms of frame i may move in the step. Geoms whose pose is not finite touch nothing.
    ///
    /// # Panics
    /// When `sweep` is shorter than the number of frames.
    pub fn contacts(
        &mut self,
        frame: impl Fn(usize) -> (Mat3<f64>, Vec3<f64>) + Sync,
        sweep: &[Sweep],
        out: &mut Vec<Contact>,
    ) {
        self.shared_contacts(&mut Crew::default(), frame, sweep, out);
    }

    /// The same [`contacts`](Self::contacts), found by several threads.
    ///
    /// # Panics
    /// When `sweep` is shorter than the number of frames.
    pub fn shared_contacts(
        &mut self,
        crew: &mut Crew,
        frame: impl Fn(usize) -> (Mat3<f64>, Vec3<f64>) + Sync,
        sweep: &[Sweep],
        out: &mut Vec<Contact>,
    ) {
        self.place(crew, frame, sweep);
        self.search();
        if crew.count() > 1 {
            return self.share_near(crew, out);
        }
        out.clear();
        let mut workspace = std::mem::take(&mut self.workspace);
        self.collide(0..self.near.len(), &mut workspace, out);
        self.workspace = workspace;
    }

    /// Finds the contact points of the near pairs, in order.
    fn share_near(&mut self, crew: &mut Crew, out: &mut Vec<Contact>) {
        let mut shares = std::mem::take(&mut self.shares);
        if shares.is_empty() {
            let share = |number| Share { number, workspace: self.workspace.clone(), found: Vec::new() };
            shares.extend((0..SHARES).map(share));
        }
        let pairs = self.near.len();
        crew.for_each(&mut shares, |_, Share { number, workspace, found }| {
            found.clear();
            self.collide(pairs * *number / SHARES..pairs * (*number + 1) / SHARES, workspace, found);
        });
        out.resize(shares.iter().map(|share| share.found.len()).sum(), Contact::NONE);
        let mut rest = &mut out[..];
        let mut copies: [_; SHARES] = std::array::from_fn(|k| {
            let found = &shares[k].found[..];
            let (to, after) = std::mem::take(&mut rest).split_at_mut(found.len());
            rest = after;
            (found, to)
        });
        crew.for_each(&mut copies, |_, (from, to)| to.copy_from_slice(from));
        self.shares = shares;
    }

    /// Finds the pairs that may touch.
    fn search(&mut self) {
        let Self { items, placements, balls, sweeps, search, near: pairs, .. } = self;
        let (items, placements, balls, sweeps) = (&items[..], &placements[..], &balls[..], &sweeps[..]);
        pairs.clear();
        let mut visit = |a: usize, b: usize, allowed: Allowed| {
            let (sa, sb) = (sweeps[a], sweeps[b]);
            if sa.rests && sb.rests {
                return;
            }
            let limit = (sa.shift - sb.shift).norm() + sa.slack + sb.slack + allowed.margin;
            // The balls were wide enough for the two to move towards each other; now for what they do.
            let apart = balls[a].centre - balls[b].centre;
            let touch = items[a].radius + items[b].radius + limit;
            if apart.norm_squared() <= touch * touch {
                pairs.push(Near { items: [a as u32, b as u32], limit, allowed });
            }
        };
        // Whether the second ball meets the first, or the half-space of a plane.
        let near = |a: usize| {
            let (ball, normal) = (balls[a], placements[a].rot.z);
            let plane = ball.radius == f64::INFINITY;
            let slack = if plane { sweeps[a].farthest() + items[a].half_margin } else { 0.0 };
            move |b: usize| {
                let other: &Ball = &balls[b];
                let d = other.centre - ball.centre;
                if plane {
                    return normal.dot(d) <= other.radius + slack;
                }
                let reach = ball.radius + other.radius;
                d.norm_squared() <= reach * reach
            }
        };
        match search {
            Search::List(rows) => rows.each(near, &mut visit),
            Search::Tree(tree) => {
                let extents = |i: usize| {
                    let half = items[i].solid.half_extents()?;
                    let rot: &Mat3<f64> = &placements[i].rot;
                    let slack = sweeps[i].farthest() + items[i].half_margin;
                    let along = |x: f64, y: f64, z: f64| x.abs() * half.x + y.abs() * half.y + z.abs() * half.z + slack;
                    let half = Vec3::new(
                        along(rot.x.x, rot.y.x, rot.z.x),
                        along(rot.x.y, rot.y.y, rot.z.y),
                        along(rot.x.z, rot.y.z, rot.z.z),
                    );
                    Some((balls[i].centre, half))
                };
                tree.each(extents, near, &mut visit);
            }
        }
    }

    /// Appends the contact points of some of the near pairs.
    fn collide(&self, pairs: Range<usize>, workspace: &mut Convex, out: &mut Vec<Contact>) {
        let Self { items, placements, .. } = self;
        for &Near { items: [a, b], limit, allowed: Allowed { margin, pair } } in &self.near[pairs] {
            let (a, b) = (a as usize, b as usize);
            let (ga, gb) = (items[a].geom, items[b].geom);
            let flipped = ga > gb;
            let geoms = if flipped { [gb, ga] } else { [ga, gb] };
            let mut sink = Sink { out, geoms, flipped, margin, pair, limit };
            collide((&items[a].solid, &placements[a]), (&items[b].solid, &placements[b]), workspace, &mut sink);
        }
    }

    /// Poses, bounding balls and sweeps of the items for this step.
    fn place(&mut self, crew: &mut Crew, frame: impl Fn(usize) -> (Mat3<f64>, Vec3<f64>) + Sync, sweep: &[Sweep]) {
        let Self { items, placements, balls, sweeps, .. } = self;
        if crew.count() == 1 {
            return Places { items, placements, balls, sweeps }.fill(&frame, sweep);
        }
        let size = items.len().div_ceil(SHARES).max(1);
        let (mut placements, mut balls) = (placements.chunks_mut(size), balls.chunks_mut(size));
        let (mut items, mut sweeps) = (items.chunks(size), sweeps.chunks_mut(size));
        let mut shares: [_; SHARES] = std::array::from_fn(|_| {
            let items = items.next().unwrap_or_default();
            let placements = placements.next().unwrap_or_default();
            let balls = balls.next().unwrap_or_default();
            Places { items, placements, balls, sweeps: sweeps.next().unwrap_or_default() }
        });
        crew.for_each(&mut shares, |_, places| places.fill(&frame, sweep));
    }
}

/// What of some items is taken anew in every step.
struct Places<'a> {
    items: &'a [Item],
    placements: &'a mut [Placement],
    balls: &'a mut [Ball],
    sweeps: &'a mut [Sweep],
}

impl Places<'_> {
    fn fill(&mut self, frame: &impl Fn(usize) -> (Mat3<f64>, Vec3<f64>), sweep: &[Sweep]) {
        for (i, item) in self.items.iter().enumerate() {
            let Some(f) = item.frame else { continue };
            let (rot, pos) = frame(f);
            let at = &mut self.placements[i];
            at.pos = rot * item.local.pos + pos;
            at.rot = rot * item.local.rot;
            // Three unit vectors across one another sum to length √3. Where they are not, a centre that is not a
            // number fails every comparison from here on.
            let finite = (at.rot.x + at.rot.y + at.rot.z).norm_squared() < 4.0;
            let centre = at.point(item.centre);
            self.sweeps[i] = sweep[f];
            self.balls[i] = Ball {
                centre: if finite { centre } else { Vec3::new(f64::NAN, f64::NAN, f64::NAN) },
                radius: item.radius + item.half_margin + sweep[f].farthest(),
            };
        }
    }
}
