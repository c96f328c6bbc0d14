//! Steps that are told to stop: at whatever moment, the state is that before the step, and what follows is as if nothing had been.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::{self, simulation};
use models::scenes;
use sapwood_sim::{Options, Scheme, Simulation, SimulationError};
use support::Interrupt;

/// A request that is made when it has been asked for this many times.
struct Countdown {
    asked: Arc<AtomicUsize>,
    at: Arc<AtomicUsize>,
    interrupt: Interrupt,
}

impl Countdown {
    fn new() -> Self {
        let (asked, at) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(usize::MAX)));
        let (count, limit) = (asked.clone(), at.clone());
        let asks = move || count.fetch_add(1, Ordering::Relaxed) >= limit.load(Ordering::Relaxed);
        Self { asked, at, interrupt: Interrupt::new(asks) }
    }

    /// From now on it is made when asked for the time `at`, from 0.
    fn start(&self, at: usize) {
        self.interrupt.clear();
        self.asked.store(0, Ordering::Relaxed);
        self.at.store(at, Ordering::Relaxed);
    }
}

/// Interrupts `act` at every moment at which it may be, and lets it pass at last.
fn check(simulation: &mut Simulation, act: impl Fn(&mut Simulation) -> Result<(), SimulationError>) -> usize {
    let countdown = Countdown::new();
    simulation.set_interrupt(countdown.interrupt.clone());
    let before = simulation.state().to_bytes();
    countdown.start(usize::MAX);
    act(simulation).unwrap();
    let (expected, moments) = (simulation.state().to_bytes(), countdown.asked.load(Ordering::Relaxed));
    simulation.state_mut().restore(&before).unwrap();
    for moment in 0..moments {
        countdown.start(moment);
        let error = act(simulation).unwrap_err();
        assert!(matches!(error, SimulationError::Interrupted { .. }), "moment {moment}: {error}");
        assert!(simulation.state().to_bytes() == before, "moment {moment}");
    }
    countdown.start(usize::MAX);
    act(simulation).unwrap();
    assert!(simulation.state().to_bytes() == expected);
    moments
}

/// Spheres that have begun to fall upon each other, or the sphere and the two boxes of a field of heights.
fn spheres(options: Options) -> Simulation {
    let scene = scenes::mjcf("clutter-sphere-27".parse().unwrap());
    let mut simulation = simulation(&scene, Options { timestep: Some(0.005), ..options });
    common::run(&mut simulation, 75);
    simulation
}

#[test]
fn an_interrupted_step_leaves_the_state() {
    for scheme in [Scheme::SymplecticEuler, Scheme::Bilinear, Scheme::Midpoint] {
        let moments = check(&mut spheres(Options { scheme, ..Options::default() }), Simulation::step);
        assert!(moments > 10, "{scheme}: {moments}");
    }
}

/// Helpers look as well: which of the threads sees the request first is chance.
#[test]
fn an_interrupted_step_of_several_threads_leaves_the_state() {
    let mut s = spheres(Options { threads: 2, ..Options::default() });
    let countdown = Countdown::new();
    s.set_interrupt(countdown.interrupt.clone());
    let before = s.state().to_bytes();
    for moment in 0..20 {
        countdown.start(moment);
        // The calling thread may ask more often than there is work to stop.
        if s.step().is_err() {
            assert!(s.state().to_bytes() == before, "moment {moment}");
        }
        s.state_mut().restore(&before).unwrap();
    }
    countdown.start(usize::MAX);
    s.step().unwrap();
    let mut alone = spheres(Options::default());
    alone.step().unwrap();
    assert!(s.state().to_bytes() == alone.state().to_bytes());
}

