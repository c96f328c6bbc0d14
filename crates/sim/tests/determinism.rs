//! The same bits: twice, with any number of threads, and after a restore.

mod common;

use common::{BIPED, run, simulation, tower};
use sim::{Options, Simulation};

fn bits(simulation: &Simulation) -> Vec<u8> {
    simulation.state().to_bytes()
}

#[test]
fn threads_do_not_change_a_bit() {
    // Several islands: towers side by side.
    let towers: String = (0..4)
        .map(|k| tower().replace("pos=\"0 0", &format!("pos=\"{k} 0")))
        .map(|s| s[s.find("<body").unwrap()..s.rfind("</worldbody>").unwrap()].to_owned())
        .collect();
    let scene = format!(r#"<mujoco><worldbody><geom type="plane" size="9 9 .1"/>{towers}</worldbody></mujoco>"#);
    let mut results = [1, 1, 2].map(|threads| {
        let mut s = simulation(&scene, Options { threads, timestep: Some(0.01), ..Options::default() });
        run(&mut s, 200);
        assert_eq!(s.stats().islands, 4);
        bits(&s)
    });
    results.sort();
    assert!(results[0] == results[1] && results[1] == results[2]);
}

#[test]
fn a_restored_state_continues_with_the_same_bits() {
    let mut s = simulation(BIPED, Options::default());
    run(&mut s, 150);
    let saved = bits(&s);
    run(&mut s, 150);
    let expected = bits(&s);
    // In a simulation that has seen other things, and in a new one.
    let mut fresh = simulation(BIPED, Options::default());
    for s in [&mut s, &mut fresh] {
        s.state_mut().restore(&saved).unwrap();
        run(s, 150);
        assert!(bits(s) == expected);
    }
}

#[test]
fn foreign_bytes_are_refused() {
    let mut s = simulation(BIPED, Options::default());
    let before = bits(&s);
    assert!(s.state_mut().restore(b"something else").is_err());
    assert!(s.state_mut().restore(&before[..before.len() - 8]).is_err());
    assert!(bits(&s) == before);
}
