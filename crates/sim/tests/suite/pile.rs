//! Many trees that touch each other: the factorisation by blocks against matrices, and its memory of earlier steps.

use std::sync::Arc;

use crate::common::{self, run};
use multibody::{Compliance, Equality, EqualityKind, Tendon};
use sapwood_sim::{ContactLaw, Options, Scheme, Simulation};
use spatial::Vec3;

/// Boxes, balls and two chains of hinged bodies dropped onto each other between walls; two flaps on the walls that a tendon couples,
/// which pushes them apart; a box that hangs on the end of a chain.
fn pile(options: Options) -> Simulation {
    let loaded = formats::load_str(&mjcf(), None, &formats::LoadOptions::default()).unwrap();
    let mut model = loaded.model;
    let joint = |name| model.joint(name).unwrap();
    model.tendons.push(Tendon {
        name: String::new(),
        path: multibody::TendonPath::Joints(vec![(joint("left"), 1.0), (joint("right"), -0.7)]),
        range: Some((0.05, 0.1)),
        limit_compliance: Compliance::NearRigid,
        stiffness: 0.0,
        damping: 0.0,
        rest: (0.0, 0.0),
        friction_loss: 0.0,
        friction_compliance: Compliance::NearRigid,
        armature: 0.0,
        effort_limit: None,
        polynomial: multibody::PolynomialForces::NONE,
        look: multibody::TendonLook::default(),
    });
    let (link, body) = (model.body("4 1").unwrap(), model.body("box 17").unwrap());
    let anchors = [Vec3::new(0.1, 0.0, 0.0), Vec3::new(0.0, 0.0, 0.1)];
    let kind = EqualityKind::Connect { bodies: [link, body], anchors };
    let compliance = Compliance::NearRigid;
    model.equalities.push(Equality { name: String::new(), kind, compliance, active: true });
    Simulation::new(Arc::new(model), Arc::new(loaded.scene), options).unwrap()
}

fn mjcf() -> String {
    let mut bodies = String::new();
    for i in 0..18 {
        let (x, y, z) =
            (0.13 * f64::from(i % 3) - 0.12, 0.14 * f64::from(i / 3 % 2) - 0.07, 0.12 + 0.12 * f64::from(i / 6));
        let shape = if i % 4 == 3 { r#"type="sphere" size=".05""# } else { r#"type="box" size=".05 .04 .045""# };
        let turn = 0.2 * f64::from(i);
        bodies += &format!(
            r#"<body name="box {i}" pos="{x} {y} {z}" euler="{turn} {turn} 0"><freejoint/><geom {shape}/></body>"#
        );
    }
    let chain = |z: f64, links: usize| {
        let link = |inner: String, k: usize| {
            format!(
                r#"<body name="{links} {k}" pos=".1 0 0"><joint axis="0 1 .3" range="-60 60" armature=".001"/>
                <geom type="capsule" fromto="0 0 0 .08 0 0" size=".02"/>{inner}</body>"#
            )
        };
        let inner = (1..links).fold(String::new(), link);
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
        </mujoco>"#,
        chain(0.55, 2),
        chain(0.65, 4),
        flap("left", -0.2),
        flap("right", 0.2),
    )
}

/// A wrong H still leads to the right velocities, but not at the rate of Newton's method: where that squares the error, a solution to 1e-12 takes
/// about one iteration more than one to 1e-6 in each island, and where each iteration leaves a share of the error about twice as many.
fn converges_quadratically(contact: ContactLaw) {
    // Coulomb's law is met to 100 times the tolerance. Steps of this scheme are never made in parts.
    let of = |tolerance| Options { contact, scheme: Scheme::SymplecticEuler, tolerance, ..Options::default() };
    let [mut auto, mut global] = common::both_ways(|| pile(of(1e-12)));
    let mut coarse = pile(of(1e-6));
    coarse.solve_globally();
    let (mut coupled, mut limits, mut islands, mut few, mut many) = (0, 0, 0, 0, 0);
    for step in 0..160 {
        let before = auto.state().to_bytes();
        auto.step().unwrap();
        if step % 4 != 0 {
            continue;
        }
        limits += auto.stats().limits;
        for (simulation, iterations) in [(&mut global, &mut many), (&mut coarse, &mut few)] {
            simulation.state_mut().restore(&before).unwrap();
            simulation.step().unwrap();
            *iterations += simulation.stats().iterations;
        }
        islands += global.stats().islands;
        let error = common::difference(&auto, &global);
        let greatest = auto.state().v.iter().fold(0.0, |m, v| f64::max(m, v.abs()));
        assert!(error < 1e-9 * greatest, "{contact:?}, step {step}: {error}");
        let touching = |c: &&sapwood_sim::ContactPoint| c.bodies[0] != 0 && c.impulse[2] > 0.0;
        coupled = coupled.max(auto.contacts().iter().filter(touching).count());
    }
    assert!(coupled > 30 && limits > 10, "{coupled} contacts between bodies at most, {limits} limits");
    assert!(
        few > 2 * islands && many <= few + islands,
        "{contact:?}: {few} and {many} iterations of {islands} islands"
    );
}

#[test]
fn newton_converges_quadratically() {
    converges_quadratically(ContactLaw::Coulomb);
}

#[test]
fn newton_converges_quadratically_under_convex_laws() {
    converges_quadratically(ContactLaw::Sap);
    converges_quadratically(ContactLaw::Lagged);
}

/// What was analysed for earlier steps, in this simulation or not, leaves no trace in the bits.
#[test]
fn a_restored_pile_continues_with_the_same_bits() {
    let bits = |simulation: &Simulation| simulation.state().to_bytes();
    let mut s = pile(Options::default());
    run(&mut s, 60);
    let saved = bits(&s);
    run(&mut s, 40);
    let expected = bits(&s);
    let mut fresh = pile(Options::default());
    for s in [&mut s, &mut fresh] {
        s.state_mut().restore(&saved).unwrap();
        run(s, 40);
        assert!(bits(s) == expected);
    }
}
