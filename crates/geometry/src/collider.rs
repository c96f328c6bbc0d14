//! The contact points of a scene, step by step.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use spatial::{Mat3, Pose, Vec3};
use support::{Interrupt, ThreadPool};

use crate::broad_phase::MAX_NEAR_PAIRS;
use crate::contact::Contact;
use crate::movement::{Attachment, Movement, Sweep};
use crate::narrow::{Convex, Moving, Points, Sink, collide, separate};
use crate::near::{Item, PlacedItem, Places, Search};
use crate::pairs::{Filter, Partner, Rows};
use crate::scene::Scene;
use crate::solid::Solid;

/// Contact points at most: what a step needs for each is about a kilobyte.
pub const MAX_CONTACTS: usize = 1_000_000;

/// Too much in one place: bodies inside each other touch pair by pair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TooMany {
    /// Pairs of geoms near each other.
    #[error("more than {MAX_NEAR_PAIRS} pairs of geoms are near each other")]
    Pairs,
    /// Contact points.
    #[error("there are more than {MAX_CONTACTS} contact points")]
    Contacts,
}

/// Contact points in a row that are of the same two geoms: all that these have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TouchingPair {
    /// The two geoms, the lower index first.
    pub geoms: [u32; 2],
    /// The first of the points; the last is before that of the next pair.
    pub first: u32,
}

/// Finds the contact points of a scene.
///
/// The result is a function of the poses alone: nothing carries over from one call to the next but buffers, and pairs that
/// were near.
#[derive(Clone, Debug)]
pub struct Collider {
    /// In the order of the geoms.
    items: Vec<Item>,
    /// Where they are in this step.
    places: Places,
    search: Search,
    /// The pairs that may be near for as long as things move little.
    near: Rows,
    /// Whether these are all.
    knows_near: bool,
    /// Whether the last call found more contact points than [`MAX_CONTACTS`].
    has_too_many: bool,
    /// The touching pairs of the last call.
    touching: Vec<TouchingPair>,
    workspace: Convex,
    /// What threads find; none while there is one.
    shares: Vec<Share>,
    /// Scratch of contact points in another order, and the most there ever were.
    moved: Vec<Contact>,
    most: usize,
}

/// Parts that work is cut into for threads: some take longer than others.
const SHARES: usize = 32;

/// What comes of a part of the near pairs.
#[derive(Clone, Debug)]
struct Share {
    number: usize,
    workspace: Convex,
    /// How many contact points it had the last time, which have places, and how many it has now.
    places: usize,
    count: usize,
    /// The points beyond these places.
    beyond: Vec<Contact>,
    /// Couples, which count from the first point here.
    touching: Vec<TouchingPair>,
}

