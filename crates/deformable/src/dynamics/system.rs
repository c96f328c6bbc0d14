//! The sparse matrices of a body: stiffness and mass by blocks of nodes, and the factor of what is made of them.

use sap::BlockCholesky;

use crate::elements::{Elements, for_order};
use crate::mesh::TetMesh;
use crate::{MassModel, SoftBody, StepError, mass};

/// Where something of an element is.
#[derive(Clone, Copy, Debug)]
struct Source {
    chunk: u32,
    at: u32,
}

/// Where a block goes to in the factor.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    start: usize,
    stride: usize,
    /// Whether its transpose is stored there.
    is_transposed: bool,
}

#[derive(Clone, Debug)]
pub(super) struct System {
    /// The pairs of nodes (i, j), i > j, that have a block, ascending; block `k` is `blocks[nodes + k]`, those before are on the diagonal.
    pairs: Vec<[u32; 2]>,
    /// What elements add to a block: `sources[starts[k]..starts[k + 1]]`, and whether transposed.
    block_starts: Vec<u32>,
    block_sources: Vec<(Source, bool)>,
    force_starts: Vec<u32>,
    force_sources: Vec<Source>,
    /// Stiffness, column-major 3×3 blocks, N/m.
    stiffness: Vec<[f64; 9]>,
    /// Damping in the same blocks where it does not follow the stiffness during a step, N s/m; empty where it does.
    damping: Vec<[f64; 9]>,
    /// Mass of each block, a multiple of the identity, kg.
    mass: Vec<f64>,
    has_consistent_mass: bool,
    is_pinned: Vec<bool>,
    /// The nodes that are not pinned, ascending.
    free: Vec<u32>,
    factor: BlockCholesky,
    analyzed: Option<Vec<u32>>,
    is_touched: Vec<bool>,
    /// The block of each node in the factor's numbering, of three rows; pinned nodes have none.
    block_of: Vec<usize>,
    places: Vec<Place>,
    rows: usize,
    rhs: Vec<f64>,
    solution: Vec<f64>,
}

impl System {
    pub fn new(body: &SoftBody) -> Self {
        let mesh = &body.mesh;
        let nodes = body.node_count();
        let (pairs, block_starts, block_sources) = block_sources(mesh);
        let (force_starts, force_sources) = force_sources(mesh);
        let blocks = nodes + pairs.len();
        let mut mass = vec![0.0; blocks];
        match body.mass {
            MassModel::Lumped => mass[..nodes].copy_from_slice(body.node_masses()),
            MassModel::Consistent => mass::for_each_mass_matrix(mesh, |e, m| {
                let element = mesh.element(e);
                for (a, &i) in element.iter().enumerate() {
                    mass[i as usize] += body.material.density * m[a][a];
                    for (b, &j) in element[..a].iter().enumerate() {
                        mass[nodes + pair_index(&pairs, i, j)] += body.material.density * m[a][b];
                    }
                }
            }),
        }
        let is_pinned: Vec<bool> = (0..nodes as u32).map(|node| body.is_pinned(node)).collect();
        Self {
            block_starts,
            block_sources,
            force_starts,
            force_sources,
            stiffness: vec![[0.0; 9]; blocks],
            damping: Vec::new(),
            mass,
            has_consistent_mass: body.mass == MassModel::Consistent,
            free: (0..nodes as u32).filter(|&i| !is_pinned[i as usize]).collect(),
            factor: BlockCholesky::new(),
            analyzed: None,
            is_touched: vec![false; nodes],
            block_of: vec![usize::MAX; nodes],
            places: vec![Place::default(); blocks],
            rows: 0,
            rhs: Vec::new(),
            solution: Vec::new(),
            is_pinned,
            pairs,
        }
    }

    /// Numbers the rows so that `touched` comes last.
    ///
    /// # Errors
    /// A node that is pinned, named twice or not there.
    pub fn analyze(&mut self, touched: &[u32]) -> Result<bool, StepError> {
        if self.analyzed.as_deref() == Some(touched) {
            return Ok(false);
        }
        self.is_touched.fill(false);
        for &node in touched {
            let is_new = |k: usize| k < self.is_pinned.len() && !self.is_pinned[k] && !self.is_touched[k];
            if !is_new(node as usize) {
                self.analyzed = None;
                return Err(StepError::Touched { node });
            }
            self.is_touched[node as usize] = true;
        }
        let mut analyzed = self.analyzed.take().unwrap_or_default();
        analyzed.clear();
        analyzed.extend_from_slice(touched);
        let free = self.free.len() - touched.len();
        self.factor.begin(self.free.iter().map(|_| 3));
        let untouched = self.free.iter().filter(|&&node| !self.is_touched[node as usize]);
        for (k, &node) in untouched.chain(touched).enumerate() {
            self.block_of[node as usize] = k;
        }
        for &[i, j] in &self.pairs {
            let (i, j) = (i as usize, j as usize);
            if !self.is_pinned[i] && !self.is_pinned[j] {
                self.factor.couple(self.block_of[i], self.block_of[j]);
            }
        }
        for k in free..self.free.len() {
            (free..k).for_each(|other| self.factor.couple(k, other));
        }
        self.factor.analyze_with_last(touched.len());
        self.rows = 3 * self.free.len();
        self.find_places();
        self.analyzed = Some(analyzed);
        Ok(true)
    }

