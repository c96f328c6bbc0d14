//! Many trees that touch each other: the factorisation by blocks against matrices, and its memory of earlier steps.

mod common;

use common::{run, simulation};
use sim::{Factorization, Options, Simulation};

/// Boxes and balls, a hinged pair of bodies and a humanoid's worth of hinges dropped onto each other between walls; two flaps on
/// the walls that a tendon couples.
fn pile() -> String {
    let mut bodies = String::new();
    for i in 0..18 {
        let (x, y, z) =
            (0.13 * f64::from(i % 3) - 0.12, 0.14 * f64::from(i / 3 % 2) - 0.07, 0.12 + 0.12 * f64::from(i / 6));
        let shape = if i % 4 == 3 { r#"type="sphere" size=".05""# } else { r#"type="box" size=".05 .04 .045""# };
        let turn = 0.2 * f64::from(i);
        bodies += &format!(r#"<body pos="{x} {y} {z}" euler="{turn} {turn} 0"><freejoint/><geom {shape}/></body>"#);
    }
    let chain = |z: f64, links: usize| {
        let link = |inner: String| {
            format!(
                r#"<body pos=".1 0 0"><joint axis="0 1 .3" range="-60 60" armature=".001"/>
                <geom type="capsule" fromto="0 0 0 .08 0 0" size=".02"/>{inner}</body>"#
            )
        };
        let inner = (1..links).fold(String::new(), |inner, _| link(inner));
        format!(
            r#"<body pos="-.15 0 {z}"><freejoint/><geom type="capsule" fromto="0 0 0 .08 0 0" size=".02"/>{inner}</body>"#
        )
    };
    let flap = |name: &str, x: f64| {
        format!(
            r#"<body pos="{x} 0 .3"><joint name="{name}" axis="0 1 0" armature=".01"/>
            <geom type="box" size=".02 .1 .1" density="300"/></body>"#
        )
    };
    let walls: String = [(1.0, 0.0), (-1.0, 0.0), (0.0, 1.0), (0.0, -1.0)]
        .map(|(x, y)| {
            format!(r#"<geom type="plane" size="1 1 .1" pos="{} {} 0" zaxis="{} {} .01"/>"#, 0.25 * x, 0.2 * y, -x, -y)
        })
        .concat();
    format!(
        r#"<mujoco><option timestep="0.005"/><default><geom friction=".6"/></default>
        <worldbody><geom type="plane" size="5 5 .1"/>{walls}{bodies}{}{}{}{}</worldbody>
        <tendon><fixed limited="true" range="-.1 .1"><joint joint="left" coef="1"/><joint joint="right" coef="-.7"/></fixed></tendon>
        </mujoco>"#,
        chain(0.55, 2),
        chain(0.65, 4),
        flap("left", -0.2),
        flap("right", 0.2),
    )
}

fn options(factorization: Factorization) -> Options {
    Options { factorization, tolerance: 1e-10, ..Options::default() }
}

/// Every step is taken from the same state, so that chaos does not tell small differences from errors.
#[test]
fn blocks_move_as_matrices_do() {
    let mut blocks = simulation(&pile(), options(Factorization::Auto));
    let mut others = [Factorization::Coupled, Factorization::Dense].map(|f| simulation(&pile(), options(f)));
    let mut coupled = 0;
    for step in 0..160 {
        let before = blocks.state().to_bytes();
        blocks.step().unwrap();
        if step % 4 != 0 {
            continue;
        }
        for other in &mut others {
            other.state_mut().restore(&before).unwrap();
            other.step().unwrap();
            let pairs = blocks.state().v.iter().zip(&other.state().v);
            let error = pairs.map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(error < 1e-7, "step {step}: {error}");
        }
        let touching = |c: &&sim::ContactPoint| c.bodies[0] != 0 && c.impulse[2] > 0.0;
        coupled = coupled.max(blocks.contacts().iter().filter(touching).count());
    }
    assert!(coupled > 30, "{coupled} contacts between bodies at most");
}

/// What was analysed for earlier steps, in this simulation or not, leaves no trace in the bits.
#[test]
fn a_restored_pile_continues_with_the_same_bits() {
    let bits = |simulation: &Simulation| simulation.state().to_bytes();
    let mut s = simulation(&pile(), Options::default());
    run(&mut s, 60);
    let saved = bits(&s);
    run(&mut s, 40);
    let expected = bits(&s);
    let mut fresh = simulation(&pile(), Options::default());
    for s in [&mut s, &mut fresh] {
        s.state_mut().restore(&saved).unwrap();
        run(s, 40);
        assert!(bits(s) == expected);
    }
}
