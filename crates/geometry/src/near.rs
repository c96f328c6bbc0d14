//! Where geoms are in a step, and which of them may be near each other.

use parry3d_f64::bounding_volume::{Aabb, BoundingVolume};
use spatial::{Mat3, Vec3};
use support::Interrupt;

use crate::broad_phase::{BroadPhase, EVERYWHERE, aabb, fits};
use crate::movement::{Attachment, Motion, Movement, Sweep};
use crate::narrow::{Axis, nearest_of_axes};
use crate::pairs::{Filter, Rows};
use crate::solid::{PlacedSolid, Placement, Solid};

/// How much wider than an item's ball that is for which near pairs are kept, as a part of its radius.
const SPARE: f64 = 0.1;

/// A geom that takes part in contacts.
#[derive(Clone, Debug)]
pub(crate) struct Item {
    pub geom: usize,
    pub frame: Option<usize>,
    pub local: Placement,
    pub solid: Solid,
    /// Centre and radius of its bounding ball, in its own frame, and that of its smallest box with half the extents.
    pub centre: Vec3<f64>,
    pub radius: f64,
    /// Half the length of a capsule's axis, 0 of all else.
    half_length: f64,
    half: Vec3<f64>,
    /// Whether the centre is the origin.
    is_centred: bool,
    /// Half of the largest margin that a pair of it can have.
    half_margin: f64,
    /// How deep it is pressed in where it rests, m.
    pub rest_depth: f64,
}

impl Item {
    pub fn new(geom: usize, attachment: &Attachment, solid: Solid, half_margin: f64) -> Self {
        Self {
            geom,
            frame: attachment.frame,
            local: attachment.pose.into(),
            centre: solid.centre(),
            is_centred: solid.centre() == Vec3::ZERO,
            radius: solid.bounding_radius(),
            half_length: if let Solid::Capsule { half_length, .. } = solid { half_length } else { 0.0 },
            half: solid.half_extents().unwrap_or(Vec3::ZERO),
            solid,
            half_margin,
            rest_depth: 0.0,
        }
    }

    /// Where it is in a step in which its frame moves like this, and how it moves.
    #[inline(always)]
    pub fn place(&self, frame: &Movement) -> (Placement, Ball) {
        let Movement { rot, pos, ref sweep } = *frame;
        let at = Placement { rot: rot * self.local.rot, pos: rot * self.local.pos + pos };
        // Three unit vectors across one another sum to length √3. Where they are not, a centre that is not a
        // number fails every comparison from here on.
        let finite = (at.rot.x + at.rot.y + at.rot.z).norm_squared() < 4.0;
        let centre = match () {
            () if !finite => Vec3::new(f64::NAN, f64::NAN, f64::NAN),
            () if self.is_centred => at.pos,
            () => at.point(self.centre),
        };
        (at, self.ball(Motion::new(sweep, pos, centre), sweep))
    }

    /// The same of one that does not move.
    pub fn place_at_rest(&self) -> (Placement, Ball) {
        let sweep = Sweep { rests: self.frame.is_none(), ..Sweep::default() };
        let motion = Motion { centre: self.local.point(self.centre), ..Motion::default() };
        (self.local, self.ball(motion, &sweep))
    }

    /// Its ball in a step.
    #[inline(always)]
    fn ball(&self, motion: Motion, sweep: &Sweep) -> Ball {
        let radius = if self.is_plane() { 0.0 } else { self.radius };
        let stray = motion.stray(radius) + sweep.slack;
        Ball {
            centre: motion.centre,
            radius: self.radius,
            reach: motion.shift().norm() + stray,
            stray,
            slack: sweep.slack,
            tree: sweep.tree,
            rests: sweep.rests,
            motion,
        }
    }

    /// Whether it has no bounds.
    fn is_plane(&self) -> bool {
        self.radius == f64::INFINITY
    }

    /// Its box when it is fixed in the world.
    fn fixed_box(&self) -> Aabb {
        self.aabb(&self.local.rot, self.local.point(self.centre), self.half_margin)
    }

