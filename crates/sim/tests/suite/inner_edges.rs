//! Bodies that slide and roll over floors and up to steps made of boxes, and over height fields.

use crate::common::{self, G, simulation};
use sapwood_sim::{Options, Simulation};

const STEPS: [f64; 4] = [0.001, 0.002, 0.005, 0.01];

/// Bodies 0.1 m high that stand or lie on the ground at the origin.
const MOVERS: [(&str, &str); 6] = [
    ("box", r#"type="box" size=".1 .08 .05""#),
    ("turned box", r#"type="box" size=".1 .08 .05" euler="0 0 30""#),
    ("ball", r#"type="sphere" size=".05""#),
    ("capsule", r#"type="capsule" size=".05 .1" euler="90 0 0""#),
    ("cylinder", r#"type="cylinder" size=".05 .1" euler="90 0 0""#),
    ("standing cylinder", r#"type="cylinder" size=".08 .05""#),
];

/// A floor of boxes whose tops are flush, twenty of them along x, 0.37 m long each; 0.25 m wide.
fn tiles(mu: f64) -> String {
    (0..40)
        .map(|i| {
            let (x, y) = (-0.3 + 0.37 * f64::from(i / 2), [-0.125, 0.125][i as usize % 2]);
            format!(r#"<geom type="box" pos="{x} {y} -.1" size=".185 .125 .1" friction="{mu}"/>"#)
        })
        .collect()
}

fn moving(world: &str, geom: &str, mu: f64, speed: f64, dt: f64) -> Simulation {
    let mut s = simulation(
        &format!(
            r#"<mujoco><worldbody>{world}
            <body pos="0 0 .05"><freejoint/><geom {geom} friction="{mu}" density="1000"/></body></worldbody></mujoco>"#
        ),
        Options { timestep: Some(dt), ..Options::default() },
    );
    s.state_mut().v[0] = speed;
    s
}

/// What a body that slides along x without friction, 0.05 m high, has lost of its motion after so many steps, if anything.
fn loss(mut s: Simulation, speed: f64, steps: usize) -> Option<String> {
    let (mut highest, mut lowest) = (0.0_f64, 0.0_f64);
    for _ in 0..steps {
        s.step().unwrap();
        highest = highest.max(s.state().q[2] - 0.05);
        lowest = lowest.min(s.state().q[2] - 0.05);
    }
    let v = &s.state().v;
    let lost = (v[0] / speed - 1.0).abs().max(v[1].abs() / speed);
    let turned = v[3].hypot(v[4]).hypot(v[5]) * 0.1 / speed;
    (lost > 1e-3 || turned > 1e-3 || highest > 5e-5 || lowest < -5e-5)
        .then(|| format!("lost {lost:.1e} turned {turned:.1e} {highest:.1e} {lowest:.1e}"))
}

/// The energy after so many steps, J, the most that it has grown by in one, and how deep anything was, m.
fn energy_and_depth(s: &mut Simulation, steps: usize) -> (f64, f64, f64) {
    let (mut energy, mut grown, mut deepest) = (f64::INFINITY, 0.0_f64, 0.0_f64);
    for _ in 0..steps {
        s.step().unwrap();
        let now = s.energy();
        let total = now.kinetic + now.potential;
        grown = grown.max(total - energy);
        energy = total;
        deepest = deepest.max(s.stats().penetration);
    }
    (energy, grown, deepest)
}

#[test]
fn without_friction_nothing_is_lost_on_a_floor_of_boxes() {
    let mut failures = String::new();
    for dt in STEPS {
        for (name, geom) in MOVERS {
            for speed in [0.01, 0.3, 3.0] {
                let s = moving(&tiles(0.0), geom, 0.0, speed, dt);
                let steps = (5.0_f64 / speed.max(1.0) / dt) as usize;
                if let Some(loss) = loss(s, speed, steps) {
                    failures += &format!("{name} {speed} m/s dt {dt}: {loss}\n");
                }
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// Boxes that are pressed into a compliant floor overlap the sides of its next boxes as well: MuJoCo stops them there.
#[test]
fn what_stands_on_a_compliant_floor_of_boxes_is_not_stopped() {
    let mut failures = String::new();
    for dt in STEPS {
        for solref in [".02 1", ".05 .7", "-2e4 -100"] {
            let floor = tiles(0.0).replace("type=", &format!(r#"solref="{solref}" type="#));
            for (name, geom) in MOVERS.into_iter().filter(|(name, _)| name.contains("box") || name.contains("standing"))
            {
                let mut s = moving(&floor, &format!(r#"{geom} solref="{solref}""#), 0.0, 3.0, dt);
                common::run(&mut s, (1.5 / dt) as usize);
                let v = &s.state().v;
                if v[0] < 0.97 * 3.0 || v[1].abs() > 0.03 * 3.0 {
                    failures += &format!("{name} solref {solref} dt {dt}: {v:?} at {:?}\n", s.state().q);
                }
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn friction_on_a_floor_of_boxes_is_that_on_a_plane() {
    let mut failures = String::new();
    for dt in STEPS {
        for (name, geom) in MOVERS {
            let plane = r#"<geom type="plane" size="9 9 1" friction=".4"/>"#;
            let [on_tiles, on_plane] = [&tiles(0.4), plane].map(|world| {
                let mut s = moving(world, geom, 0.4, 3.0, dt);
                let mut highest = 0.0_f64;
                for _ in 0..(0.5 / dt) as usize {
                    s.step().unwrap();
                    highest = highest.max(s.state().q[2] - 0.05);
                }
                (s.state().q[0], s.state().v[0], highest)
            });
            let (way, speed) = ((on_tiles.0 / on_plane.0 - 1.0).abs(), (on_tiles.1 - on_plane.1).abs() / 3.0);
            if way > 1e-3 || speed > 1e-3 || on_tiles.2 > on_plane.2 + 5e-5 {
                failures += &format!("{name} dt {dt}: {on_tiles:?} {on_plane:?}\n");
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn a_riser_stops_what_slides_into_it() {
    const FRONT: f64 = 1.365;
    let floor: String = tiles(0.0).split_inclusive("/>").take(10).collect();
    let mut failures = String::new();
    for dt in STEPS {
        for (name, geom) in MOVERS {
            for riser in [0.02, 0.1, 0.4] {
                for speed in [0.3, 3.0, 20.0] {
                    // Flush with the floor's boxes, and with the front of the one below.
                    let wall = format!(
                        r#"{floor}<geom type="box" pos="1.865 0 {}" size=".5 .5 {}" friction="0"/>
                        <geom type="box" pos="1.865 0 -.1" size=".5 .5 .1" friction="0"/>"#,
                        0.5 * riser,
                        0.5 * riser
                    );
                    let mut s = moving(&wall, geom, 0.0, speed, dt);
                    let mut farthest = 0.0_f64;
                    for _ in 0..(2.0 / speed / dt) as usize + 20 {
                        s.step().unwrap();
                        farthest = farthest.max(s.state().q[0]);
                    }
                    // Low risers may be tumbled over; none may be gone through.
                    if riser >= 0.1 && (farthest > FRONT - 0.045 || s.state().v[0] > 0.1 * speed) {
                        failures +=
                            &format!("{name} {speed} m/s, riser {riser}, dt {dt}: {farthest} {:?}\n", s.state().v);
                    }
                    let z = s.state().q[2];
                    if z < 0.04 {
                        failures += &format!("{name} {speed} m/s, riser {riser}, dt {dt}: sank to {z}\n");
                    }
                }
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn a_wall_of_boxes_guides_what_falls_along_it() {
    // Bricks that are flush; what touches them falls freely.
    let bricks: String = (0..30)
        .map(|i| format!(r#"<geom type="box" pos="-.1 0 {}" size=".1 .3 .1" friction="0"/>"#, -0.2 * f64::from(i)))
        .collect();
    let mut failures = String::new();
    for dt in STEPS {
        for (name, geom, half) in [
            ("box", r#"type="box" size=".05 .05 .05""#, 0.05),
            ("ball", r#"type="sphere" size=".05""#, 0.05),
            ("capsule", r#"type="capsule" size=".05 .1""#, 0.05),
        ] {
            let mut s = simulation(
                &format!(
                    r#"<mujoco><option gravity="-1 0 -{G}"/><worldbody>{bricks}
                    <body pos="{half} 0 0"><freejoint/><geom {geom} friction="0"/></body></worldbody></mujoco>"#
                ),
                Options { timestep: Some(dt), ..Options::default() },
            );
            let time = 1.0;
            common::run(&mut s, (time / dt) as usize);
            let (v, x) = (s.state().v[2], s.state().q[0]);
            if (v / (-G * time) - 1.0).abs() > 1e-3 || (x - half).abs() > 5e-5 {
                failures += &format!("{name} dt {dt}: {v} m/s at {x}\n");
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// Nine steps of boxes down to a floor of boxes, 0.2 m deep and 0.08 m high, each made of two; the first is long.
fn stairs() -> String {
    let mut text = String::new();
    for k in 0..9 {
        let (x, top) = (0.2 * f64::from(k), -0.08 * f64::from(k));
        for y in [-0.25, 0.25] {
            text += &format!(r#"<geom type="box" pos="{x} {y} {}" size=".1 .25 .04" friction=".4"/>"#, top - 0.04);
        }
    }
    let floor: String = (0..20)
        .map(|i| {
            let x = 1.9 + 0.4 * f64::from(i);
            format!(r#"<geom type="box" pos="{x} 0 -.82" size=".2 .5 .1" friction=".4"/>"#)
        })
        .collect();
    text + &floor
}

#[test]
fn stairs_are_gone_down_without_catching_and_without_tunnelling() {
    let mut failures = String::new();
    for dt in STEPS {
        for (name, geom) in MOVERS {
            let mut s = moving(&stairs(), geom, 0.4, 2.0, dt);
            let (_, grown, deepest) = energy_and_depth(&mut s, (3.0 / dt) as usize);
            let (q, mass) = (&s.state().q, s.model().tree.nodes[0].inertia.mass);
            let floor = -0.72;
            // What lands on an edge in the middle of a step of 10 ms turns on into it until the step's end.
            let may_sink = 2e-3 + 0.5 * dt;
            if grown > 1e-3 * mass * G * 0.72 + mass * G * dt * 0.5 || deepest > may_sink || q[2] < floor + 0.04 {
                failures += &format!(
                    "{name} dt {dt}: grown {:.1e} J of {:.1}, {deepest:.1e} deep, at {:?}\n",
                    grown,
                    mass * G * 0.72,
                    &q[..3]
                );
            }
            // What rolls gets to the bottom.
            if ["ball", "capsule", "cylinder"].contains(&name) && (q[2] > floor + 0.06 || q[0] < 1.7) {
                failures += &format!("{name} dt {dt}: stays on the stairs at {:?}\n", &q[..3]);
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

#[test]
fn a_bin_of_boxes_holds_what_is_thrown_into_it() {
    for dt in STEPS {
        // A floor of four boxes, walls of two each, 1 cm thick and flush with the floor.
        let mut world = String::new();
        for (x, y) in [(-0.1, -0.1), (-0.1, 0.1), (0.1, -0.1), (0.1, 0.1)] {
            world += &format!(r#"<geom type="box" pos="{x} {y} -.01" size=".1 .1 .01"/>"#);
        }
        for (side, along) in [(-0.205, -0.1), (-0.205, 0.1), (0.205, -0.1), (0.205, 0.1)] {
            world += &format!(r#"<geom type="box" pos="{side} {along} .4" size=".005 .1 .42"/>"#);
            world += &format!(r#"<geom type="box" pos="{along} {side} .4" size=".1 .005 .42"/>"#);
        }
        let bodies: String = (0..24)
            .map(|i: u32| {
                let place = |k: u32| 0.11 * f64::from(k % 3) - 0.11;
                let (x, y, z) = (place(i), place(i / 3), 0.1 + 0.11 * f64::from(i / 9));
                let geom = [
                    r#"type="box" size=".04 .03 .035""#,
                    r#"type="sphere" size=".04""#,
                    r#"type="capsule" size=".025 .03""#,
                    r#"type="cylinder" size=".04 .03""#,
                ][i as usize % 4];
                format!(r#"<body pos="{x} {y} {z}" euler="{} {} 0"><freejoint/><geom {geom}/></body>"#, 20 * i, 35 * i)
            })
            .collect();
        let mjcf = format!("<mujoco><worldbody>{world}{bodies}</worldbody></mujoco>");
        let mut s = simulation(&mjcf, Options { timestep: Some(dt), ..Options::default() });
        // All of them fly at a wall, aside of its middle.
        for body in 0..24 {
            s.state_mut().v[6 * body] = 3.0;
            s.state_mut().v[6 * body + 1] = 1.0 - 0.1 * body as f64;
        }
        common::run(&mut s, (2.0 / dt) as usize);
        for (body, q) in s.state().q.chunks(7).enumerate() {
            assert!(q[0].abs() < 0.2 && q[1].abs() < 0.2 && q[2] > 0.0 && q[2] < 0.8, "dt {dt}, body {body} at {q:?}");
        }
        assert!(s.stats().penetration < 1e-3, "dt {dt}: {:?}", s.stats());
    }
}

/// A body that begins at the origin over a field of squares of 0.1 m, 12 m long, whose samples are `height` above the least.
fn on_a_field(height: impl Fn(usize) -> f64, geom: &str, lift: f64, speed: f64, dt: f64) -> Simulation {
    let heights: Vec<f64> = (0..121 * 21).map(height).collect();
    let (least, most) = heights.iter().fold((f64::INFINITY, 0.0_f64), |(l, m), &h| (l.min(h), m.max(h)));
    let text: String = heights.iter().map(|h| format!("{h} ")).collect();
    let mut s = simulation(
        &format!(
            r#"<mujoco><asset><hfield name="f" nrow="21" ncol="121" size="6 1 {} .1" elevation="{text}"/></asset>
            <worldbody><geom type="hfield" hfield="f" pos="5 0 0" friction="0"/>
            <body pos="0.03 0.02 {}"><freejoint/><geom {geom} friction="0" density="1000"/></body></worldbody></mujoco>"#,
            (most - least).max(1e-3),
            0.05 + lift
        ),
        Options { timestep: Some(dt), ..Options::default() },
    );
    s.state_mut().v[0] = speed;
    s
}

#[test]
fn without_friction_nothing_is_lost_on_a_level_field() {
    let mut failures = String::new();
    for dt in STEPS {
        for (name, geom) in MOVERS {
            for speed in [0.3, 3.0] {
                let s = on_a_field(|_| 0.0, geom, 0.0, speed, dt);
                if let Some(loss) = loss(s, speed, (3.0 / dt) as usize) {
                    failures += &format!("{name} {speed} m/s dt {dt}: {loss}\n");
                }
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}

/// Slides over bumps of 3 cm: hardly any energy comes from anywhere, and nothing sinks in by more than a step's motion.
#[test]
fn nothing_is_gained_on_a_rough_field() {
    let mut failures = String::new();
    for dt in STEPS {
        for (name, geom) in MOVERS {
            let bump = |i: usize| 0.03 * (0.5 + 0.5 * libm::sin(1e3 * libm::sin(i as f64)));
            let mut s = on_a_field(bump, geom, 0.15, 2.0, dt);
            let (energy, grown, deepest) = energy_and_depth(&mut s, (2.0 / dt) as usize);
            let mass = s.model().tree.nodes[0].inertia.mass;
            // As on stairs; what passes a ridge in the middle of a step goes on along its slope, up to 30°, until the step's end.
            let may_sink = 1e-3 + 0.5 * 2.0 * dt;
            if grown > 1e-3 * mass * G * 0.1 + mass * G * dt * 0.5 || deepest > may_sink || s.state().q[2] < 0.02 {
                failures +=
                    &format!("{name} dt {dt}: grown {grown:.1e} of {energy:.1}, {deepest:.1e}, {:?}\n", s.state().q);
            }
        }
    }
    assert!(failures.is_empty(), "\n{failures}");
}
