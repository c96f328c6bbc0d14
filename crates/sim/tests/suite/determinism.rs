//! The same bits: twice, with any number of threads, and after a restore.

use crate::common::{self, BIPED, EVERYTHING, crawlers, everything, run, set_going, simulation, tower_at, towers};
use sapwood_sim::{ContactLaw, Options, Scheme, Simulation};

fn bits(simulation: &Simulation) -> Vec<u8> {
    simulation.state().to_bytes()
}

/// Below this number of degrees of freedom a step is not shared among threads.
const WIDE: usize = 100;

#[test]
fn threads_do_not_change_a_bit() {
    // Several islands: towers side by side.
    let scene = towers(4);
    let short = Options { timestep: Some(0.01), ..Options::default() };
    for (options, steps) in [
        (short.clone(), 200),
        (Options { scheme: Scheme::Midpoint, ..short.clone() }, 50),
        (Options { scheme: Scheme::Midpoint, accuracy: Some(1e-2), ..short.clone() }, 20),
        (Options { sleep_after: Some(0.2), ..short }, 100),
    ] {
        let results = [1, 1, 2, 3].map(|threads| {
            let mut s = simulation(&scene, Options { threads, ..options.clone() });
            assert!(s.model().nv() >= WIDE);
            run(&mut s, steps);
            assert!(s.stats().islands == 4 || s.stats().asleep == 40, "{:?}", s.stats());
            (bits(&s), s.contacts().to_vec(), *s.stats())
        });
        for k in 1..results.len() {
            assert!(results[k] == results[0], "{options:?}");
        }
    }
}

/// Nothing constrains it: under implicit schemes the search for its motion starts from what the last steps did.
const SWINGING: &str = r#"<mujoco><worldbody>
    <body><joint type="ball"/><geom type="capsule" size=".03" fromto="0 0 0 .4 0 0" mass="1"/>
    <body pos=".4 0 0"><joint axis="0 1 .5" damping=".1"/><geom type="capsule" size=".03" fromto="0 0 0 .3 .1 0" mass=".6"/>
    </body></body></worldbody></mujoco>"#;

#[test]
fn a_restored_state_continues_with_the_same_bits() {
    for ((_, scheme), mjcf) in Scheme::NAMED.into_iter().flat_map(|scheme| [(scheme, BIPED), (scheme, SWINGING)]) {
        let options = Options { scheme, ..Options::default() };
        let mut s = simulation(mjcf, options.clone());
        run(&mut s, 150);
        let saved = bits(&s);
        run(&mut s, 150);
        let expected = bits(&s);
        // In a simulation that has seen other things, from the start, and in a new one.
        let mut fresh = simulation(mjcf, options);
        for s in [&mut s, &mut fresh] {
            s.state_mut().restore(&saved).unwrap();
            run(s, 150);
            assert!(bits(s) == expected);
        }
        s.reset(None).unwrap();
        run(&mut s, 150);
        assert!(bits(&s) == saved, "{scheme}");
    }
}

#[test]
fn what_creeps_goes_on_and_continues_with_the_same_bits() {
    // It sinks into honey, by less in every step.
    let mjcf = r#"<mujoco><option timestep=".005"/><worldbody><geom type="plane" size="9 9 1" solref="-400 -1500" solimp=".001 .001"/>
        <body pos="0 0 .3"><freejoint/><geom type="box" size=".3 .3 .3" solref="-400 -1500" solimp=".001 .001"/></body></worldbody></mujoco>"#;
    let mut s = simulation(mjcf, Options::default());
    run(&mut s, 200);
    let saved = bits(&s);
    let go_on = |s: &mut Simulation| {
        let iterations = (0..100).map(|_| {
            s.step().unwrap();
            s.stats().iterations
        });
        (iterations.sum::<usize>(), bits(s))
    };
    let (iterations, expected) = go_on(&mut s);
    // From the last velocities it would take one in every step.
    assert!(iterations < 20, "{iterations}");
    assert!(s.state().v[2] < -1e-3, "{:?}", s.state().v);
    let mut fresh = simulation(mjcf, Options::default());
    for s in [&mut s, &mut fresh] {
        s.state_mut().restore(&saved).unwrap();
        assert!(go_on(s) == (iterations, expected.clone()));
    }
}