    /// Its box in the world, wider on every side by `slack`.
    fn aabb(&self, rot: &Mat3<f64>, centre: Vec3<f64>, slack: f64) -> Aabb {
        if self.is_plane() {
            return EVERYWHERE;
        }
        let along =
            |x: f64, y: f64, z: f64| x.abs() * self.half.x + y.abs() * self.half.y + z.abs() * self.half.z + slack;
        let half = Vec3::new(
            along(rot.x.x, rot.y.x, rot.z.x),
            along(rot.x.y, rot.y.y, rot.z.y),
            along(rot.x.z, rot.y.z, rot.z.z),
        );
        aabb(centre, half)
    }
}

/// A geom's bounding ball in a step, without reach and margin, and how its surface may move.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ball {
    pub centre: Vec3<f64>,
    pub radius: f64,
    pub motion: Motion,
    /// How far a point of the geom may move, m.
    pub reach: f64,
    /// How far it may be from where free motion of the centre leads it, m.
    pub stray: f64,
    /// See [`Sweep`].
    slack: f64,
    tree: Option<usize>,
    rests: bool,
}

impl Ball {
    /// By how much the surfaces of this geom and another may come nearer to each other, m. Links of one tree that turn alike do not come
    /// nearer; of others each may be stopped. Points that meet lie within the smaller of the balls.
    #[inline(always)]
    fn approach(&self, other: &Self) -> f64 {
        let apart = (self.motion.shift() - other.motion.shift()).norm() + (self.stray + other.stray);
        if self.tree.is_none() || self.tree != other.tree {
            return apart;
        }
        let (small, large) = if self.radius <= other.radius { (self, other) } else { (other, self) };
        let relative = small.motion.farthest_from(&large.motion, small.radius) + self.slack + other.slack;
        relative.min(apart)
    }
}

/// An item where it is in a step.
#[derive(Clone, Copy)]
pub(crate) struct PlacedItem<'a> {
    pub item: &'a Item,
    pub at: &'a Placement,
    pub ball: &'a Ball,
}

impl PlacedItem<'_> {
    #[inline(always)]
    pub fn solid(&self) -> PlacedSolid<'_> {
        PlacedSolid { solid: &self.item.solid, at: self.at }
    }

    /// Up to which distance points of two items in the canonical order of shapes count; none when they are farther apart.
    #[inline(always)]
    pub fn limit(&self, other: &Self, margin: f64) -> Option<f64> {
        let (ball, other) = (self.ball, other.ball);
        if ball.rests && other.rests {
            return None;
        }
        let apart = other.centre - ball.centre;
        let is_near = |limit: f64| {
            if ball.radius == f64::INFINITY {
                return self.at.rot.z.dot(apart) <= other.radius + limit;
            }
            let touch = ball.radius + other.radius + limit;
            apart.norm_squared() <= touch * touch
        };
        if !is_near(ball.reach + other.reach + margin) {
            return None;
        }
        let limit = ball.approach(other) + margin;
        is_near(limit).then_some(limit)
    }
}

/// Where the items are in a step.
#[derive(Clone, Debug)]
pub(crate) struct Places {
    placements: Vec<Placement>,
    balls: Vec<Ball>,
    /// Boxes, reach and margin included; none where there are few items.
    boxes: Vec<Aabb>,
}

impl Places {
    pub fn new(items: &[Item], search: &Search) -> Self {
        let boxes = match search {
            Search::List { .. } => Vec::new(),
            Search::Tree(_) => items.iter().map(Item::fixed_box).collect(),
        };
        Self {
            placements: items.iter().map(|item| item.local).collect(),
            balls: items.iter().map(|item| item.place_at_rest().1).collect(),
            boxes,
        }
    }

    /// An item where it is.
    #[inline(always)]
    pub fn of<'a>(&'a self, items: &'a [Item], i: usize) -> PlacedItem<'a> {
        PlacedItem { item: &items[i], at: &self.placements[i], ball: &self.balls[i] }
    }

    /// Whether the boxes of items i and j meet, where there are boxes.
    #[inline(always)]
    pub fn boxes_meet(&self, i: usize, j: usize) -> bool {
        self.boxes.is_empty() || self.boxes[i].intersects(&self.boxes[j])
    }

