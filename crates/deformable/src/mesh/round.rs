//! Cylinders and balls: a core of cells, and layers of cells around it. A grid that is pressed into such a shape has flat cells where edges
//! of the grid come to lie on the surface; here no cell has an angle of more than about 140°.

use std::f64::consts::FRAC_PI_4;

use spatial::Vec3;

use super::generators::{check_length, check_total, check_within, push_cell, triples};
use super::{Order, TetMesh};
use crate::Error;

/// Fewest cells across: a core and a layer on each side.
const MIN_ACROSS: usize = 3;

/// How round the core is: 0 is a square or a cube, 1 a disc or a ball. Chosen for the quality of the worst element.
const BULGE: f64 = 0.6;

impl TetMesh {
    /// A cylinder of this radius and length (m) along z, its centre at the origin, of so many cells across its diameter (at least 3) and
    /// along z, each of five tetrahedra.
    ///
    /// # Errors
    /// If a length is not positive, or there are too few or too many cells.
    pub fn cylinder(radius: f64, length: f64, [across, along]: [usize; 2]) -> Result<Self, Error> {
        check_length("the cylinder's radius", radius)?;
        check_length("the cylinder's length", length)?;
        check_within("the cylinder across", across, MIN_ACROSS)?;
        check_within("the cylinder along its axis", along, 1)?;
        Layers::new(2, across, along).mesh([radius, radius, 0.5 * length])
    }

    /// A ball of this radius (m), its centre at the origin, of so many cells across its diameter (at least 3), each of five tetrahedra.
    /// [`transformed`](Self::transformed) makes ellipsoids of it.
    ///
    /// # Errors
    /// If the radius is not positive, or there are too few or too many cells.
    pub fn ball(radius: f64, across: usize) -> Result<Self, Error> {
        check_length("the ball's radius", radius)?;
        check_within("the ball across", across, MIN_ACROSS)?;
        Layers::new(3, across, 0).mesh([radius; 3])
    }
}

/// A grid of cells, and layers of cells on its sides.
struct Layers {
    /// Cells of the core along each axis.
    core: [usize; 3],
    layers: usize,
    /// Axes that layers lie around: 2 for a cylinder, 3 for a ball.
    directions: usize,
}

impl Layers {
    fn new(directions: usize, across: usize, along: usize) -> Self {
        let layers = (across + 1) / 4;
        let core = across - 2 * layers;
        Self { core: [core, core, if directions == 3 { core } else { along }], layers, directions }
    }

    fn mesh(&self, scale: [f64; 3]) -> Result<TetMesh, Error> {
        let [nx, ny, nz] = self.core;
        let faces = if self.directions == 3 { 6 * nx * ny } else { 4 * nx * nz };
        let side_nodes = if self.directions == 3 { 6 * nx * ny + 2 } else { 4 * nx * (nz + 1) };
        let core_nodes = (nx + 1) * (ny + 1) * (nz + 1);
        check_total(core_nodes + self.layers * side_nodes, nx * ny * nz + self.layers * faces)?;

        let grid = self.core.map(|n| n + 1);
        // Where a node of the core's sides is among these.
        let mut side = vec![0u32; core_nodes];
        let (mut on_sides, mut positions) = (Vec::with_capacity(side_nodes), Vec::new());
        for (node, at) in triples(grid).enumerate() {
            positions.push(self.position(at, 0, scale));
            if (0..self.directions).any(|k| at[k] == 0 || at[k] == self.core[k]) {
                side[node] = on_sides.len() as u32;
                on_sides.push(at);
            }
        }
        for layer in 1..=self.layers {
            positions.extend(on_sides.iter().map(|&at| self.position(at, layer, scale)));
        }
        let index = |at: [usize; 3], layer: usize| {
            let node = (at[2] * grid[1] + at[1]) * grid[0] + at[0];
            match layer {
                0 => node as u32,
                _ => (core_nodes + (layer - 1) * on_sides.len()) as u32 + side[node],
            }
        };
        // The elements inside cells have the nodes of even colour: the corners of the core among them.
        let mut elements = Vec::with_capacity(20 * (nx * ny * nz + self.layers * faces));
        for [i, j, k] in triples(self.core) {
            let corner = |c: usize| index([i + (c & 1), j + (c >> 1 & 1), k + (c >> 2)], 0);
            push_cell(&mut elements, (i + j + k) % 2 == 0, corner);
        }
        for (layer, axis) in (0..self.layers).flat_map(|layer| (0..self.directions).map(move |axis| (layer, axis))) {
            for is_upper in [false, true] {
                // With the way outwards as the third axis of a cell, these keep it right-handed.
                let [u, v] = if is_upper { [(axis + 1) % 3, (axis + 2) % 3] } else { [(axis + 2) % 3, (axis + 1) % 3] };
                for [i, j, _] in triples([self.core[u], self.core[v], 1]) {
                    let mut first = [0; 3];
                    (first[axis], first[u], first[v]) = (if is_upper { self.core[axis] } else { 0 }, i, j);
                    let corner = |c: usize| {
                        let mut at = first;
                        at[u] += c & 1;
                        at[v] += c >> 1 & 1;
                        index(at, layer + (c >> 2))
                    };
                    push_cell(&mut elements, (first.iter().sum::<usize>() + layer) % 2 == 0, corner);
                }
            }
        }
        TetMesh::new(Order::Linear, positions, elements)
    }

    /// Where a node of the core is, or the node of a layer that lies above it.
    fn position(&self, at: [usize; 3], layer: usize, scale: [f64; 3]) -> Vec3<f64> {
        let mut u = [0, 1, 2].map(|k| 2.0 * at[k] as f64 / self.core[k] as f64 - 1.0);
        let across = &mut u[..self.directions];
        let shell = across.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
        if shell > 0.0 {
            // Equal angles, not equal lengths, between the nodes of a side.
            across.iter_mut().for_each(|x| *x = libm::tan(FRAC_PI_4 * *x / shell));
            let length = across.iter().map(|x| x * x).sum::<f64>().sqrt();
            let (core, all) = (self.core[0] as f64, (self.core[0] + 2 * self.layers) as f64);
            let inner = core / all * (1.0 - BULGE + BULGE / length);
            let outwards = layer as f64 / self.layers as f64;
            let factor = shell * (inner + outwards * (1.0 / length - inner));
            across.iter_mut().for_each(|x| *x *= factor);
        }
        Vec3::new(u[0] * scale[0], u[1] * scale[1], u[2] * scale[2])
    }
}
