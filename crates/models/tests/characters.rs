//! The characters as the reader of models sees them.

use std::sync::Arc;

use formats::{LoadOptions, Loaded};
use multibody::{JointKind, Model};
use sapwood_models::characters::{Character, Options};
use sim::Simulation;
use spatial::{Pose, RigidInertia, Sym3, Vec3};

fn load(character: Character, options: &Options) -> Loaded {
    let loaded =
        formats::load_str(&sapwood_models::characters::mjcf(character, options), None, &LoadOptions::default());
    loaded.unwrap_or_else(|error| panic!("{character}: {error}"))
}

fn model(character: Character) -> Model {
    load(character, &Options::default()).model
}

fn simulation(character: Character, options: &Options) -> Simulation {
    let Loaded { model, scene } = load(character, options);
    Simulation::new(Arc::new(model), Arc::new(scene), sim::Options::default()).unwrap()
}

/// Degrees of freedom on the way from the root to a joint's body.
fn depth(model: &Model, body: usize) -> usize {
    let own: usize = model.joints.iter().filter(|joint| joint.body == body).map(|joint| joint.kind.nv()).sum();
    if body == 0 { 0 } else { own + depth(model, model.bodies[body].parent) }
}

#[test]
fn degrees_of_freedom_and_depth_are_those_of_the_paper() {
    let paper = [
        (Character::Humanoid, 34, 13),
        (Character::Dog, 72, 24),
        (Character::Snake36, 36, 36),
        (Character::Snake72, 72, 72),
        (Character::Snake195, 195, 195),
    ];
    for (character, nv, deepest) in paper {
        let model = model(character);
        assert_eq!((character.nv(), model.nv()), (nv, nv), "{character}");
        let depths = (0..model.bodies.len()).map(|body| depth(&model, body));
        assert_eq!(depths.max(), Some(deepest), "{character}");
    }
}

#[test]
fn joints_are_bare_and_everything_is_simulated() {
    for character in Character::ALL {
        let model = model(character);
        assert!(model.warnings.is_empty(), "{character}: {:?}", model.warnings);
        for values in [&model.armature, &model.damping, &model.stiffness, &model.friction_loss] {
            assert!(values.iter().all(|&x| x == 0.0), "{character}");
        }
        assert!(model.joints.iter().all(|joint| joint.range.is_none()), "{character}");
        assert_eq!(model.joints[0].kind, JointKind::Free, "{character}");
        for joint in &model.joints {
            assert_eq!(joint.name, model.bodies[joint.body].name, "{character}");
        }
        let kinds = model.joints[1..].iter().all(|joint| joint.kind == JointKind::Ball);
        assert_eq!(kinds, character != Character::Humanoid, "{character}");
    }
}

#[test]
fn joints_have_names_in_order() {
    let names = |character| model(character).joints.iter().map(|joint| joint.name.clone()).collect::<Vec<_>>();
    let humanoid = "root chest neck right_shoulder right_elbow left_shoulder left_elbow \
                    right_hip right_knee right_ankle left_hip left_knee left_ankle";
    assert_eq!(names(Character::Humanoid).join(" "), humanoid);
    let dog = "root spine_1 spine_2 neck head \
               front_right_shoulder front_right_elbow front_right_wrist front_right_toe \
               front_left_shoulder front_left_elbow front_left_wrist front_left_toe \
               hind_right_hip hind_right_knee hind_right_ankle hind_right_toe \
               hind_left_hip hind_left_knee hind_left_ankle hind_left_toe tail_1 tail_2";
    assert_eq!(names(Character::Dog).join(" "), dog);
    let snake = names(Character::Snake195);
    assert_eq!((snake.len(), &*snake[0], &*snake[1], &*snake[63]), (64, "root", "spine_1", "spine_63"));
}

#[test]
fn masses_are_those_of_the_living() {
    let ranges = [
        (Character::Humanoid, 45.0..75.0),
        (Character::Dog, 25.0..35.0),
        (Character::Snake36, 1.0..4.0),
        (Character::Snake72, 5.0..12.0),
        (Character::Snake195, 25.0..50.0),
    ];
    for (character, range) in ranges {
        let model = model(character);
        assert!(range.contains(&model.mass()), "{character}: {} kg", model.mass());
        for body in &model.bodies[1..] {
            let flaw = multibody::inertia_flaw(&body.inertia);
            assert!(body.inertia.mass > 1e-3 && flaw.is_none(), "{character}: {} {flaw:?}", body.name);
        }
    }
}

/// The mirror image in the plane y = 0.
fn mirrored(RigidInertia { mass, com, inertia }: RigidInertia<f64>) -> RigidInertia<f64> {
    let [xx, xy, xz, yy, yz, zz] = inertia.entries();
    let inertia = Sym3::new([xx, -xy, xz, yy, -yz, zz]);
    RigidInertia { mass, com: Vec3::new(com.x, -com.y, com.z), inertia }
}