    /// Takes an item that is fixed in the world to where it is now.
    pub fn take_fixed(&mut self, items: &[Item], i: usize) {
        let item = &items[i];
        (self.placements[i], self.balls[i]) = item.place_at_rest();
        if let Some(own) = self.boxes.get_mut(i) {
            *own = item.fixed_box();
        }
    }

    /// All of them, to be filled.
    pub fn all<'a>(&'a mut self, items: &'a [Item]) -> Share<'a> {
        let Self { placements, balls, boxes } = self;
        Share { first: 0, items, placements, balls, boxes }
    }

    /// The same cut into `N` shares.
    pub fn shares<'a, const N: usize>(&'a mut self, items: &'a [Item]) -> [Share<'a>; N] {
        let Self { placements, balls, boxes } = self;
        let (mut placements, mut balls) = (&mut placements[..], &mut balls[..]);
        let mut boxes = &mut boxes[..];
        std::array::from_fn(|k| {
            let (first, end) = (items.len() * k / N, items.len() * (k + 1) / N);
            let count = end - first;
            Share {
                first,
                items: &items[first..end],
                placements: placements.split_off_mut(..count).unwrap_or_default(),
                balls: balls.split_off_mut(..count).unwrap_or_default(),
                boxes: boxes.split_off_mut(..count).unwrap_or_default(),
            }
        })
    }
}

/// Items in a row, to be placed.
pub(crate) struct Share<'a> {
    first: usize,
    items: &'a [Item],
    placements: &'a mut [Placement],
    balls: &'a mut [Ball],
    boxes: &'a mut [Aabb],
}

/// Where the items were known to be when near pairs were found: those that stay have no others near.
#[derive(Clone, Copy)]
pub(crate) enum Bounds<'a> {
    Balls(&'a [WideBall]),
    Boxes(&'a [Aabb]),
}

/// A ball that holds a geom's, reach and margin included, and how much wider it was made; for a capsule, one as much thicker, within
/// the ball.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WideBall {
    centre: Vec3<f64>,
    radius: f64,
    spare: f64,
    /// A capsule's, without length of all else.
    axis: Axis<f64>,
}

impl WideBall {
    /// Holds nothing.
    const NOWHERE: Self = Self {
        centre: Vec3::ZERO,
        radius: f64::NEG_INFINITY,
        spare: 0.0,
        axis: Axis { direction: Vec3::ZERO, half_length: 0.0 },
    };

    /// Whether it holds a ball, or a capsule with this axis, and is not much wider than it was made, as it may be of something that was
    /// fast.
    #[inline(always)]
    fn fits(&self, centre: Vec3<f64>, radius: f64, axis: Vec3<f64>) -> bool {
        let room = self.radius - radius;
        let mut moved = (centre - self.centre).norm_squared();
        if self.axis.half_length > 0.0 {
            // The centre and an end move less than √2 times the root of this together.
            let turned = (axis - self.axis.direction) * self.axis.half_length;
            moved = 2.0 * (moved + turned.norm_squared());
        }
        room >= 0.0 && room <= 2.0 * self.spare && moved <= room * room
    }

    /// The radius of the capsule, or of the ball.
    fn thickness(&self) -> f64 {
        self.radius - self.axis.half_length
    }

    /// Whether two of them meet.
    fn meets(&self, other: &Self) -> bool {
        let (apart, reach) = (other.centre - self.centre, self.radius + other.radius);
        let balls_meet = apart.norm_squared() <= reach * reach;
        if !balls_meet || self.axis.half_length == 0.0 && other.axis.half_length == 0.0 {
            return balls_meet;
        }
        let gap = nearest_of_axes(self.axis, other.axis, apart).gap;
        let reach = self.thickness() + other.thickness();
        gap.norm_squared() <= reach * reach
    }
}

