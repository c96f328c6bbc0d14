//! Convex polygons cut down to what lies within one another.

/// Across, across, along the normal.
pub(super) type Corner = [f64; 3];

/// A walk to the right goes on over corners that lead back by no more than this share of the polygon's size: nearly equal ones do not end it.
const ROUND_OFF: f64 = 1e-12;

/// Twice the area of the triangle (a, b, c), across the normal: positive when c is left of a → b.
#[inline(always)]
pub(super) fn side(a: Corner, b: Corner, c: Corner) -> f64 {
    (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

pub(super) fn between(a: Corner, b: Corner, t: f64) -> Corner {
    [0, 1, 2].map(|i| a[i] + t * (b[i] - a[i]))
}

/// A convex polygon that is being cut: its corners in a ring, counter-clockwise.
#[derive(Clone, Debug, Default)]
pub(super) struct Ring {
    /// Those that were cut off are still there.
    corners: Vec<Corner>,
    before: Vec<usize>,
    after: Vec<usize>,
    /// Where the order of corners begins.
    first: usize,
}

/// The corners that an edge cuts off.
struct OffCut {
    from: usize,
    to: usize,
    /// The corner before them and the one after them, which stay.
    neighbours: [usize; 2],
    /// Whether the polygon's first corner is one of them.
    has_first: bool,
}

impl Ring {
    /// Room to cut polygons of up to `corners` corners down to others of as many.
    pub fn with_capacity(corners: usize) -> Self {
        let room = 3 * corners;
        let [before, after] = [(); 2].map(|()| Vec::with_capacity(room));
        Self { corners: Vec::with_capacity(room), before, after, first: 0 }
    }

    fn set(&mut self, polygon: &[Corner]) {
        let count = polygon.len();
        self.corners.clear();
        self.corners.extend_from_slice(polygon);
        self.before.clear();
        self.before.push(count - 1);
        self.before.extend(0..count - 1);
        self.after.clear();
        self.after.extend(1..count);
        self.after.push(0);
        self.first = 0;
    }

    /// The corners in order, which begins as that of the polygon did.
    fn store(&self, polygon: &mut Vec<Corner>) {
        polygon.clear();
        let mut at = self.first;
        loop {
            polygon.push(self.corners[at]);
            at = self.after[at];
            if at == self.first {
                return;
            }
        }
    }

    /// The corners around `at` that are right of an edge, of which `at` is one; `None` where all are.
    fn off_cut(&self, at: usize, side: impl Fn(usize) -> f64) -> Option<OffCut> {
        let (mut from, mut to, mut has_first) = (at, at, at == self.first);
        while side(self.before[from]) < 0.0 {
            from = self.before[from];
            if from == at {
                return None;
            }
            has_first |= from == self.first;
        }
        while side(self.after[to]) < 0.0 {
            to = self.after[to];
            has_first |= to == self.first;
        }
        Some(OffCut { from, to, neighbours: [self.before[from], self.after[to]], has_first })
    }

    /// Puts the ends of the edge's part within the polygon in the place of what it cuts off; returns the second.
    fn cut(&mut self, off: &OffCut, side: impl Fn(Corner) -> f64) -> usize {
        let meet = |from: Corner, to: Corner| between(from, to, side(from) / (side(from) - side(to)));
        let [before, after] = off.neighbours;
        let corners = &self.corners;
        let ends = [meet(corners[before], corners[off.from]), meet(corners[off.to], corners[after])];
        let entry = corners.len();
        let exit = entry + 1;
        self.corners.extend(ends);
        self.before.extend([before, entry]);
        self.after.extend([exit, after]);
        self.after[before] = entry;
        self.before[after] = exit;
        if off.from == self.first {
            self.first = entry;
        } else if off.has_first || after == self.first {
            self.first = exit;
        }
        exit
    }

    /// Cuts a convex `polygon` down to what lies within the convex polygon `clip`, both counter-clockwise, in a time that grows with the number
    /// of corners: faces of cylinders have dozens, and each edge of one may cut something off the other.
    ///
    /// From edge to edge the corner that is farthest to the right moves on counter-clockwise, so that one walk around finds all of them. Corners
    /// are those of Sutherland and Hodgman's way, in the same order.
    pub fn clip(&mut self, polygon: &mut Vec<Corner>, clip: &[Corner]) {
        let (Some(&last), false) = (clip.last(), polygon.is_empty()) else { return };
        self.set(polygon);
        let from_first_edge = |corner: &usize| side(last, clip[0], polygon[*corner]);
        let rightmost = (0..polygon.len()).min_by(|i, j| from_first_edge(i).total_cmp(&from_first_edge(j)));
        let (mut at, mut start) = (rightmost.unwrap_or(0), last);
        let distance = |a: Corner, b: Corner| (a[0] - b[0]).abs() + (a[1] - b[1]).abs();
        let size = polygon.iter().fold(0.0, |size: f64, &corner| size.max(distance(corner, polygon[0])));
        for &end in clip {
            let of = |corner: Corner| side(start, end, corner);
            let round_off = ROUND_OFF * size * distance(start, end);
            let mut most = of(self.corners[at]);
            for _ in 0..self.corners.len() {
                let next = of(self.corners[self.after[at]]);
                if next > most + round_off {
                    break;
                }
                (at, most) = (self.after[at], next);
            }
            if most < 0.0 {
                let Some(off) = self.off_cut(at, |corner| of(self.corners[corner])) else {
                    polygon.clear();
                    return;
                };
                at = self.cut(&off, of);
            }
            start = end;
        }
        self.store(polygon);
    }
}

#[cfg(test)]
mod tests {
    use support::SplitMix64;

    use super::*;

    /// Sutherland and Hodgman's way: every edge looks at every corner.
    fn sutherland_hodgman(polygon: &[Corner], clip: &[Corner]) -> Vec<Corner> {
        let mut left = polygon.to_vec();
        let mut start = clip[clip.len() - 1];
        for &end in clip {
            let corners = std::mem::take(&mut left);
            let Some(mut from) = corners.last().copied() else { return left };
            for to in corners {
                let (a, b) = (side(start, end, from), side(start, end, to));
                if (a < 0.0) != (b < 0.0) {
                    left.push(between(from, to, a / (a - b)));
                }
                if b >= 0.0 {
                    left.push(to);
                }
                from = to;
            }
            start = end;
        }
        left
    }

    /// Corners on an ellipse, counter-clockwise.
    fn polygon(corners: usize, random: &mut SplitMix64) -> Vec<Corner> {
        let [x, y, width, height] = [(); 4].map(|()| random.uniform(0.2, 1.0));
        let mut angles: Vec<f64> = (0..corners).map(|_| random.uniform(0.0, std::f64::consts::TAU)).collect();
        angles.sort_by(f64::total_cmp);
        angles.iter().map(|angle| [x + width * angle.cos(), y + height * angle.sin(), 0.3 * angle]).collect()
    }

    #[test]
    fn corners_are_those_of_sutherland_and_hodgman_in_their_order() {
        let mut random = SplitMix64(7);
        let mut ring = Ring::with_capacity(64);
        let (mut cut, mut empty) = (0, 0);
        for trial in 0..20_000 {
            let most = if trial % 4 == 0 { 60 } else { 5 };
            let [p, q] = [(); 2].map(|()| 3 + random.below(most));
            let (mut p, q) = (polygon(p, &mut random), polygon(q, &mut random));
            let expected = sutherland_hodgman(&p, &q);
            cut += usize::from(expected != p);
            ring.clip(&mut p, &q);
            assert_eq!(p, expected);
            empty += usize::from(expected.is_empty());
        }
        assert!(cut > 15_000 && empty > 100, "{cut} {empty}");
    }

    #[test]
    fn same_faces_turned_have_twice_the_corners() {
        let disc = |turn: f64| -> Vec<Corner> {
            (0..52)
                .map(|i| std::f64::consts::TAU * (f64::from(i) + turn) / 52.0)
                .map(|a| [a.cos(), a.sin(), 0.0])
                .collect()
        };
        let mut ring = Ring::with_capacity(52);
        let mut turned = disc(0.5);
        ring.clip(&mut turned, &disc(0.0));
        assert_eq!(turned.len(), 104);
        let mut same = disc(0.0);
        ring.clip(&mut same, &disc(0.0));
        assert_eq!(same, disc(0.0));
    }

    #[test]
    fn repeated_corners_do_not_hide_what_is_beyond_them() {
        let square: Vec<Corner> =
            [[0.0, 0.0], [2.0, 0.0], [2.0, 0.0], [2.0, 1.0], [2.0, 1.0], [2.0, 2.0], [0.0, 2.0], [0.0, 2.0]]
                .map(|[x, y]| [x, y, 0.0])
                .to_vec();
        let clip: Vec<Corner> = [[0.5, 0.5], [1.0, 0.5], [1.0, 1.0], [0.5, 1.0]].map(|[x, y]| [x, y, 0.0]).to_vec();
        let mut left = square.clone();
        Ring::with_capacity(8).clip(&mut left, &clip);
        assert_eq!(left, sutherland_hodgman(&square, &clip));
        assert_eq!(left.len(), 4);
    }
}
