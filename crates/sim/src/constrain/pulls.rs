//! What ties a tree that sleeps to one that is awake.

use multibody::Model;

use super::Sources;
use crate::State;
use crate::tree_workspace::TreeWorkspace;

/// A step, as what may pull in it sees it.
pub(crate) struct PullStep<'a> {
    pub state: &'a State,
    /// Velocities at its beginning, (nv).
    pub v: &'a [f64],
    /// Its length, s.
    pub dt: f64,
    /// How near limits must be beyond what the step can reach.
    pub margin: f64,
}

impl Sources {
    /// A tree that sleeps and that an equality in force, or a string that the step may pull taut, ties to one that is awake.
    pub fn pulled_sleeper(
        &self,
        model: &Model,
        tree_of: &[usize],
        trees: &[TreeWorkspace],
        step: &PullStep<'_>,
    ) -> Option<usize> {
        let mut in_force = self.ties.iter().filter(|tie| step.state.equality_active[tie.index()] != 0.0);
        let tied = |tie: &super::equalities::Tie| {
            let mut tied = Tied::default();
            tie.each_tree(model, tree_of, |tree| tied.add(tree, trees));
            tied.sleeper()
        };
        in_force.find_map(tied).or_else(|| {
            self.acting_tendons().find_map(|(_, tendon)| {
                let mut tied = Tied::default();
                tendon.each_tree(|tree| tied.add(tree, trees));
                tied.sleeper().filter(|_| tendon.may_pull(trees, step))
            })
        })
    }
}

/// Trees that something ties together.
#[derive(Default)]
struct Tied {
    asleep: Option<usize>,
    is_any_awake: bool,
}

impl Tied {
    fn add(&mut self, tree: usize, trees: &[TreeWorkspace]) {
        if trees[tree].asleep {
            self.asleep = Some(tree);
        } else {
            self.is_any_awake = true;
        }
    }

    /// One that sleeps beside one that is awake.
    fn sleeper(&self) -> Option<usize> {
        self.asleep.filter(|_| self.is_any_awake)
    }
}