/// Spheres in such numbers that a tree of boxes finds which are near: in the first step all of them.
#[test]
fn an_interrupted_broad_phase_is_made_up_for() {
    let scene = scenes::mjcf("clutter-sphere-64".parse().unwrap());
    let fresh = || simulation(&scene, Options { timestep: Some(0.005), ..Options::default() });
    let (mut expected, countdown) = (fresh(), Countdown::new());
    expected.set_interrupt(countdown.interrupt.clone());
    common::run(&mut expected, 1);
    let moments = countdown.asked.load(Ordering::Relaxed);
    assert!(moments > 1, "{moments}");
    common::run(&mut expected, 59);
    for moment in 0..moments {
        let mut s = fresh();
        s.set_interrupt(countdown.interrupt.clone());
        countdown.start(moment);
        let error = s.step().unwrap_err();
        assert!(matches!(error, SimulationError::Interrupted { .. }), "moment {moment}: {error}");
        countdown.start(usize::MAX);
        common::run(&mut s, 60);
        assert!(s.state().to_bytes() == expected.state().to_bytes(), "moment {moment}");
    }
}

/// A box that slides down between a capsule and a field of heights.
fn field() -> Simulation {
    let heights: String = (0..64).map(|i| format!("{} ", (i * 7 % 5) as f64 * 0.2)).collect();
    let text = format!(
        r#"<mujoco><asset><hfield name="h" nrow="8" ncol="8" size="1 1 .1 .1" elevation="{heights}"/></asset>
        <worldbody><geom type="hfield" hfield="h"/>
        <body pos="0 0 .16"><freejoint/><geom type="box" size=".3 .3 .05"/></body>
        <body pos="0 0 .4"><freejoint/><geom type="capsule" size=".05 .4" euler="0 90 20"/></body></worldbody></mujoco>"#
    );
    let mut simulation = simulation(&text, Options { timestep: Some(0.005), ..Options::default() });
    common::run(&mut simulation, 40);
    simulation
}

#[test]
fn an_interrupted_narrow_phase_leaves_the_state() {
    assert!(check(&mut field(), Simulation::step) > 5);
}

/// A chain that swings onto the ground under error control: many steps, made twice, some of them again.
#[test]
fn an_interrupted_search_for_the_step_size_leaves_the_state() {
    let text = r#"<mujoco><worldbody><geom type="plane" size="5 5 1"/>
        <body pos="0 0 .5"><joint axis="0 1 0"/><geom type="capsule" size=".05" fromto="0 0 0 .4 0 0"/>
        <body pos=".4 0 0"><joint axis="0 1 0"/><geom type="capsule" size=".05" fromto="0 0 0 .4 0 0"/></body></body>
        </worldbody></mujoco>"#;
    let mut s = simulation(text, Options { accuracy: Some(1e-4), ..Options::default() });
    let countdown = Countdown::new();
    s.set_interrupt(countdown.interrupt.clone());
    countdown.start(300);
    let error = s.advance_to(2.0).unwrap_err();
    assert!(matches!(error, SimulationError::Interrupted { .. }), "{error}");
    // The steps before the one that was interrupted have been made.
    let (time, reached) = (s.state().time, s.state().to_bytes());
    assert!(time > 0.0 && time < 2.0);
    countdown.start(0);
    assert!(s.advance_to(2.0).is_err() && s.state().to_bytes() == reached);
    countdown.start(usize::MAX);
    s.advance_to(2.0).unwrap();
    assert_eq!(s.state().time, 2.0);
}

#[test]
fn interrupted_jacobians_leave_the_state() {
    let text = r#"<mujoco><worldbody><geom type="plane" size="5 5 1"/><body pos="0 0 .099"><freejoint/>
        <geom type="box" size=".1 .1 .1"/></body></worldbody></mujoco>"#;
    for scheme in [Scheme::SymplecticEuler, Scheme::Bilinear] {
        let mut s = simulation(text, Options { scheme, ..Options::default() });
        common::run(&mut s, 20);
        assert!(check(&mut s, |s| s.step_jacobians().map(drop)) > 10);
    }
}
