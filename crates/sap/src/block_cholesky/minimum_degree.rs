//! An order of elimination by approximate minimum degree on the quotient graph.
//!
//! Amestoy, Davis and Duff, *An Approximate Minimum Degree Ordering Algorithm*, SIAM J. Matrix Anal. Appl. 17 (1996). Here the
//! nodes are blocks: a degree is the number of rows that the blocks still coupled have, not the number of blocks.
//!
//! Eliminating a *variable* `p` couples all that are left of its neighbours, `L_p`. Instead of adding an edge for every pair of
//! them, `p` becomes an *element* that stands for the clique. A variable `i` is adjacent to the variables `A_i` and to all in
//! the elements `E_i`. An element within another is absorbed by it, and variables with the same neighbours become one.

use super::graph::Graph;

const NONE: usize = usize::MAX;

/// Scratch of the ordering, reused.
#[derive(Clone, Debug, Default)]
pub(super) struct MinimumDegree {
    /// A variable's elements and then its variables; an element's variables.
    lists: Vec<usize>,
    /// Where the list of each variable or element starts, the number of its entries and how many of them are elements.
    start: Vec<usize>,
    len: Vec<usize>,
    elements: Vec<usize>,
    /// Rows of a variable with all that were merged into it; 0 once it is eliminated or merged.
    weight: Vec<usize>,
    /// Of a variable the approximate degree, of an element the rows of its variables. A dead element has none.
    degree: Vec<usize>,
    /// For each variable of `L_p` the step at which it was found there.
    found: Vec<usize>,
    /// For each element `|L_e \ L_p|` and the step it is of.
    outside: Vec<usize>,
    outside_of: Vec<usize>,
    /// The variables of each degree, doubly linked.
    head: Vec<usize>,
    next: Vec<usize>,
    previous: Vec<usize>,
    least: usize,
    /// The variables of `L_p` by a sum over their lists, linked.
    bucket: Vec<usize>,
    next_in_bucket: Vec<usize>,
    key: Vec<usize>,
    /// The nodes that make up a variable, linked.
    next_member: Vec<usize>,
    last_member: Vec<usize>,
    /// Rows not yet eliminated.
    left: usize,
    step: usize,
}

impl MinimumDegree {
    /// Fills `order` with the nodes of `graph` in an order of elimination; node `i` has `sizes[i]` rows. Nodes without rows have
    /// no neighbours.
    pub fn order(&mut self, graph: &Graph, sizes: &[usize], order: &mut Vec<usize>) {
        self.reset(graph, sizes);
        order.clear();
        order.extend((0..sizes.len()).filter(|&node| sizes[node] == 0));
        while self.left > 0 {
            let p = self.take_least();
            self.step += 1;
            self.form_element(p);
            self.measure_elements(p);
            self.update_variables(p);
            self.merge_indistinguishable(p);
            self.finish_element(p);
            let mut member = p;
            while member != NONE {
                order.push(member);
                member = self.next_member[member];
            }
        }
    }

    fn reset(&mut self, graph: &Graph, sizes: &[usize]) {
        let n = graph.len();
        self.left = sizes.iter().sum();
        self.least = 0;
        self.step = 0;
        for list in [&mut self.start, &mut self.len, &mut self.weight, &mut self.degree, &mut self.last_member] {
            list.clear();
        }
        for (list, value) in [
            (&mut self.elements, 0),
            (&mut self.found, 0),
            (&mut self.outside, 0),
            (&mut self.outside_of, 0),
            (&mut self.next, NONE),
            (&mut self.previous, NONE),
            (&mut self.bucket, NONE),
            (&mut self.next_in_bucket, NONE),
            (&mut self.key, 0),
            (&mut self.next_member, NONE),
        ] {
            list.clear();
            list.resize(n, value);
        }
        self.head.clear();
        self.head.resize(self.left + 1, NONE);
        self.lists.clear();
        for (node, &size) in sizes.iter().enumerate() {
            let neighbours = graph.neighbours(node);
            self.start.push(self.lists.len());
            self.len.push(neighbours.len());
            self.lists.extend_from_slice(neighbours);
            self.weight.push(size);
            self.degree.push(neighbours.iter().map(|&i| sizes[i]).sum());
            self.last_member.push(node);
        }
        for node in (0..n).rev().filter(|&node| sizes[node] > 0) {
            self.link(node);
        }
    }

    /// Enters `i` into the list of its degree.
    fn link(&mut self, i: usize) {
        let degree = self.degree[i];
        let next = std::mem::replace(&mut self.head[degree], i);
        self.next[i] = next;
        self.previous[i] = NONE;
        if next != NONE {
            self.previous[next] = i;
        }
        self.least = self.least.min(degree);
    }

    /// Takes `i` out of the list of its degree.
    fn unlink(&mut self, i: usize) {
        let (previous, next) = (self.previous[i], self.next[i]);
        if previous == NONE {
            self.head[self.degree[i]] = next;
        } else {
            self.next[previous] = next;
        }
        if next != NONE {
            self.previous[next] = previous;
        }
    }

    /// A variable of least degree, out of its list.
    fn take_least(&mut self) -> usize {
        while self.head[self.least] == NONE {
            self.least += 1;
        }
        let p = self.head[self.least];
        self.unlink(p);
        p
    }

