//! The loops over samples: who is next to the camera.

use crate::primitives::{Kind, Primitive, Slab};

/// Samples that are computed side by side.
pub(crate) const LANES: usize = 8;
/// Rows of pixels that are drawn together.
pub(crate) const BAND: usize = 16;

/// The primitive of samples that see none.
pub(crate) const NOTHING: u32 = u32::MAX;

/// Some rows of samples: the nearness and the primitive of what each sees.
#[derive(Debug, Default)]
pub(crate) struct Band {
    pub nearness: Vec<f32>,
    pub primitive: Vec<u32>,
    /// Samples of a row, a multiple of `LANES`.
    pub stride: usize,
    /// The first row, and one past the last.
    pub rows: [usize; 2],
}

impl Band {
    /// Makes the band see nothing in these rows.
    pub fn clear(&mut self, columns: usize, rows: [usize; 2]) {
        self.stride = columns.next_multiple_of(LANES);
        self.rows = rows;
        let len = self.stride * (rows[1] - rows[0]);
        self.nearness.clear();
        self.nearness.resize(len, 0.0);
        self.primitive.clear();
        self.primitive.resize(len, NOTHING);
    }

    /// The index of a sample.
    pub fn index(&self, column: usize, row: usize) -> usize {
        (row - self.rows[0]) * self.stride + column
    }

    /// Draws a primitive: it is seen where it is nearer than what is there, but not nearer than `nearest`.
    pub fn draw(&mut self, primitive: &Primitive, index: u32, nearest: f32) {
        let [first, end] = primitive.bounds.rows.map(usize::from);
        for row in first.max(self.rows[0])..end.min(self.rows[1]) {
            match &primitive.kind {
                Kind::Triangle { edges } => self.triangle_row(primitive, edges, row, index, nearest),
                Kind::Conic { form, curved, slab } => {
                    let slab = slab.as_ref();
                    self.conic_row(primitive, form, *curved, slab, row, index, nearest);
                }
            }
        }
    }

    /// The samples of a row in groups of `LANES`, from the group of the first column to that of the last; calls `f` with the first
    /// column's u.
    fn each_group(
        &mut self,
        row: usize,
        [first, end]: [usize; 2],
        origin: f32,
        mut f: impl FnMut(f32, &mut [f32; LANES], &mut [u32; LANES]),
    ) {
        let first = first / LANES * LANES;
        let end = end.next_multiple_of(LANES).min(self.stride);
        if first >= end {
            return;
        }
        let start = self.index(0, row);
        let range = start + first..start + end;
        let nearness = self.nearness[range.clone()].as_chunks_mut::<LANES>().0;
        let primitive = self.primitive[range].as_chunks_mut::<LANES>().0;
        let mut u = first as f32 - origin;
        for (w, p) in nearness.iter_mut().zip(primitive) {
            f(u, w, p);
            u += LANES as f32;
        }
    }

    fn triangle_row(&mut self, primitive: &Primitive, edges: &[[f32; 3]; 3], row: usize, index: u32, nearest: f32) {
        let v = row as f32 - primitive.origin[1];
        let at_row = |c: &[f32; 3]| [c[2].mul_add(v, c[0]), c[1]];
        let lines: [[f32; 2]; 3] = [at_row(&edges[0]), at_row(&edges[1]), at_row(&edges[2])];
        let w = at_row(&primitive.nearness);
        let Some(span) = span_of_lines(&lines, primitive) else { return };
        self.each_group(row, span, primitive.origin[0], |u, seen, ids| {
            for l in 0..LANES {
                let u = u + l as f32;
                let e = lines.map(|[c, s]| s.mul_add(u, c));
                let w = w[1].mul_add(u, w[0]);
                let passes = (e[0] >= 0.0) & (e[1] >= 0.0) & (e[2] >= 0.0) & (w > seen[l]) & (w <= nearest);
                seen[l] = if passes { w } else { seen[l] };
                ids[l] = if passes { index } else { ids[l] };
            }
        });
    }

    fn conic_row(
        &mut self,
        primitive: &Primitive,
        form: &[f32; 6],
        curved: bool,
        slab: Option<&Slab>,
        row: usize,
        index: u32,
        nearest: f32,
    ) {
        let v = row as f32 - primitive.origin[1];
        let q = [form[5].mul_add(v, form[2]).mul_add(v, form[0]), form[4].mul_add(v, form[1]), form[3]];
        let Some(span) = span_of_conic(&q, primitive) else { return };
        let w = [primitive.nearness[2].mul_add(v, primitive.nearness[0]), primitive.nearness[1]];
        let curvature = if curved { 1.0f32 } else { 0.0 };
        let none = Slab { along: [0.0; 3], slope: 0.0, limit: 0.0, constant: f32::MAX };
        let slab = slab.unwrap_or(&none);
        let s = [slab.along[2].mul_add(v, slab.along[0]), slab.along[1]];
        self.each_group(row, span, primitive.origin[0], |u, seen, ids| {
            for l in 0..LANES {
                let u = u + l as f32;
                let q = q[2].mul_add(u, q[1]).mul_add(u, q[0]);
                let root = (if q > 0.0 { q } else { 0.0 }).sqrt();
                let w = curvature.mul_add(root, w[1].mul_add(u, w[0]));
                let along = slab.slope.mul_add(w, s[1].mul_add(u, s[0]));
                let inside = along.abs() <= slab.limit.mul_add(w, slab.constant);
                let passes = (q >= 0.0) & inside & (w > seen[l]) & (w <= nearest);
                seen[l] = if passes { w } else { seen[l] };
                ids[l] = if passes { index } else { ids[l] };
            }
        });
    }
}

/// The columns in which c + s u ≥ 0 for every line, and one more on either side for round-off.
fn span_of_lines(lines: &[[f32; 2]; 3], primitive: &Primitive) -> Option<[usize; 2]> {
    let [first, end] = primitive.bounds.columns;
    if end - first <= LANES as u16 {
        return Some([first.into(), end.into()]);
    }
    let (mut low, mut high) = (f32::from(first), f32::from(end - 1));
    for [c, s] in lines {
        let zero = primitive.origin[0] - c / s;
        if *s > 0.0 {
            low = low.max(zero - 1.0);
        } else if *s < 0.0 {
            high = high.min(zero + 1.0);
        } else if *c < 0.0 {
            return None;
        }
    }
    (low <= high).then(|| [low.max(0.0) as usize, high as usize + 1])
}

/// The columns in which q₀ + q₁ u + q₂ u² ≥ 0 can be, and one more on either side for round-off.
fn span_of_conic(q: &[f32; 3], primitive: &Primitive) -> Option<[usize; 2]> {
    let [first, end] = primitive.bounds.columns;
    let (mut low, mut high) = (f32::from(first), f32::from(end - 1));
    if q[2] < 0.0 {
        let (q0, q1, q2) = (f64::from(q[0]), f64::from(q[1]), f64::from(q[2]));
        let discriminant = q1 * q1 - 4.0 * q2 * q0;
        if discriminant < 0.0 {
            return None;
        }
        let (middle, half) = (-0.5 * q1 / q2, -0.5 * discriminant.sqrt() / q2);
        let origin = f64::from(primitive.origin[0]);
        low = low.max((origin + middle - half - 1.0) as f32);
        high = high.min((origin + middle + half + 1.0) as f32);
    }
    (low <= high).then(|| [low.max(0.0) as usize, high as usize + 1])
}
