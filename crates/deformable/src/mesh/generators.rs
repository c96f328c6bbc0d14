//! Meshes of simple shapes.

use spatial::Vec3;

use super::{Order, TetMesh};
use crate::Error;

/// Most cells in one direction.
const MAX_CELLS: usize = 256;

/// The corners of a cell by bits x, y, z; five tetrahedra of one parity, the other is mirrored in x.
const FIVE: [[usize; 4]; 5] = [[0, 1, 2, 4], [3, 2, 1, 7], [5, 4, 7, 1], [6, 7, 4, 2], [1, 2, 4, 7]];

impl TetMesh {
    /// A box of edge lengths `lengths` (m), its centre at the origin, of `cells` cells along each axis, each of five tetrahedra. Cells
    /// alternate, so that the mesh has no preferred diagonal where numbers of cells are even.
    ///
    /// # Errors
    /// If a length is not positive, there are no cells along an axis or too many.
    pub fn cuboid(lengths: Vec3<f64>, cells: [usize; 3]) -> Result<Self, Error> {
        let lengths = lengths.to_array();
        for (what, got) in ["the box's length along x", "the box's length along y", "the box's length along z"]
            .into_iter()
            .zip(lengths)
        {
            check_length(what, got)?;
        }
        check_cells(cells)?;
        let corners = lengths.map(|l| -0.5 * l);
        let spacing = [0, 1, 2].map(|k| lengths[k] / cells[k] as f64);
        Self::grid(cells, |i, j, k| {
            let at = |axis: usize, n: usize| corners[axis] + spacing[axis] * n as f64;
            Vec3::new(at(0, i), at(1, j), at(2, k))
        })
    }

    /// A grid of `cells` cells, node (i, j, k) where `place` says (m), each cell of five tetrahedra.
    ///
    /// # Errors
    /// If there are no cells along an axis or too many, or an element is inverted or flat.
    pub fn grid(cells: [usize; 3], place: impl Fn(usize, usize, usize) -> Vec3<f64>) -> Result<Self, Error> {
        check_cells(cells)?;
        let [nx, ny, nz] = cells;
        let index = |i: usize, j: usize, k: usize| ((k * (ny + 1) + j) * (nx + 1) + i) as u32;
        let positions = triples(cells.map(|n| n + 1)).map(|[i, j, k]| place(i, j, k)).collect();
        let mut elements = Vec::with_capacity(20 * nx * ny * nz);
        for [i, j, k] in triples(cells) {
            let corner = |c: usize| index(i + (c & 1), j + (c >> 1 & 1), k + (c >> 2));
            push_cell(&mut elements, (i + j + k) % 2 == 1, corner);
        }
        Self::new(Order::Linear, positions, elements)
    }
}

/// The five tetrahedra of a cell with these corners, by bits x, y, z. The one inside has the corners of odd colour, where the colour of a
/// cell is that of its corner 0, and neighbours on an edge differ: so faces of adjoining cells are cut alike.
pub(super) fn push_cell(elements: &mut Vec<u32>, is_odd: bool, corner: impl Fn(usize) -> u32) {
    for tet in FIVE {
        let mut corners = tet.map(|c| corner(if is_odd { c ^ 1 } else { c }));
        if is_odd {
            corners.swap(0, 1);
        }
        elements.extend(corners);
    }
}

/// All triples below the counts, the first index fastest.
pub(super) fn triples([nx, ny, nz]: [usize; 3]) -> impl Iterator<Item = [usize; 3]> {
    (0..nz).flat_map(move |k| (0..ny).flat_map(move |j| (0..nx).map(move |i| [i, j, k])))
}

pub(super) fn check_length(what: &'static str, got: f64) -> Result<(), Error> {
    if got > 0.0 && got.is_finite() { Ok(()) } else { Err(Error::Length { what, got }) }
}

pub(super) fn check_within(what: &'static str, got: usize, least: usize) -> Result<(), Error> {
    if (least..=MAX_CELLS).contains(&got) { Ok(()) } else { Err(Error::Cells { what, got, least, limit: MAX_CELLS }) }
}

pub(super) fn check_total(nodes: usize, cells: usize) -> Result<(), Error> {
    let limit = super::MAX_NODES;
    if nodes <= limit { Ok(()) } else { Err(Error::TooLarge { elements: 5 * cells, nodes, limit }) }
}

fn check_cells(cells: [usize; 3]) -> Result<(), Error> {
    for (what, got) in ["the grid along x", "the grid along y", "the grid along z"].into_iter().zip(cells) {
        check_within(what, got, 1)?;
    }
    check_total(cells.iter().map(|n| n + 1).product(), cells.iter().product())
}