#[test]
fn left_mirrors_right() {
    for character in Character::ALL {
        let model = model(character);
        // Bodies in the middle are their own mirror images.
        for body in model.bodies[1..].iter().filter(|body| !body.name.contains("left")) {
            let other = model.body(&body.name.replace("right", "left")).unwrap();
            let (a, b) = (mirrored(body.inertia), model.bodies[other].inertia);
            // Written to nine decimals.
            let close = |x: f64, y: f64| (x - y).abs() < 2e-9;
            let difference = (a.com - b.com).norm();
            assert!(close(a.mass, b.mass) && difference < 2e-9, "{character}: {}", body.name);
            let entries = |s: Sym3<f64>| s.entries();
            let same = entries(a.inertia).into_iter().zip(entries(b.inertia)).all(|(x, y)| close(x, y));
            assert!(same, "{character}: {}", body.name);
        }
    }
}

#[test]
fn they_start_on_the_ground() {
    for character in Character::ALL {
        let mut simulation = simulation(character, &Options::default());
        let keys: Vec<String> = simulation.model().keyframes.iter().map(|key| key.name.clone()).collect();
        for key in [None].into_iter().chain(keys.iter().map(|name| Some(&**name))) {
            simulation.reset(key).unwrap();
            simulation.step().unwrap();
            let lowest = simulation.contacts().iter().map(|contact| contact.gap).fold(f64::INFINITY, f64::min);
            assert!(lowest.abs() < 1e-8, "{character} {key:?}: {lowest} m");
        }
    }
}

#[test]
fn bodies_touch_each_other_only_on_request_and_not_in_the_default_pose() {
    for character in Character::ALL {
        let options = Options { ground: false, self_collision: false };
        let mut alone = simulation(character, &options);
        let mut touching = simulation(character, &Options { self_collision: true, ..options });
        for simulation in [&mut alone, &mut touching] {
            simulation.step().unwrap();
            let deepest = simulation.contacts().iter().min_by(|a, b| a.gap.total_cmp(&b.gap));
            let names = |contact: &sim::ContactPoint| contact.bodies.map(|b| simulation.model().bodies[b].name.clone());
            let report = deepest.map(|contact| (names(contact), contact.gap));
            assert!(deepest.is_none_or(|contact| contact.gap > 0.0), "{character}: {report:?}");
        }
        // The right legs swing across by 60°, or all of the spine bends by 60° per joint.
        let (sin, cos) = (0.5, 0.75_f64.sqrt());
        for simulation in [&mut alone, &mut touching] {
            let model = simulation.model().clone();
            for joint in &model.joints {
                let turn = match &*joint.name {
                    "right_hip" | "front_right_shoulder" => [cos, sin, 0.0, 0.0],
                    name if name.starts_with("spine") && character != Character::Dog => [cos, 0.0, 0.0, sin],
                    _ => continue,
                };
                simulation.state_mut().q[joint.q..joint.q + 4].copy_from_slice(&turn);
            }
            simulation.step().unwrap();
        }
        assert!(alone.contacts().is_empty(), "{character}");
        assert!(touching.contacts().iter().any(|contact| contact.gap < 0.0), "{character}");
    }
}

#[test]
fn knees_and_elbows_bend_as_they_do() {
    let mut simulation = simulation(Character::Humanoid, &Options::default());
    let model = simulation.model().clone();
    let angle = 1.0;
    for name in ["right_knee", "left_knee", "right_elbow", "left_elbow"] {
        let joint = &model.joints[model.joint(name).unwrap()];
        simulation.state_mut().q[joint.q] = angle;
    }
    let mut poses: Vec<Pose<f64>> = Vec::new();
    simulation.body_poses(&mut poses);
    for side in ["right", "left"] {
        let at = |name: &str| poses[model.body(&format!("{side}_{name}")).unwrap()];
        let shin = at("ankle").pos - at("knee").pos;
        assert!(shin.x < 0.0 && (shin.x / shin.z - angle.tan()).abs() < 1e-12, "{side}: {shin:?}");
        let forearm = at("elbow").rot.to_mat3() * Vec3::new(0.0, 0.0, -1.0);
        assert!((forearm.x - angle.sin()).abs() < 1e-12, "{side}: {forearm:?}");
    }
}

#[test]
fn unknown_names_are_errors_with_the_known_ones() {
    for character in Character::ALL {
        assert_eq!(character.name().parse(), Ok(character));
    }
    for name in ["", "cat", "Dog", "snake"] {
        let error = name.parse::<Character>().unwrap_err().to_string();
        assert!(error.contains(name) && error.contains("humanoid, dog, snake36, snake72, snake195"), "{error}");
    }
}