/// Near pairs between two looks at the request to stop: most take less than a microsecond, and those that may take longer look as well.
const PAIRS_PER_LOOK: usize = 64;

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
        let geoms = scene.geoms.iter().zip(&attachments).enumerate();
        let item = |(geom, (g, a)): (usize, (&crate::Geom, &Attachment))| {
            let solid = filter.may_touch_something(geom).then(|| Solid::new(&g.shape))??;
            Some(Item::new(geom, a, solid, filter.half_margin(geom)))
        };
        let items: Vec<Item> = geoms.filter_map(item).collect();
        let search = Search::new(filter, &items, LIST_UP_TO);
        Self {
            places: Places::new(&items, &search),
            search,
            near: Rows::default(),
            knows_near: true,
            has_too_many: false,
            touching: Vec::new(),
            workspace: Convex::for_solids(items.iter().map(|item| &item.solid)),
            shares: Vec::new(),
            moved: Vec::new(),
            most: 0,
            items,
        }
    }

    /// Lets the search for contact points end early once `interrupt` is raised. What it found is void then: it is for the caller to ask
    /// `interrupt` afterwards.
    pub fn set_interrupt(&mut self, interrupt: &Interrupt) {
        let of_shares = self.shares.iter_mut().map(|share| &mut share.workspace);
        for workspace in of_shares.chain([&mut self.workspace]) {
            workspace.interrupt = interrupt.clone();
        }
    }

    /// The same collider with how deep each geom is pressed in where it rests, m: compliant surfaces that are flush overlap by so much
    /// with what slides from one to the other. Zero unless said.
    ///
    /// # Panics
    /// When there are fewer depths than geoms.
    #[must_use]
    pub fn with_rest_depths(mut self, depths: &[f64]) -> Self {
        self.set_rest_depths(depths);
        self
    }

    /// Sets what [`with_rest_depths`](Self::with_rest_depths) says.
    ///
    /// # Panics
    /// When there are fewer depths than geoms.
    pub fn set_rest_depths(&mut self, depths: &[f64]) {
        self.items.iter_mut().for_each(|item| item.rest_depth = depths[item.geom]);
    }

    /// Moves a geom that is fixed in the world to another pose there; others stay.
    pub fn move_fixed(&mut self, geom: usize, pose: Pose<f64>) {
        let Self { items, places, knows_near, .. } = self;
        let Ok(i) = items.binary_search_by_key(&geom, |item| item.geom) else { return };
        if items[i].frame.is_none() {
            items[i].local = pose.into();
            places.take_fixed(items, i);
            *knows_near = false;
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

    /// Replaces `out` by the contact points whose gap the two geoms' sweeps can close: in the order of the greater geoms, then of
    /// the lesser ones.
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
        let movement = |i: usize| {
            let (rot, pos) = frame(i);
            Movement { rot, pos, sweep: sweep[i] }
        };
        self.shared_contacts(&mut ThreadPool::default(), movement, out);
    }

    /// The same [`contacts`](Self::contacts), found by several threads.
    pub fn shared_contacts(
        &mut self,
        pool: &mut ThreadPool,
        movement: impl Fn(usize) -> Movement + Sync,
        out: &mut Vec<Contact>,
    ) {
        self.place(pool, movement);
        if pool.count() > 1 {
            return self.share_near(pool, out);
        }
        let Self { items, places, near, touching, workspace, .. } = self;
        touching.clear();
        let pairs = Pairs { items, places, near, found: &AtomicUsize::new(0) };
        pairs.collide(0..near.len(), workspace, &mut Points::new(&mut [], out), touching);
        self.has_too_many = out.len() > MAX_CONTACTS;
    }

    /// Why the contact points of the last call are not all, where they are not.
    pub fn overflow(&self) -> Option<TooMany> {
        match self {
            Self { knows_near: false, .. } => Some(TooMany::Pairs),
            Self { has_too_many: true, .. } => Some(TooMany::Contacts),
            _ => None,
        }
    }

    /// Which geoms the contact points of the last call are of.
    pub fn touching(&self) -> &[TouchingPair] {
        &self.touching
    }

    /// Finds the contact points of the near pairs, in order: each share's where they were in the last call, unless it has more or fewer.
    fn share_near(&mut self, pool: &mut ThreadPool, out: &mut Vec<Contact>) {
        let Self { items, places, near, workspace, shares, touching, most, .. } = self;
        if shares.is_empty() {
            let share = |number| {
                let (beyond, touching) = (Vec::new(), Vec::new());
                Share { number, workspace: workspace.clone(), places: 0, count: 0, beyond, touching }
            };
            shares.extend((0..SHARES).map(share));
        }
        shares.iter_mut().for_each(|share| share.places = share.count);
        // Buffers take turns, here and at the caller's: each gets the largest size yet, so that later steps do not allocate.
        out.reserve(most.saturating_sub(out.len()));
        out.resize(shares.iter().map(|share| share.places).sum(), Contact::NONE);
        let (pairs, all) = (Pairs { items, places, near, found: &AtomicUsize::new(0) }, near.len());
        let (mut remaining, mut points) = (&mut shares[..], &mut out[..]);
        let mut turns: [_; SHARES] = std::array::from_fn(|_| {
            let share = remaining.split_off_first_mut();
            let count = share.as_ref().map_or(0, |share| share.places);
            (share, points.split_off_mut(..count).unwrap_or_default())
        });
        pool.parallel_for(&mut turns, |_, (share, points)| {
            let Some(Share { number, workspace, count, beyond, touching, .. }) = share else { return };
            touching.clear();
            let mut points = Points::new(points, beyond);
            pairs.collide(all * *number / SHARES..all * (*number + 1) / SHARES, workspace, &mut points, touching);
            *count = points.count();
        });
        touching.clear();
        let mut first = 0;
        self.has_too_many = shares.iter().map(|share| share.count).sum::<usize>() > MAX_CONTACTS;
        for share in &*shares {
            touching.extend(share.touching.iter().map(|pair| TouchingPair { first: pair.first + first, ..*pair }));
            first += share.count as u32;
        }
        if shares.iter().any(|share| share.count != share.places) {
            self.move_together(pool, out);
        }
    }

    /// Puts contact points in order that are not where they were in the last call.
    fn move_together(&mut self, pool: &mut ThreadPool, out: &mut Vec<Contact>) {
        let Self { shares, moved, most, .. } = self;
        let count: usize = shares.iter().map(|share| share.count).sum();
        *most = count.max(*most);
        moved.reserve(most.saturating_sub(moved.len()));
        out.reserve(most.saturating_sub(out.len()));
        moved.resize(count, Contact::NONE);
        let (mut from, mut to, mut shares) = (&out[..], &mut moved[..], shares.iter());
        let mut copies: [_; SHARES] = std::array::from_fn(|_| {
            let (places, count, beyond) =
                shares.next().map_or((0, 0, &[][..]), |share| (share.places, share.count, &share.beyond[..]));
            let from = from.split_off(..places).unwrap_or_default();
            (&from[..count.min(places)], beyond, to.split_off_mut(..count).unwrap_or_default())
        });
        pool.parallel_for(&mut copies, |_, (in_place, beyond, to)| {
            let (first, rest) = to.split_at_mut(in_place.len());
            first.copy_from_slice(in_place);
            rest.copy_from_slice(beyond);
        });
        std::mem::swap(out, moved);
    }

    /// Places the items, and finds the pairs that may be near anew if one of them has left where it was known to be.
    fn place(&mut self, pool: &mut ThreadPool, movement: impl Fn(usize) -> Movement + Sync) {
        let Self { items, places, search, near, knows_near, workspace, .. } = self;
        let bounds = search.bounds();
        let have_left = if pool.count() == 1 {
            places.all(items).fill(bounds, &movement)
        } else {
            let have_left = AtomicBool::new(false);
            pool.parallel_for(&mut places.shares::<SHARES>(items), |_, share| {
                if share.fill(bounds, &movement) {
                    have_left.store(true, Ordering::Relaxed);
                }
            });
            have_left.into_inner()
        };
        if have_left || !*knows_near {
            *knows_near = search.find_near(items, places, *knows_near, near, &workspace.interrupt);
        }
    }
}