impl Share<'_> {
    /// Takes poses, bounding balls and sweeps of this step; whether an item has left its bounds.
    pub fn fill(&mut self, bounds: Bounds<'_>, movement: &impl Fn(usize) -> Movement) -> bool {
        let mut have_left = false;
        // Geoms of one frame come one after the other.
        let (mut placed, mut frame) = (None, Movement::default());
        for (i, item) in self.items.iter().enumerate() {
            let Some(f) = item.frame else { continue };
            if placed != Some(f) {
                (placed, frame) = (Some(f), movement(f));
            }
            let (at, ball) = item.place(&frame);
            let centre = ball.centre;
            let slack = item.half_margin + ball.reach;
            self.placements[i] = at;
            self.balls[i] = ball;
            have_left |= match bounds {
                Bounds::Balls(wide) => !wide[self.first + i].fits(centre, item.radius + slack, at.rot.z),
                Bounds::Boxes(wide) => {
                    let inner = item.aabb(&at.rot, centre, slack);
                    self.boxes[i] = inner;
                    item.is_plane() || !fits(&inner, &wide[self.first + i])
                }
            };
        }
        have_left
    }
}

/// How pairs that may be near are found.
#[derive(Clone, Debug)]
pub(crate) enum Search {
    /// Of every allowed pair, listed beforehand, those whose wide balls meet.
    List { all: Rows, wide: Vec<WideBall> },
    /// A tree of bounding boxes.
    Tree(Box<BroadPhase>),
}

impl Search {
    /// A list where there are no more than `most` allowed pairs.
    pub fn new(filter: Filter, items: &[Item], most: usize) -> Self {
        let ranked: Vec<(usize, u8)> = items.iter().map(|item| (item.geom, item.solid.rank())).collect();
        match Rows::new(&filter, &ranked, most) {
            Some(all) => Self::List { all, wide: vec![WideBall::NOWHERE; items.len()] },
            None => {
                let unbounded = (0..).zip(items).filter(|(_, item)| item.is_plane()).map(|(i, _)| i);
                Self::Tree(Box::new(BroadPhase::new(filter, &ranked, unbounded.collect())))
            }
        }
    }

    /// Where items are to stay.
    pub fn bounds(&self) -> Bounds<'_> {
        match self {
            Self::List { wide, .. } => Bounds::Balls(wide),
            Self::Tree(tree) => Bounds::Boxes(tree.wide()),
        }
    }

    /// Finds the pairs that are near while no item leaves its bounds, which become new ones; whether they are all, or none
    /// because there are too many or `interrupt` is raised. `is_known` tells whether `near` are those of the last call, since which nothing
    /// fixed has moved.
    pub fn find_near(
        &mut self,
        items: &[Item],
        places: &Places,
        is_known: bool,
        near: &mut Rows,
        interrupt: &Interrupt,
    ) -> bool {
        let is_still = |i: usize| items[i].frame.is_none();
        // How far above a plane a point must be for nothing to reach it.
        let above = |i: usize, radius: f64| radius + places.balls[i].reach + items[i].half_margin;
        match self {
            Self::List { all, wide } => {
                for (i, item) in items.iter().enumerate() {
                    let Ball { centre, radius, reach, .. } = places.balls[i];
                    let spare = if is_still(i) { 0.0 } else { SPARE * radius };
                    let slack = item.half_margin + reach;
                    let axis = Axis { direction: places.placements[i].rot.z, half_length: item.half_length };
                    wide[i] = WideBall { centre, radius: radius + slack + spare, spare, axis };
                }
                near.take_near(all, |b, partner| {
                    let (i, j) = if partner.flipped { (b, partner.item as usize) } else { (partner.item as usize, b) };
                    if items[i].is_plane() {
                        let (n, other) = (places.placements[i].rot.z, &wide[j]);
                        let Axis { direction, half_length } = other.axis;
                        let lowest = n.dot(other.centre - wide[i].centre) - n.dot(direction).abs() * half_length;
                        return !is_still(i) || lowest <= above(i, other.thickness());
                    }
                    wide[i].meets(&wide[j])
                });
                true
            }
            Self::Tree(tree) => {
                let is_above = |plane: u32, wide: &Aabb| {
                    let plane = plane as usize;
                    let Placement { rot, pos } = places.placements[plane];
                    let (centre, half, n) = (wide.center(), wide.half_extents(), rot.z);
                    let height = n.dot(Vec3::new(centre.x, centre.y, centre.z) - pos);
                    is_still(plane)
                        && height > above(plane, half.x * n.x.abs() + half.y * n.y.abs() + half.z * n.z.abs())
                };
                tree.find_pairs(&places.boxes, is_above, is_known, near, interrupt)
            }
        }
    }
}
