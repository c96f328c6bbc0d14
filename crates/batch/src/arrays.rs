//! The arrays of worlds: one list of them, whatever holds their entries.

use std::marker::PhantomData;

use lanes::{Bundle, LaneContact, Lanes, PdGains, get, put};
use sim::{Pd, SimulationError, State, StepTrace};

/// What stands for an array of `T` in [`Arrays`].
pub(crate) trait Hold {
    type Of<T: 'static>;
}

/// The entries of all worlds.
pub(crate) struct Owned;

impl Hold for Owned {
    type Of<T: 'static> = Vec<T>;
}

/// The entries of some worlds, borrowed.
pub(crate) struct Borrowed<'a>(PhantomData<&'a ()>);

impl<'a> Hold for Borrowed<'a> {
    type Of<T: 'static> = &'a mut [T];
}

/// The entries of some worlds, to be read.
pub(crate) struct Shared<'a>(PhantomData<&'a ()>);

impl<'a> Hold for Shared<'a> {
    type Of<T: 'static> = &'a [T];
}

/// The number of entries of one world.
pub(crate) struct Width;

impl Hold for Width {
    type Of<T: 'static> = usize;
}

/// Declares [`Arrays`]: those that a state and lanes have under the same names, those that a state has, and others; and `each_array!`, which makes
/// `Arrays` of what a function makes of each array `x`: `each_array!(f, [&mut] a, b; k)` calls `f(&mut a.x, b.x, k)`. `$d` is a dollar sign.
macro_rules! arrays {
    (
        $d:tt
        of_lanes { $($(#[$doc_of_lanes:meta])* $of_lanes:ident,)* }
        of_state { $($(#[$doc_of_state:meta])* $of_state:ident,)* }
        others { $($(#[$doc:meta])* $other:ident: $type:ty,)* }
    ) => {
        /// Every array of a batch.
        pub(crate) struct Arrays<H: Hold> {
            $($(#[$doc_of_lanes])* pub $of_lanes: H::Of<f64>,)*
            $($(#[$doc_of_state])* pub $of_state: H::Of<f64>,)*
            $($(#[$doc])* pub $other: H::Of<$type>,)*
        }

        macro_rules! each_array {
            ($d f:expr, [$d($d borrow:tt)+] $d a:ident $d(, $d b:ident)? $d(; $d k:expr)?) => {
                Arrays {
                    $($of_lanes: $d f($d($d borrow)+ $d a.$of_lanes $d(, $d b.$of_lanes)? $d(, $d k)?),)*
                    $($of_state: $d f($d($d borrow)+ $d a.$of_state $d(, $d b.$of_state)? $d(, $d k)?),)*
                    $($other: $d f($d($d borrow)+ $d a.$other $d(, $d b.$other)? $d(, $d k)?),)*
                }
            };
        }

        /// What a step of one world starts from, but for its time and PD control: the names, and the vectors of a state.
        const OF_STATE: [&str; [$(stringify!($of_lanes),)* $(stringify!($of_state)),*].len()] =
            [$(stringify!($of_lanes),)* $(stringify!($of_state)),*];

        fn of_state(state: &State) -> [&Vec<f64>; OF_STATE.len()] {
            [$(&state.$of_lanes,)* $(&state.$of_state),*]
        }

        fn of_state_mut(state: &mut State) -> [&mut Vec<f64>; OF_STATE.len()] {
            [$(&mut state.$of_lanes,)* $(&mut state.$of_state),*]
        }

        impl<'a> Arrays<Shared<'a>> {
            fn of_state(&self) -> [&'a [f64]; OF_STATE.len()] {
                [$(self.$of_lanes,)* $(self.$of_state),*]
            }

            /// Puts what a step of one world starts from into a lane.
            pub fn load<T: Bundle>(&self, lanes: &mut Lanes<T>, lane: usize) {
                for (to, of_world) in
                    [$((&mut lanes.$of_lanes, self.$of_lanes),)* (&mut lanes.pd_target, self.pd_target)]
                {
                    to.iter_mut().zip(of_world).for_each(|(to, x)| put(to, lane, *x));
                }
            }
        }

        impl Arrays<Borrowed<'_>> {
            fn of_state(&mut self) -> [&mut [f64]; OF_STATE.len()] {
                [$(self.$of_lanes,)* $(self.$of_state),*]
            }
        }
    };
}

arrays! {
    $
    of_lanes {
        /// Positions, (worlds, nq).
        q,
        /// Velocities, (worlds, nv).
        v,
        /// Controls, (worlds, nu).
        ctrl,
        /// Activations, (worlds, na).
        act,
        /// Which equality constraints are in force, 1 or 0, (worlds, neq).
        equality_active,
        /// Forces on the degrees of freedom, (worlds, nv); empty until somebody asks for them.
        applied_force,
        /// Torques and forces on bodies, (worlds, nbody, 6); empty until somebody asks for them.
        applied_wrench,
    }
    of_state {
        /// Controls of the last steps where they act with a delay, as in [`State`].
        past_ctrl,
        /// Readings of the last steps of sensors that show them later, as in [`State`].
        past_readings,
        /// Where bodies are that are moved from outside, (worlds, nmocap, 7): position, then the quaternion w x y z.
        mocap,
        /// Velocities of geoms' surfaces on their bodies, (worlds, ngeom, 3), as in [`State`]; empty where none moves, until somebody asks for them.
        surface_velocity,
    }
    others {
        /// Time, s, (worlds).
        time: f64,
        /// Steps since the last reset, (worlds).
        count: u64,
        /// Targets of PD control, (worlds, nq); empty without.
        pd_target: f64,
        /// Gains of PD control where they are not the same in all worlds, (worlds, 4, nv): stiffness, damping, target velocities, effort limits.
        pd_gains: f64,
        /// Why worlds failed in the last call, (worlds).
        errors: Option<SimulationError>,
        /// Contact points of the last step, (worlds); empty where they are not recorded.
        contacts: Vec<LaneContact>,
        /// What sensors need of the last step, (worlds); empty where none looks at steps.
        traces: StepTrace,
    }
}

/// The rows of one world of `all`, in which every world has `n`.
fn row<T>(all: &[T], n: usize, world: usize) -> &[T] {
    &all[world * n..(world + 1) * n]
}

fn row_mut<T>(all: &mut [T], n: usize, world: usize) -> &mut [T] {
    &mut all[world * n..(world + 1) * n]
}

impl Arrays<Owned> {
    pub fn worlds(&self) -> usize {
        self.time.len()
    }

    /// How many entries a world has in each array.
    pub fn widths(&self) -> Arrays<Width> {
        fn width<T>(all: &[T], worlds: usize) -> usize {
            all.len() / worlds
        }
        each_array!(width, [&] self; self.worlds())
    }

    /// The entries of all worlds, to be changed.
    pub fn borrow(&mut self) -> Arrays<Borrowed<'_>> {
        each_array!(Vec::as_mut_slice, [&mut] self)
    }

    /// The entries of one world.
    pub fn world(&self, world: usize) -> Arrays<Shared<'_>> {
        let widths = self.widths();
        each_array!(row, [&] self, widths; world)
    }

    /// The entries of one world, to be changed.
    pub fn world_mut(&mut self, world: usize) -> Arrays<Borrowed<'_>> {
        let widths = self.widths();
        each_array!(row_mut, [&mut] self, widths; world)
    }
}

/// The arrays of some worlds that are stepped together.
pub(crate) struct Worlds<'a> {
    pub arrays: Arrays<Borrowed<'a>>,
    pub widths: &'a Arrays<Width>,
    /// The gains of PD control, the same for all worlds.
    pub pd: Option<&'a Pd>,
}

impl<'a> Worlds<'a> {
    pub fn len(&self) -> usize {
        self.arrays.errors.len()
    }

    /// Cuts off the first `worlds`, which need not all be there.
    pub fn split_off(&mut self, worlds: usize) -> Self {
        fn cut<'a, T>(all: &mut &'a mut [T], width: usize, worlds: usize) -> &'a mut [T] {
            all.split_off_mut(..worlds * width).unwrap_or_default()
        }
        let worlds = worlds.min(self.len());
        let (arrays, widths) = (&mut self.arrays, self.widths);
        Worlds { arrays: each_array!(cut, [&mut] arrays, widths; worlds), ..*self }
    }

    /// The same worlds, for a shorter time.
    pub fn reborrow(&mut self) -> Worlds<'_> {
        fn reborrow<T>(all: &mut [T]) -> &mut [T] {
            all
        }
        let arrays = &mut self.arrays;
        Worlds { arrays: each_array!(reborrow, [&mut] arrays), widths: self.widths, pd: self.pd }
    }

    /// The entries of one world.
    pub fn world(&self, world: usize) -> Arrays<Shared<'_>> {
        let (arrays, widths) = (&self.arrays, self.widths);
        each_array!(row, [&] arrays, widths; world)
    }

    /// The entries of one world, to be changed.
    pub fn world_mut(&mut self, world: usize) -> Arrays<Borrowed<'_>> {
        let (arrays, widths) = (&mut self.arrays, self.widths);
        each_array!(row_mut, [&mut] arrays, widths; world)
    }
}

impl<'a> Arrays<Shared<'a>> {
    /// The gains of a world's PD control, where they are not those of all worlds.
    pub fn own_gains(&self) -> Option<PdGains<'a>> {
        PdGains::of_rows(self.pd_gains)
    }

    /// Writes what a step of one world starts from to a state, with PD control by the gains of `pd`.
    pub fn write_state(&self, state: &mut State, pd: Option<&Pd>) {
        if !self.surface_velocity.is_empty() {
            state.surface_velocity.resize(self.surface_velocity.len(), 0.0);
        }
        for (from, to) in self.of_state().into_iter().zip(of_state_mut(state)) {
            // A batch without forces has none.
            if from.is_empty() {
                to.fill(0.0);
            } else {
                to.copy_from_slice(from);
            }
        }
        (state.time, state.step) = (self.time[0], self.count[0]);
        copy_pd(&mut state.pd, pd, self);
    }

    /// The numbers that a step of one world starts from, by name, but for the time.
    pub fn inputs(&self) -> impl Iterator<Item = (&'static str, &'a [f64])> {
        OF_STATE.into_iter().zip(self.of_state()).chain([("pd_target", self.pd_target)])
    }
}

impl Arrays<Borrowed<'_>> {
    /// The same entries, to be read.
    pub fn shared(&self) -> Arrays<Shared<'_>> {
        fn shared<T>(all: &[T]) -> &[T] {
            all
        }
        each_array!(shared, [&] self)
    }

    /// Takes what a step of one world starts from, but for PD control, from a state; forces and velocities of surfaces where the batch has any.
    pub fn read_inputs(&mut self, state: &State) {
        for (to, from) in self.of_state().into_iter().zip(of_state(state)) {
            to.fill(0.0);
            to.iter_mut().zip(from).for_each(|(to, from)| *to = *from);
        }
        (self.time[0], self.count[0]) = (state.time, state.step);
    }

    /// Takes what a step of one world changes, but for the time, from a state.
    pub fn read_state(&mut self, state: &State) {
        let [q, v, act] = self.outputs();
        q.copy_from_slice(&state.q);
        v.copy_from_slice(&state.v);
        act.copy_from_slice(&state.act);
        self.past_ctrl.copy_from_slice(&state.past_ctrl);
        self.past_readings.copy_from_slice(&state.past_readings);
    }

    /// Takes what a step of one world changes, but for the time, from a lane.
    pub fn store<T: Bundle>(&mut self, lanes: &Lanes<T>, lane: usize) {
        for (of_world, lanes) in self.outputs().into_iter().zip([&lanes.q, &lanes.v, &lanes.act]) {
            of_world.iter_mut().zip(lanes).for_each(|(x, lanes)| *x = get(lanes, lane));
        }
    }

    /// What a step changes, but for the time.
    fn outputs(&mut self) -> [&mut [f64]; 3] {
        [self.q, self.v, self.act]
    }
}

/// Sets the PD control of a state, with the memory that there is; `None` for none.
fn copy_pd(to: &mut Pd, from: Option<&Pd>, of_world: &Arrays<Shared<'_>>) {
    let Some(from) = from else {
        // Mostly there was none before.
        if to.is_active() {
            *to = Pd::default();
        }
        return;
    };
    to.target.clear();
    to.target.extend_from_slice(of_world.pd_target);
    to.set_gains(&of_world.own_gains().unwrap_or_else(|| from.gains()));
}