/// The pairs that may be near.
#[derive(Clone, Copy)]
struct Pairs<'a> {
    items: &'a [Item],
    places: &'a Places,
    near: &'a Rows,
    /// About how many contact points all threads have found.
    found: &'a AtomicUsize,
}

/// Contact points that are found before the others hear of it.
const COUNTED_AT_ONCE: usize = 1000;

impl Pairs<'_> {
    /// Appends the contact points of some of the near pairs, or the first of them where there are more than
    /// [`MAX_CONTACTS`] in all.
    fn collide(
        &self,
        pairs: Range<usize>,
        workspace: &mut Convex,
        out: &mut Points<'_>,
        touching: &mut Vec<TouchingPair>,
    ) {
        let Self { items, places, near, found } = *self;
        let (mut counted, mut is_full) = (0, false);
        let (mut looked, mut is_interrupted) = (0_usize, false);
        near.each(pairs, |b, &Partner { item: a, flipped, allowed }| {
            looked += 1;
            is_interrupted |= looked.is_multiple_of(PAIRS_PER_LOOK) && workspace.interrupt.is_raised();
            if is_full || is_interrupted {
                return;
            }
            let a = a as usize;
            // In the canonical order of shapes.
            let (i, j) = if flipped { (b, a) } else { (a, b) };
            let (item, other) = (places.of(items, i), places.of(items, j));
            let Some(limit) = item.limit(&other, allowed.margin).filter(|_| places.boxes_meet(i, j)) else { return };
            let (geoms, first) = ([items[a].geom, items[b].geom], out.count());
            let motions = [item, other].map(|of| &of.ball.motion);
            let mut sink = Sink { out, geoms, flipped, margin: allowed.margin, pair: allowed.pair, limit, motions };
            collide_items([item, other], workspace, &mut sink);
            if out.count() > first {
                touching.push(TouchingPair { geoms: geoms.map(|geom| geom as u32), first: first as u32 });
                let new = out.count() - counted;
                if new >= COUNTED_AT_ONCE {
                    counted += new;
                    is_full = found.fetch_add(new, Ordering::Relaxed) + new > MAX_CONTACTS;
                }
            }
        });
    }
}

/// Appends the contact points of two items in the canonical order of shapes.
#[inline(always)]
pub(crate) fn collide_items(items: [PlacedItem<'_>; 2], workspace: &mut Convex, sink: &mut Sink) {
    let ([a, b], first) = (items, sink.out.count());
    collide(a.solid(), b.solid(), workspace, sink);
    if sink.out.count() > first {
        separate(
            items.map(|of| Moving::new(&of.item.solid, of.at, &of.ball.motion, of.item.rest_depth)),
            first,
            workspace,
            sink,
        );
    }
}
