//! Chains of a tree, along which a lane goes without waiting for others.

use lanes::Table;

/// A chain is nodes of which each but the last has one child, the next one.
struct Chain {
    level: usize,
    nodes: Vec<i32>,
}

/// Tables of the chains, by levels: `chain_start` of each level, `chain_length`, `chain_node` by place in the chain (−1 behind its end).
/// `parents` are those of nodes that are numbered level by level.
pub fn tables(parents: &[i32]) -> [Table<i32>; 3] {
    let children = |i: i32| parents.iter().filter(move |parent| **parent == i).count();
    let (mut chains, mut chain_of): (Vec<Chain>, Vec<usize>) = (Vec::new(), Vec::new());
    for (i, &parent) in parents.iter().enumerate() {
        let above = usize::try_from(parent).ok().map(|parent| chain_of[parent]);
        let own = match above {
            Some(chain) if children(parent) == 1 => chain,
            _ => {
                chains.push(Chain { level: above.map_or(0, |chain| chains[chain].level + 1), nodes: Vec::new() });
                chains.len() - 1
            }
        };
        chains[own].nodes.push(i as i32);
        chain_of.push(own);
    }
    chains.sort_by_key(|chain| chain.level);
    let levels = chains.last().map_or(0, |chain| chain.level + 1);
    let starts: Vec<i32> =
        (0..=levels).map(|level| chains.iter().filter(|chain| chain.level < level).count() as i32).collect();
    // Two columns at least: a table of one is read without a column.
    let longest = chains.iter().map(|chain| chain.nodes.len()).fold(2, usize::max);
    let node = |place: usize| chains.iter().map(move |chain| chain.nodes.get(place).copied().unwrap_or(-1));
    let lengths: Vec<i32> = chains.iter().map(|chain| chain.nodes.len() as i32).collect();
    let table = |name, columns, items, values| Table { name, columns, items, values };
    [
        table("chain_start", 1, starts.len(), starts),
        table("chain_length", 1, chains.len(), lengths),
        table("chain_node", longest, chains.len(), (0..longest).flat_map(node).collect()),
    ]
}

#[cfg(test)]
mod tests {
    use super::tables;

    /// A root with two legs, of which one forks.
    #[test]
    fn chains_end_where_a_tree_forks() {
        let [start, length, node] = tables(&[-1, 0, 0, 1, 2, 4, 4]);
        assert_eq!(start.values, [0, 1, 3, 5]);
        assert_eq!(length.values, [1, 2, 2, 1, 1]);
        assert_eq!(node.values, [0, 1, 2, 5, 6, -1, 3, 4, -1, -1]);
        assert_eq!((node.columns, node.items), (2, 5));
    }
}