/// [`everything`] beside a tower: wide enough to be shared among threads.
fn everything_and_more(options: Options) -> Simulation {
    let scene = EVERYTHING.replace("</worldbody>", &format!("{}</worldbody>", tower_at(4.0, 4.0)));
    let mut s = simulation(&scene, options);
    assert!(s.model().nv() >= WIDE);
    set_going(&mut s);
    s
}

#[test]
fn every_kind_of_constraint_continues_with_the_same_bits_on_any_thread() {
    for contact in [ContactLaw::Sap, ContactLaw::Lagged, ContactLaw::Coulomb] {
        let options = |threads| Options { contact, threads, ..Options::default() };
        let mut s = everything_and_more(options(1));
        run(&mut s, 150);
        let saved = bits(&s);
        run(&mut s, 150);
        assert!(s.stats().islands > 4, "{:?}", s.stats());
        let expected = bits(&s);
        for threads in [1, 2] {
            let mut from_start = everything_and_more(options(threads));
            run(&mut from_start, 300);
            assert!(bits(&from_start) == expected, "{contact:?}, {threads} threads");
            // A state has as many surface velocities, and a controller or none, as it was saved with.
            let mut fresh = everything_and_more(options(threads));
            fresh.state_mut().restore(&saved).unwrap();
            run(&mut fresh, 150);
            assert!(bits(&fresh) == expected, "{contact:?}, {threads} threads, restored");
        }
    }
}

/// Characters of 13 nodes that are thrown: what moves is solved on its rows.
#[test]
fn what_is_solved_on_its_rows_continues_with_the_same_bits_on_any_thread() {
    let scene = crawlers(4);
    for scheme in [Scheme::SymplecticEuler, Scheme::Midpoint] {
        let of = |threads| {
            let mut s = simulation(&scene, Options { scheme, threads, ..Options::default() });
            s.state_mut().v.iter_mut().enumerate().for_each(|(k, v)| *v = (k as f64).sin());
            s
        };
        let mut s = of(1);
        assert!(s.model().nv() >= WIDE);
        let mut states = vec![bits(&s)];
        for _ in 0..100 {
            s.step().unwrap();
            states.push(bits(&s));
        }
        let mut other = of(1);
        other.solve_globally();
        run(&mut other, 100);
        assert!(bits(&other) != states[100], "another way gives other bits");
        for threads in [2, 3] {
            let mut s = of(threads);
            run(&mut s, 100);
            assert!(bits(&s) == states[100], "{scheme}, {threads} threads");
        }
        let mut fresh = of(1);
        for k in (0..100).step_by(3) {
            fresh.state_mut().restore(&states[k]).unwrap();
            fresh.step().unwrap();
            assert!(bits(&fresh) == states[k + 1], "{scheme}, step {k}");
        }
    }
}

/// Every step is taken from the same state.
#[test]
fn every_kind_of_constraint_moves_alike_in_contact_space_and_globally() {
    let [mut auto, mut global] = common::both_ways(|| everything(Options { tolerance: 1e-11, ..Options::default() }));
    for step in 0..300 {
        let before = bits(&auto);
        auto.step().unwrap();
        global.state_mut().restore(&before).unwrap();
        global.step().unwrap();
        let error = common::difference(&auto, &global);
        assert!(error < 1e-7, "step {step}: {error}");
    }
}

#[test]
fn foreign_bytes_are_refused() {
    let mut s = simulation(BIPED, Options::default());
    let before = bits(&s);
    assert!(s.state_mut().restore(b"something else").is_err());
    assert!(s.state_mut().restore(&before[..before.len() - 8]).is_err());
    // Any count of the head may be damaged, and be far more than there can be.
    for word in 5..40 {
        for count in [u64::MAX, u64::MAX / 3, 1 << 61] {
            let mut damaged = before.clone();
            damaged[8 * word..8 * word + 8].copy_from_slice(&count.to_le_bytes());
            let _ = s.state_mut().restore(&damaged);
        }
    }
    s.state_mut().restore(&before).unwrap();
    assert!(bits(&s) == before);
}