    fn find_places(&mut self) {
        let nodes = self.is_pinned.len();
        let diagonal = (0..nodes as u32).map(|i| [i, i]);
        for (place, [i, j]) in self.places.iter_mut().zip(diagonal.chain(self.pairs.iter().copied())) {
            let (i, j) = (i as usize, j as usize);
            if self.is_pinned[i] || self.is_pinned[j] {
                continue;
            }
            let (i_has_rows, stride, start) = self.factor.block_place(self.block_of[i], self.block_of[j]);
            *place = Place { start, stride, is_transposed: !i_has_rows };
        }
    }

    /// Sums up what elements have computed.
    pub fn collect_stiffness(&mut self, elements: &Elements) {
        for_order!(elements, chunks => {
            for (k, block) in self.stiffness.iter_mut().enumerate() {
                let mut sum = [0.0; 9];
                for &(Source { chunk, at }, is_transposed) in
                    &self.block_sources[self.block_starts[k] as usize..self.block_starts[k + 1] as usize]
                {
                    let m = &chunks[chunk as usize].stiffness()[at as usize];
                    if is_transposed {
                        (0..9).for_each(|k| sum[k] += m[k % 3 * 3 + k / 3]);
                    } else {
                        (0..9).for_each(|k| sum[k] += m[k]);
                    }
                }
                *block = sum;
            }
        });
    }

    /// `out` += elastic forces dV/dx that elements have computed, times `scale`.
    pub fn add_forces(&self, elements: &Elements, scale: f64, out: &mut [f64]) {
        for_order!(elements, chunks => {
            for (node, out) in out.chunks_exact_mut(3).enumerate() {
                let mut sum = [0.0; 3];
                for &Source { chunk, at } in
                    &self.force_sources[self.force_starts[node] as usize..self.force_starts[node + 1] as usize]
                {
                    let f = chunks[chunk as usize].force(at as usize);
                    (0..3).for_each(|k| sum[k] += f[k]);
                }
                (0..3).for_each(|k| out[k] += scale * sum[k]);
            }
        });
    }

    /// Takes the stiffness as of now times `beta` as damping that stays, or none.
    pub fn keep_damping(&mut self, beta: Option<f64>) {
        self.damping.clear();
        if let Some(beta) = beta {
            self.damping.extend(self.stiffness.iter().map(|block| block.map(|k| beta * k)));
        }
    }

    /// The largest entry on the stiffness's diagonal, N/m.
    pub fn largest_stiffness(&self) -> f64 {
        let diagonal = self.stiffness[..self.is_pinned.len()].iter();
        diagonal.fold(0.0, |most, k| most.max(k[0]).max(k[4]).max(k[8]))
    }

    /// `out` ← (`mass` M + `stiffness` K) x.
    pub fn multiply(&self, mass: f64, stiffness: f64, x: &[f64], out: &mut [f64]) {
        out.fill(0.0);
        self.multiply_add(mass, stiffness, x, out);
    }

    /// `out` += (`mass` M + `stiffness` K) x.
    pub fn multiply_add(&self, mass: f64, stiffness: f64, x: &[f64], out: &mut [f64]) {
        self.multiply_blocks_add(mass, stiffness, &self.stiffness, x, out);
    }

    /// `out` += (`mass` M + `scale` D) x with the damping that was kept.
    pub fn multiply_damping_add(&self, mass: f64, scale: f64, x: &[f64], out: &mut [f64]) {
        if self.damping.is_empty() {
            self.multiply_blocks_add(mass, 0.0, &self.stiffness, x, out);
        } else {
            self.multiply_blocks_add(mass, scale, &self.damping, x, out);
        }
    }

