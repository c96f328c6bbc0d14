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
            if !(got > 0.0 && got.is_finite()) {
                return Err(Error::Length { what, got });
            }
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
        let nodes = (0..=nz).flat_map(|k| (0..=ny).flat_map(move |j| (0..=nx).map(move |i| (i, j, k))));
        let positions = nodes.map(|(i, j, k)| place(i, j, k)).collect();
        let mut elements = Vec::with_capacity(20 * nx * ny * nz);
        for (i, j, k) in (0..nz).flat_map(|k| (0..ny).flat_map(move |j| (0..nx).map(move |i| (i, j, k)))) {
            let is_odd = (i + j + k) % 2 == 1;
            for tet in FIVE {
                let mut corners = tet.map(|c| {
                    let x = if is_odd { 1 - (c & 1) } else { c & 1 };
                    index(i + x, j + (c >> 1 & 1), k + (c >> 2))
                });
                if is_odd {
                    corners.swap(0, 1);
                }
                elements.extend(corners);
            }
        }
        Self::new(Order::Linear, positions, elements)
    }
}

fn check_cells(cells: [usize; 3]) -> Result<(), Error> {
    for (what, got) in ["the grid along x", "the grid along y", "the grid along z"].into_iter().zip(cells) {
        if got == 0 || got > MAX_CELLS {
            return Err(Error::Cells { what, got, limit: MAX_CELLS });
        }
    }
    let nodes = cells.iter().map(|n| n + 1).product();
    if nodes > super::MAX_NODES {
        return Err(Error::TooLarge { elements: 5 * cells.iter().product::<usize>(), nodes, limit: super::MAX_NODES });
    }
    Ok(())
}
