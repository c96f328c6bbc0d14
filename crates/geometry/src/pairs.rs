//! Which geoms may touch.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::movement::Attachment;
use crate::scene::Scene;

/// The rule for pairs of geoms.
///
/// Geoms of one rigid group never touch, nor do two that are fixed. Explicit pairs otherwise always may. Others may
/// when a `contype` shares a bit with the other's `conaffinity`, unless one group hangs from the other (but from the
/// world, and unless [`Scene::parents_touch`]) or their bodies are excluded.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    geoms: Vec<Rule>,
    /// Ascending pairs of bodies.
    excluded: Vec<[usize; 2]>,
    parents_touch: bool,
    /// Ascending pairs of geoms, with the pair's margin and index.
    explicit: Vec<([usize; 2], Allowed)>,
    /// The largest margin of the explicit pairs of every geom that has any.
    explicit_margin: BTreeMap<usize, f64>,
    /// The bits of all geoms together.
    contypes: u32,
    conaffinities: u32,
}

/// What decides about one geom.
#[derive(Clone, Copy, Debug)]
struct Rule {
    contype: u32,
    conaffinity: u32,
    body: usize,
    fixed: bool,
    group: usize,
    parent_group: usize,
    margin: f64,
    /// Whether a pair of bodies that is excluded has its body, and whether an explicit pair has it.
    is_in_excluded: bool,
    is_in_explicit: bool,
}

/// A pair that may touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Allowed {
    pub margin: f64,
    /// Index of the explicit pair.
    pub pair: Option<usize>,
}

fn ascending([a, b]: [usize; 2]) -> [usize; 2] {
    if a <= b { [a, b] } else { [b, a] }
}

impl Filter {
    pub fn new(scene: &Scene, attachments: &[Attachment]) -> Self {
        let geoms = scene.geoms.iter().zip(attachments).map(|(g, a)| Rule {
            contype: g.contype,
            conaffinity: g.conaffinity,
            body: g.body,
            fixed: a.frame.is_none(),
            group: a.group,
            parent_group: a.parent_group,
            margin: g.margin,
            is_in_excluded: false,
            is_in_explicit: false,
        });
        let mut geoms: Vec<_> = geoms.collect();
        scene.pairs.iter().flat_map(|pair| pair.geoms).for_each(|geom| {
            if let Some(rule) = geoms.get_mut(geom) {
                rule.is_in_explicit = true;
            }
        });
        let excluded_bodies: BTreeSet<usize> = scene.excluded.iter().flatten().copied().collect();
        geoms.iter_mut().for_each(|rule| rule.is_in_excluded = excluded_bodies.contains(&rule.body));
        let mut excluded: Vec<_> = scene.excluded.iter().map(|&pair| ascending(pair)).collect();
        excluded.sort_unstable();
        let mut explicit: Vec<_> = scene
            .pairs
            .iter()
            .enumerate()
            .map(|(i, p)| (ascending(p.geoms), Allowed { margin: p.margin, pair: Some(i) }))
            .collect();
        for ([_, last], _) in &explicit {
            assert!(*last < scene.geoms.len(), "an explicit pair names geom {last}, which is not there");
        }
        // Of two pairs for the same geoms the first stands.
        explicit.sort_by_key(|(geoms, allowed)| (*geoms, allowed.pair));
        explicit.dedup_by_key(|(geoms, _)| *geoms);
        let mut explicit_margin = BTreeMap::new();
        for (geoms, allowed) in &explicit {
            for geom in geoms {
                let margin = explicit_margin.entry(*geom).or_insert(f64::NEG_INFINITY);
                *margin = allowed.margin.max(*margin);
            }
        }
        let contypes = scene.geoms.iter().fold(0, |bits, geom| bits | geom.contype);
        let conaffinities = scene.geoms.iter().fold(0, |bits, geom| bits | geom.conaffinity);
        let parents_touch = scene.parents_touch;
        Self { geoms, excluded, parents_touch, explicit, explicit_margin, contypes, conaffinities }
    }

    /// Whether the geom has any chance to touch.
    pub fn may_touch_something(&self, geom: usize) -> bool {
        let rule = &self.geoms[geom];
        let bits = (rule.contype & self.conaffinities) | (rule.conaffinity & self.contypes);
        bits != 0 || self.explicit_margin.contains_key(&geom)
    }

    /// Whether the geom is fixed in the world.
    pub fn is_fixed(&self, geom: usize) -> bool {
        self.geoms[geom].fixed
    }

    /// The largest margin that a pair of this geom can have is twice this.
    pub fn half_margin(&self, geom: usize) -> f64 {
        let explicit = self.explicit_margin.get(&geom).map(|margin| 0.5 * margin);
        explicit.into_iter().fold(self.geoms[geom].margin, f64::max)
    }

    /// How two different geoms may touch, if at all.
    pub fn allowed(&self, a: usize, b: usize) -> Option<Allowed> {
        let (p, q) = (&self.geoms[a], &self.geoms[b]);
        if p.group == q.group || p.fixed && q.fixed {
            return None;
        }
        let explicit = || self.explicit.binary_search_by_key(&ascending([a, b]), |(geoms, _)| *geoms);
        if p.is_in_explicit
            && q.is_in_explicit
            && let Ok(i) = explicit()
        {
            return Some(self.explicit[i].1);
        }
        let bits = (p.contype & q.conaffinity) | (q.contype & p.conaffinity);
        let hangs = |child: &Rule, parent: &Rule| {
            child.parent_group == parent.group && parent.group != 0 && !self.parents_touch
        };
        let excluded = || {
            let may_be = p.is_in_excluded && q.is_in_excluded;
            may_be && self.excluded.binary_search(&ascending([p.body, q.body])).is_ok()
        };
        if bits == 0 || hangs(p, q) || hangs(q, p) || excluded() {
            return None;
        }
        Some(Allowed { margin: p.margin + q.margin, pair: None })
    }
}