    fn multiply_blocks_add(&self, mass: f64, stiffness: f64, blocks: &[[f64; 9]], x: &[f64], out: &mut [f64]) {
        if mass == 0.0 && stiffness == 0.0 {
            return;
        }
        let nodes = self.is_pinned.len();
        let at = |node: u32| 3 * node as usize..3 * node as usize + 3;
        for node in 0..nodes {
            let (m, k, x) = (mass * self.mass[node], &blocks[node], &x[3 * node..3 * node + 3]);
            let out = &mut out[3 * node..3 * node + 3];
            for r in 0..3 {
                out[r] += m * x[r] + stiffness * (k[r] * x[0] + k[3 + r] * x[1] + k[6 + r] * x[2]);
            }
        }
        if stiffness == 0.0 && !self.has_consistent_mass {
            return;
        }
        for (&[i, j], (m, k)) in self.pairs.iter().zip(self.mass[nodes..].iter().zip(&blocks[nodes..])) {
            let m = mass * m;
            let (x_i, x_j): ([f64; 3], [f64; 3]) = (three(&x[at(i)]), three(&x[at(j)]));
            let out_i = &mut out[at(i)];
            for r in 0..3 {
                out_i[r] += m * x_j[r] + stiffness * (k[r] * x_j[0] + k[3 + r] * x_j[1] + k[6 + r] * x_j[2]);
            }
            let out_j = &mut out[at(j)];
            for r in 0..3 {
                out_j[r] +=
                    m * x_i[r] + stiffness * (k[3 * r] * x_i[0] + k[3 * r + 1] * x_i[1] + k[3 * r + 2] * x_i[2]);
            }
        }
    }

    /// Factors `mass` M + `stiffness` K + `damping` D, D the damping that was kept.
    ///
    /// # Errors
    /// If it is not positive definite, or `interrupt` is raised.
    pub fn factor(
        &mut self,
        [mass, stiffness, damping]: [f64; 3],
        interrupt: &support::Interrupt,
    ) -> Result<(), StepError> {
        let nodes = self.is_pinned.len();
        self.factor.set_zero();
        let values = self.factor.values_mut();
        for (k, place) in self.places.iter().enumerate() {
            let Place { start, stride, is_transposed } = *place;
            if stride == 0 {
                continue;
            }
            let m = mass * self.mass[k];
            let mut block = self.stiffness[k].map(|entry| stiffness * entry);
            if let Some(kept) = self.damping.get(k) {
                block.iter_mut().zip(kept).for_each(|(entry, d)| *entry += damping * d);
            }
            for c in 0..3 {
                let column = &mut values[start + c * stride..start + c * stride + 3];
                for r in 0..3 {
                    let at = if is_transposed { 3 * r + c } else { 3 * c + r };
                    column[r] = block[at] + if r == c { m } else { 0.0 };
                }
            }
        }
        self.factor.factor_unless(interrupt).map_err(|error| {
            if interrupt.is_raised() {
                return StepError::Interrupted;
            }
            let node = (0..nodes).find(|&i| self.block_of[i] == error.row / 3);
            StepError::NotPositiveDefinite { node: node.unwrap_or(0) }
        })
    }

    /// `x` ← A⁻¹ `x`, zero at pinned nodes, for one vector or several, one after the other.
    pub fn solve(&mut self, xs: &mut [f64]) {
        let (rows, numbers) = (self.rows.max(1), 3 * self.block_of.len());
        let count = xs.len() / numbers;
        self.rhs.resize(count * self.rows, 0.0);
        self.solution.resize(count * self.rows, 0.0);
        for (x, rhs) in xs.chunks_exact(numbers).zip(self.rhs.chunks_exact_mut(rows)) {
            for (node, &block) in self.block_of.iter().enumerate().filter(|(node, _)| !self.is_pinned[*node]) {
                rhs[3 * block..3 * block + 3].copy_from_slice(&x[3 * node..3 * node + 3]);
            }
        }
        let Self { factor, rhs, solution, .. } = self;
        factor.solve(rhs, solution);
        for (k, x) in xs.chunks_exact_mut(numbers).enumerate() {
            self.scatter_rows(&self.solution[k * self.rows..], x);
        }
    }

    /// `x` ← A⁻¹ (0, S d): how all nodes go if the touched ones go by `d`; `l` is the factor of S.
    pub fn extend(&mut self, l: &[f64], d: &[f64], x: &mut [f64]) {
        let rows = d.len();
        self.rhs.clear();
        self.rhs.resize(self.rows, 0.0);
        self.solution.resize(self.rows, 0.0);
        let first = self.rows - rows;
        for j in 0..rows {
            let column = &l[j * rows..(j + 1) * rows];
            self.rhs[first + j] = (j..rows).map(|i| column[i] * d[i]).sum();
        }
        let Self { factor, rhs, solution, .. } = self;
        factor.substitute_back(rhs, solution);
        self.scatter_rows(&self.solution, x);
    }

