//! Which geoms may touch.

use crate::collider::Attachment;
use crate::scene::Scene;

/// The rule for pairs of geoms.
///
/// Geoms of one rigid group never touch, nor do two that are fixed. Explicit pairs otherwise always may. Others may
/// when a `contype` shares a bit with the other's `conaffinity`, unless one group hangs from the other (but from the
/// world) or their bodies are excluded.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    geoms: Vec<Rule>,
    /// Ascending pairs of bodies.
    excluded: Vec<[usize; 2]>,
    /// Ascending pairs of geoms, with the pair's margin and index.
    explicit: Vec<([usize; 2], Allowed)>,
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
        });
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
        Self { geoms: geoms.collect(), excluded, explicit }
    }

    /// Whether the geom has any chance to touch.
    pub fn may_touch_something(&self, geom: usize) -> bool {
        let rule = &self.geoms[geom];
        rule.contype != 0 || rule.conaffinity != 0 || self.explicit.iter().any(|(geoms, _)| geoms.contains(&geom))
    }

    /// Whether the geom is fixed in the world.
    pub fn is_fixed(&self, geom: usize) -> bool {
        self.geoms[geom].fixed
    }

    /// The largest margin that a pair of this geom can have is twice this.
    pub fn half_margin(&self, geom: usize) -> f64 {
        let explicit = self.explicit.iter().filter(|(geoms, _)| geoms.contains(&geom));
        explicit.map(|(_, allowed)| 0.5 * allowed.margin).fold(self.geoms[geom].margin, f64::max)
    }

    /// How two different geoms may touch, if at all.
    pub fn allowed(&self, a: usize, b: usize) -> Option<Allowed> {
        let (p, q) = (&self.geoms[a], &self.geoms[b]);
        if p.group == q.group || p.fixed && q.fixed {
            return None;
        }
        if let Ok(i) = self.explicit.binary_search_by_key(&ascending([a, b]), |(geoms, _)| *geoms) {
            return Some(self.explicit[i].1);
        }
        let bits = (p.contype & q.conaffinity) | (q.contype & p.conaffinity);
        let hangs = |child: &Rule, parent: &Rule| child.parent_group == parent.group && parent.group != 0;
        let excluded = || self.excluded.binary_search(&ascending([p.body, q.body])).is_ok();
        if bits == 0 || hangs(p, q) || hangs(q, p) || excluded() {
            return None;
        }
        Some(Allowed { margin: p.margin + q.margin, pair: None })
    }
}

/// All allowed pairs, by first item.
#[derive(Clone, Debug)]
pub(crate) struct Rows {
    /// Item, and the end of its part of `partners`.
    rows: Vec<(usize, usize)>,
    /// Apart from `allowed`, so that the search for near pairs reads little.
    partners: Vec<u32>,
    allowed: Vec<Allowed>,
}

impl Rows {
    /// The allowed pairs of items, given each item's geom; `None` when there are more than `most`.
    pub fn new(filter: &Filter, geoms: &[usize], most: usize) -> Option<Self> {
        let mut rows = Self { rows: vec![], partners: vec![], allowed: vec![] };
        for (i, &a) in geoms.iter().enumerate() {
            for (j, &b) in geoms.iter().enumerate().skip(i + 1) {
                if let Some(allowed) = filter.allowed(a, b) {
                    rows.partners.push(j as u32);
                    rows.allowed.push(allowed);
                }
            }
            let end = rows.partners.len();
            if end > most {
                return None;
            }
            if rows.rows.last().map_or(0, |row| row.1) < end {
                rows.rows.push((i, end));
            }
        }
        Some(rows)
    }

    /// Visits the pairs that are `near`, in order. `near(a)` is the test for partners of item a.
    #[inline(always)]
    pub fn each<N: Fn(usize) -> bool>(&self, near: impl Fn(usize) -> N, visit: &mut impl FnMut(usize, usize, Allowed)) {
        let mut start = 0;
        for &(a, end) in &self.rows {
            let near = near(a);
            for k in start..end {
                let b = self.partners[k] as usize;
                if near(b) {
                    visit(a, b, self.allowed[k]);
                }
            }
            start = end;
        }
    }
}
