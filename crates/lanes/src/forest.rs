//! Which trees hang together: union–find.

/// The root of a tree's island, in a union–find forest whose roots are the smallest of their sets.
pub(crate) fn find(islands: &[usize], mut tree: usize) -> usize {
    while islands[tree] != tree {
        tree = islands[tree];
    }
    tree
}

/// Joins the islands of two trees.
pub(crate) fn join(islands: &mut [usize], a: usize, b: usize) {
    let (a, b) = (find(islands, a), find(islands, b));
    islands[a.max(b)] = a.min(b);
}