    /// `out` += S d at the touched nodes, with the factor `l` of S.
    pub fn add_impulses(&mut self, l: &[f64], d: &[f64], out: &mut [f64]) {
        let rows = d.len();
        self.rhs.clear();
        self.rhs.extend(
            l.chunks_exact(rows.max(1))
                .enumerate()
                .map(|(j, column)| -> f64 { (j..rows).map(|i| column[i] * d[i]).sum() }),
        );
        for (place, node) in self.analyzed.iter().flatten().enumerate() {
            for k in 0..3 {
                let i = 3 * place + k;
                out[3 * *node as usize + k] += (0..=i).map(|j| l[j * rows + i] * self.rhs[j]).sum::<f64>();
            }
        }
    }

    /// Zeros where nodes are pinned.
    pub fn clear_pinned(&self, x: &mut [f64]) {
        let pinned = x.chunks_exact_mut(3).zip(&self.is_pinned).filter(|(_, is_pinned)| **is_pinned);
        pinned.for_each(|(x, _)| x.fill(0.0));
    }

    /// The factor of the Schur complement on the touched nodes.
    pub fn schur_factor(&self, l: &mut [f64]) {
        self.factor.trailing_factor(3 * self.touched().len(), l);
    }

    pub fn touched(&self) -> &[u32] {
        self.analyzed.as_deref().unwrap_or(&[])
    }

    fn scatter_rows(&self, solution: &[f64], x: &mut [f64]) {
        for (node, &block) in self.block_of.iter().enumerate() {
            let x = &mut x[3 * node..3 * node + 3];
            if self.is_pinned[node] {
                x.fill(0.0);
            } else {
                x.copy_from_slice(&solution[3 * block..3 * block + 3]);
            }
        }
    }
}

#[inline(always)]
fn three(x: &[f64]) -> [f64; 3] {
    [x[0], x[1], x[2]]
}

fn pair_index(pairs: &[[u32; 2]], i: u32, j: u32) -> usize {
    pairs.binary_search(&[i.max(j), i.min(j)]).unwrap_or_else(|k| k)
}

/// Pairs of nodes; where the sources of each block start, and the sources, transposed or not.
type BlockSources = (Vec<[u32; 2]>, Vec<u32>, Vec<(Source, bool)>);

/// The pairs of nodes that share an element, and what elements add to the blocks of nodes and then of pairs.
fn block_sources(mesh: &TetMesh) -> BlockSources {
    let nodes = mesh.positions().len();
    let elements = || (0..mesh.element_count()).map(|e| (e, mesh.element(e)));
    let mut pairs: Vec<[u32; 2]> = elements()
        .flat_map(|(_, element)| {
            (0..element.len())
                .flat_map(move |a| (0..a).map(move |b| [element[a].max(element[b]), element[a].min(element[b])]))
        })
        .collect();
    pairs.sort_unstable();
    pairs.dedup();
    let mut list: Vec<(u32, Source, bool)> = Vec::new();
    for (e, element) in elements() {
        for a in 0..element.len() {
            for b in 0..=a {
                let block =
                    if a == b { element[a] as usize } else { nodes + pair_index(&pairs, element[a], element[b]) };
                let (chunk, at) = Elements::block_place(mesh.order(), e, a, b);
                list.push((block as u32, Source { chunk: chunk as u32, at: at as u32 }, element[a] < element[b]));
            }
        }
    }
    let (starts, list) =
        by_target(nodes + pairs.len(), list.iter().map(|&(block, source, flip)| (block, (source, flip))));
    (pairs, starts, list)
}

fn force_sources(mesh: &TetMesh) -> (Vec<u32>, Vec<Source>) {
    let all = (0..mesh.element_count()).flat_map(|e| {
        mesh.element(e).iter().enumerate().map(move |(k, &node)| {
            let (chunk, at) = Elements::force_place(mesh.order(), e, k);
            (node, Source { chunk: chunk as u32, at: at as u32 })
        })
    });
    by_target(mesh.positions().len(), all)
}

/// Sorts items by their target, keeping their order: where those of each target start, and the items.
fn by_target<T: Copy>(targets: usize, items: impl Iterator<Item = (u32, T)> + Clone) -> (Vec<u32>, Vec<T>) {
    let mut starts = vec![0_u32; targets + 1];
    for (target, _) in items.clone() {
        starts[target as usize + 1] += 1;
    }
    for k in 0..targets {
        starts[k + 1] += starts[k];
    }
    let mut next = starts.clone();
    let mut sorted: Vec<Option<T>> = vec![None; starts[targets] as usize];
    for (target, item) in items {
        let at = &mut next[target as usize];
        sorted[*at as usize] = Some(item);
        *at += 1;
    }
    (starts, sorted.into_iter().flatten().collect())
}