    /// Collects `L_p = (A_p ∪ ⋃_{e ∈ E_p} L_e) \ p` at the end of the lists; `p` is an element from here on, which absorbs `E_p`.
    fn form_element(&mut self, p: usize) {
        let (first, elements, end) = (self.start[p], self.elements[p], self.start[p] + self.len[p]);
        self.left -= self.weight[p];
        self.weight[p] = 0;
        self.start[p] = self.lists.len();
        self.degree[p] = 0;
        for k in first..first + elements {
            let e = self.lists[k];
            self.collect(self.start[e]..self.start[e] + self.len[e], p);
            self.len[e] = 0;
        }
        self.collect(first + elements..end, p);
        self.len[p] = self.lists.len() - self.start[p];
    }

    /// Appends the live variables of a range of the lists to `L_p`, those not yet found.
    fn collect(&mut self, range: std::ops::Range<usize>, p: usize) {
        for k in range {
            let i = self.lists[k];
            if self.weight[i] > 0 && self.found[i] != self.step {
                self.found[i] = self.step;
                self.degree[p] += self.weight[i];
                self.unlink(i);
                self.lists.push(i);
            }
        }
    }

    /// `|L_e \ L_p|` for the elements `e` next to any variable of `L_p`.
    fn measure_elements(&mut self, p: usize) {
        for k in self.start[p]..self.start[p] + self.len[p] {
            let i = self.lists[k];
            for k in self.start[i]..self.start[i] + self.elements[i] {
                let e = self.lists[k];
                if self.outside_of[e] != self.step {
                    self.outside_of[e] = self.step;
                    self.outside[e] = self.degree[e];
                }
                self.outside[e] -= self.weight[i];
            }
        }
    }

    /// Shortens the lists of the variables in `L_p` and bounds their degrees. Those next to nothing else join `p`.
    fn update_variables(&mut self, p: usize) {
        let variables = self.start[p]..self.start[p] + self.len[p];
        for k in variables {
            let i = self.lists[k];
            let (degree, key) = self.shorten(i, p);
            if degree == 0 {
                self.degree[p] -= self.weight[i];
                self.left -= self.weight[i];
                self.join(i, p);
                continue;
            }
            self.degree[i] = self.degree[i].min(degree);
            let key = key % self.bucket.len();
            self.key[i] = key;
            self.next_in_bucket[i] = std::mem::replace(&mut self.bucket[key], i);
        }
    }

    /// Drops from `E_i` what `p` absorbs, from `A_i` what `L_p` contains, and enters `p` into `E_i`. Returns a bound of the
    /// degree outside `L_p`, and the sum of the list's entries.
    fn shorten(&mut self, i: usize, p: usize) -> (usize, usize) {
        let (first, elements, end) = (self.start[i], self.elements[i], self.start[i] + self.len[i]);
        let (mut degree, mut key, mut kept) = (0, p, first);
        for k in first..first + elements {
            let e = self.lists[k];
            if self.len[e] == 0 {
                continue;
            }
            if self.outside[e] == 0 {
                // All of it is in `L_p`.
                self.len[e] = 0;
                continue;
            }
            degree += self.outside[e];
            key += e;
            self.lists[kept] = e;
            kept += 1;
        }
        let variables = kept;
        for k in first + elements..end {
            let j = self.lists[k];
            if self.weight[j] > 0 && self.found[j] != self.step {
                degree += self.weight[j];
                key += j;
                self.lists[kept] = j;
                kept += 1;
            }
        }
        // One entry went, `p` itself or an element that `p` absorbed: there is room for one.
        self.lists[kept] = self.lists[variables];
        self.lists[variables] = p;
        self.elements[i] = variables + 1 - first;
        self.len[i] = kept + 1 - first;
        (degree, key)
    }

    /// Makes `i` and all its nodes a part of `j`.
    fn join(&mut self, i: usize, j: usize) {
        self.weight[i] = 0;
        self.next_member[self.last_member[j]] = i;
        self.last_member[j] = self.last_member[i];
    }

    /// Merges variables of `L_p` that have the same neighbours.
    fn merge_indistinguishable(&mut self, p: usize) {
        for k in self.start[p]..self.start[p] + self.len[p] {
            let i = self.lists[k];
            if self.weight[i] == 0 {
                continue;
            }
            let mut a = std::mem::replace(&mut self.bucket[self.key[i]], NONE);
            while a != NONE {
                let mut before = a;
                let mut b = self.next_in_bucket[a];
                while b != NONE {
                    let next = self.next_in_bucket[b];
                    if self.same_neighbours(a, b) {
                        self.weight[a] += self.weight[b];
                        self.join(b, a);
                        self.next_in_bucket[before] = next;
                    } else {
                        before = b;
                    }
                    b = next;
                }
                a = self.next_in_bucket[a];
            }
        }
    }

    fn same_neighbours(&self, a: usize, b: usize) -> bool {
        let of = |i: usize| &self.lists[self.start[i]..self.start[i] + self.len[i]];
        self.len[a] == self.len[b] && self.elements[a] == self.elements[b] && of(b).iter().all(|i| of(a).contains(i))
    }

    /// Drops from `L_p` what has been merged, and returns the rest to the lists of degrees.
    fn finish_element(&mut self, p: usize) {
        let first = self.start[p];
        let mut kept = first;
        for k in first..first + self.len[p] {
            let i = self.lists[k];
            if self.weight[i] == 0 {
                continue;
            }
            self.lists[kept] = i;
            kept += 1;
            self.degree[i] = (self.degree[i] + self.degree[p] - self.weight[i]).min(self.left - self.weight[i]);
            self.link(i);
        }
        self.len[p] = kept - first;
        self.lists.truncate(kept);
    }
}