/// Two geoms that may touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct GeomPair {
    /// The two geoms, the lower index first.
    pub geoms: [usize; 2],
    /// Contact force begins at this distance, m.
    pub margin: f64,
    /// Index of the explicit pair ([`Scene::pairs`]) that asks for it.
    pub explicit: Option<usize>,
}

/// All pairs of geoms that may touch, ascending; none where there are more than `most`.
///
/// # Panics
/// When there is not one attachment for each geom, or a pair names a geom that is not there.
pub fn allowed_pairs(scene: &Scene, attachments: &[Attachment], most: usize) -> Option<Vec<GeomPair>> {
    assert_eq!(scene.geoms.len(), attachments.len(), "one attachment for each geom");
    let filter = Filter::new(scene, attachments);
    let able: Vec<usize> = (0..scene.geoms.len()).filter(|&geom| filter.may_touch_something(geom)).collect();
    let mut pairs = Vec::new();
    for (k, &a) in able.iter().enumerate() {
        for &b in &able[k + 1..] {
            if let Some(Allowed { margin, pair: explicit }) = filter.allowed(a, b) {
                if pairs.len() == most {
                    return None;
                }
                pairs.push(GeomPair { geoms: [a, b], margin, explicit });
            }
        }
    }
    Some(pairs)
}

/// A pair that may touch, in the row of the later of its two items.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Partner {
    /// The earlier item.
    pub item: u32,
    /// Whether the later item comes first in the canonical order of shapes.
    pub flipped: bool,
    pub allowed: Allowed,
}

/// Pairs of items in order: ascending by the later item, then by the earlier one.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rows {
    /// Where the row of each item ends.
    ends: Vec<u32>,
    partners: Vec<Partner>,
}

/// Items beyond this number are left to the tree, however few of their pairs are allowed: to look at every pair takes
/// longer than seconds from some ten thousand items on.
const MAX_LISTED_ITEMS: usize = 2000;

impl Rows {
    /// The allowed pairs of items, given each item's geom and rank; `None` when there are more than `most`, or too many
    /// pairs of items to look at each.
    pub fn new(filter: &Filter, items: &[(usize, u8)], most: usize) -> Option<Self> {
        let mut rows = Self::default();
        if items.len() > MAX_LISTED_ITEMS {
            return None;
        }
        for (b, &(geom_b, _)) in items.iter().enumerate() {
            for (a, &(geom_a, _)) in items[..b].iter().enumerate() {
                if let Some(allowed) = filter.allowed(geom_a, geom_b) {
                    rows.push(a, b, items, allowed);
                }
            }
            rows.end_row();
            if rows.len() > most {
                return None;
            }
        }
        Some(rows)
    }

    pub fn clear(&mut self) {
        self.ends.clear();
        self.partners.clear();
    }

    /// Takes the pairs of others and leaves them none.
    pub fn swap(&mut self, others: &mut Self) {
        std::mem::swap(self, others);
        others.clear();
    }

    /// Has room for as many as others: the two take turns. For no more, or each would ask the other for twice as much.
    pub fn reserve_as(&mut self, others: &Self) {
        self.partners.reserve_exact(others.partners.capacity().saturating_sub(self.partners.len()));
    }

    /// The partners of item `b`, ascending.
    pub fn row(&self, b: usize) -> &[Partner] {
        let start = if b == 0 { 0 } else { self.ends[b - 1] };
        &self.partners[start as usize..self.ends[b] as usize]
    }

    /// Adds a pair to the row that is not ended; pairs are to come in order.
    pub fn push(&mut self, a: usize, b: usize, items: &[(usize, u8)], allowed: Allowed) {
        let flipped = items[b].1 < items[a].1;
        self.partners.push(Partner { item: a as u32, flipped, allowed });
    }

    /// Adds a pair of other rows.
    pub fn push_again(&mut self, partner: &Partner) {
        self.partners.push(*partner);
    }

    pub fn end_row(&mut self) {
        self.ends.push(self.partners.len() as u32);
    }

    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.ends.len()
    }

    /// How many pairs there are.
    pub fn len(&self) -> usize {
        self.partners.len()
    }

    /// Becomes those of `all` that are `near`, told of the later item and its partner.
    pub fn take_near(&mut self, all: &Self, near: impl Fn(usize, &Partner) -> bool) {
        self.clear();
        let mut start = 0;
        for (b, &end) in all.ends.iter().enumerate() {
            let row = &all.partners[start..end as usize];
            self.partners.extend(row.iter().filter(|partner| near(b, partner)));
            self.end_row();
            start = end as usize;
        }
    }

    /// Visits some of the pairs in order: the later item and its partner.
    #[inline(always)]
    pub fn each(&self, pairs: Range<usize>, mut visit: impl FnMut(usize, &Partner)) {
        let mut b = if pairs.start == 0 { 0 } else { self.ends.partition_point(|end| *end as usize <= pairs.start) };
        let mut start = pairs.start;
        while start < pairs.end {
            let end = (self.ends[b] as usize).min(pairs.end);
            self.partners[start..end].iter().for_each(|partner| visit(b, partner));
            start = end;
            b += 1;
        }
    }
}
