//! What a medium does to bodies, see [`multibody::Drag`].

use spatial::{Twist, Wrench};

use super::{Bundle, Lanes, wide};
use crate::plan::Plan;

impl<T: Bundle> Lanes<T> {
    /// Adds what the medium does to what moves the nodes, in view of where all other forces lead them: the motions of nodes in free motion
    /// without it are their `change`.
    #[inline(always)]
    pub(super) fn load_drag(&mut self, plan: &Plan) {
        let dt = wide::<T>(plan.dt);
        for (k, drag) in plan.drags.iter().enumerate() {
            let here = &mut self.nodes[drag.node];
            let com = here.pos + here.rot * self.numbers.coms[drag.body];
            let start = here.twist;
            let led = start + here.change;
            let start = Twist { ang: start.ang, lin: Self::velocity_at(start, com) };
            let led = Twist { ang: led.ang, lin: Self::velocity_at(led, com) };
            let wrench = self.numbers.drags[k].wrench(here.rot, start, Some(led), dt);
            self.dragged[k] = wrench;
            here.force += -Wrench { ang: wrench.ang + com.cross(wrench.lin), lin: wrench.lin } * dt;
        }
    }
}
