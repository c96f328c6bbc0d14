//! The triangles of a height field that a shape can reach.

use spatial::Vec3;

/// Corners that are remembered as seen: of more, contact points are found more than once, and repeated ones dropped.
pub(super) const MAX_SEEN: usize = 64;

/// A triangle within reach of a shape.
#[derive(Clone, Copy)]
pub(super) struct Facet {
    /// Counter-clockwise from above.
    pub corners: [Vec3<f64>; 3],
    /// Row and column of the cell, and which half of it.
    pub cell: [usize; 3],
    pub normal: Vec3<f64>,
    /// The shape's core's farthest point against the normal.
    pub low: Vec3<f64>,
    /// How far that point is beyond each side, seen along the normal, as a share of the cell's size.
    pub beyond: [f64; 3],
    /// Distance of the shape from the triangle's plane.
    pub distance: f64,
    /// Whether the shape has a face or an edge along the plane.
    pub is_along: bool,
}

/// The triangles within reach in a row of cells.
#[derive(Default)]
pub(super) struct Row {
    pub facets: Vec<Facet>,
    /// Where each half of each cell is among them, or [`NONE`].
    pub places: Vec<u32>,
}

const NONE: u32 = u32::MAX;

impl Row {
    /// Empties it for so many halves of cells.
    pub fn clear(&mut self, halves: usize) {
        self.facets.clear();
        self.places.clear();
        self.places.resize(halves, NONE);
    }

    pub fn get(&self, half: usize) -> Option<&Facet> {
        self.facets.get(*self.places.get(half)? as usize)
    }
}

/// Scratch of a query.
#[derive(Default)]
pub(super) struct Facets {
    pub row: Row,
    pub row_before: Row,
    /// Rows and columns of corners that were looked at.
    pub seen: Vec<[usize; 2]>,
}

impl Facets {
    /// Scratch for a field with so many columns.
    pub fn with_capacity(columns: usize) -> Self {
        let row = || Row { facets: Vec::with_capacity(2 * columns), places: Vec::with_capacity(2 * columns) };
        Self { row: row(), row_before: row(), seen: Vec::with_capacity(if columns > 0 { MAX_SEEN } else { 0 }) }
    }

    pub fn columns(&self) -> usize {
        self.row.places.capacity() / 2
    }
}

/// A side of a triangle: that from corner `side` to the next.
#[derive(Clone, Copy)]
pub(super) struct Side<'a> {
    pub facet: &'a Facet,
    pub side: usize,
}

impl Facet {
    #[inline(always)]
    pub fn of_side(&self, side: usize) -> Side<'_> {
        Side { facet: self, side }
    }

    /// Where a side begins and ends.
    #[inline(always)]
    pub fn side(&self, side: usize) -> [Vec3<f64>; 2] {
        [self.corners[side], self.corners[(side + 1) % 3]]
    }

    /// The direction out of the triangle across a side, as long as the side.
    #[inline(always)]
    pub fn outward(&self, side: usize) -> Vec3<f64> {
        let [s, e] = self.side(side);
        (e - s).cross(self.normal)
    }
}
