//! Which pairs may touch, and how they are found.

use std::sync::Arc;

use crate::common::{self, Placements, geom};
use sapwood_geometry::{Attachment, Collider, Contact, Movement, PairCollider, PairSpec, Scene, Shape, Sweep};
use spatial::{Mat3, Pose, Vec3};
use support::SplitMix64;

/// Unit spheres that all overlap. Geom 0 and 1 are fixed, 2 and 3 in group 1 (on the world), 4 in group 2 (on 1), 5 in
/// group 3 (on 2), 6 in group 4 (on the world).
fn scene(change: impl Fn(&mut Scene)) -> Vec<([usize; 2], Option<usize>)> {
    let groups = [(0, 0), (0, 0), (1, 0), (1, 0), (2, 1), (3, 2), (4, 0)];
    let mut scene =
        Scene { geoms: (0..7).map(|i| geom(i, Shape::Sphere { radius: 1.0 })).collect(), ..Scene::default() };
    change(&mut scene);
    let attachments = groups
        .iter()
        .enumerate()
        .map(|(i, &(group, parent_group))| Attachment {
            frame: (group > 0).then_some(i),
            pose: Pose::IDENTITY,
            group,
            parent_group,
        })
        .collect();
    let frame = |i: usize| (Mat3::IDENTITY, Vec3::new(0.1 * i as f64, 0.0, 0.0));
    let mut out = vec![];
    Collider::new(Arc::new(scene), attachments).contacts(frame, &[sapwood_geometry::Sweep::default(); 7], &mut out);
    let mut pairs: Vec<_> = out.iter().map(|c| (c.geoms, c.pair)).collect();
    pairs.sort();
    pairs
}

fn implicit(pairs: &[[usize; 2]]) -> Vec<([usize; 2], Option<usize>)> {
    pairs.iter().map(|&p| (p, None)).collect()
}

#[test]
fn groups_parents_and_the_world() {
    // 4 and 5 hang from the groups of {2, 3} and 4; everything may touch the world.
    let expected = [
        [0, 2],
        [0, 3],
        [0, 4],
        [0, 5],
        [0, 6],
        [1, 2],
        [1, 3],
        [1, 4],
        [1, 5],
        [1, 6],
        [2, 5],
        [2, 6],
        [3, 5],
        [3, 6],
        [4, 6],
        [5, 6],
    ];
    assert_eq!(scene(|_| {}), implicit(&expected));
}

#[test]
fn bits_exclusions_and_explicit_pairs() {
    let silent = |s: &mut Scene| {
        for g in &mut s.geoms {
            (g.contype, g.conaffinity) = (0, 0);
        }
    };
    assert!(scene(silent).is_empty());
    let one_sided = |s: &mut Scene| {
        silent(s);
        s.geoms[5].contype = 4;
        s.geoms[6].conaffinity = 6;
        s.geoms[2].conaffinity = 2;
    };
    assert_eq!(scene(one_sided), implicit(&[[5, 6]]));
    let excluded = |s: &mut Scene| {
        one_sided(s);
        s.excluded = vec![[6, 5]];
    };
    assert!(scene(excluded).is_empty());
    // Bits, parents and exclusions do not bind an explicit pair; it replaces the implicit one.
    let explicit = |s: &mut Scene| {
        excluded(s);
        let pair = |geoms| PairSpec { geoms, material: 0, margin: 0.0 };
        s.pairs = vec![pair([6, 5]), pair([2, 4])];
    };
    assert_eq!(scene(explicit), [([2, 4], Some(1)), ([5, 6], Some(0))]);
}

#[test]
fn margins_add_and_pairs_have_their_own() {
    let run = |pairs: Vec<PairSpec>| {
        let mut geoms = vec![geom(0, Shape::Plane { half_extents: [0.0; 2] }), geom(1, Shape::Sphere { radius: 0.1 })];
        (geoms[0].margin, geoms[1].margin) = (0.01, 0.006);
        let attachments = (0..2)
            .map(|i| Attachment { frame: (i == 1).then_some(0), pose: Pose::IDENTITY, group: i, parent_group: 0 })
            .collect();
        let scene = Arc::new(Scene { geoms, pairs, ..Scene::default() });
        let mut out: Vec<Contact> = vec![];
        let frame = |_| (Mat3::IDENTITY, Vec3::new(0.0, 0.0, 0.115));
        Collider::new(scene, attachments).contacts(frame, &[sapwood_geometry::Sweep::default(); 1], &mut out);
        out
    };
    let found = run(vec![]);
    assert_eq!(found.len(), 1);
    assert!((found[0].gap + 0.001).abs() < 1e-15);
    // Midway between the surfaces, whatever the margin.
    assert!((found[0].position.z - 0.0075).abs() < 1e-15);
    let pair = |margin| vec![PairSpec { geoms: [1, 0], material: 0, margin }];
    assert!(run(pair(0.01)).is_empty());
    assert!((run(pair(0.02))[0].gap + 0.005).abs() < 1e-15);
}

/// A large scene, which a tree searches, against all of its pairs one by one.
#[test]
fn the_tree_finds_what_brute_force_finds() {
    let mut random = SplitMix64(9);
    let n = 160;
    let mut geoms: Vec<_> = (0..n)
        .map(|i| {
            let r = random.uniform(0.03, 0.1);
            let shape = match i % 4 {
                0 => Shape::Sphere { radius: r },
                1 => Shape::Box { half_extents: [r, 0.5 * r, 0.7 * r] },
                2 => Shape::Capsule { radius: 0.5 * r, half_length: r },
                _ => Shape::Cylinder { radius: r, half_length: 0.5 * r },
            };
            geom(i + 1, shape)
        })
        .collect();
    geoms[17].shape = Shape::Plane { half_extents: [0.0; 2] };
    for i in 0..n {
        geoms[i].margin = if i % 7 == 0 { 0.01 } else { 0.0 };
    }
    let fixed = |i: usize| i % 10 == 7;
    let attachment = |i: usize| Attachment {
        frame: (!fixed(i)).then_some(i),
        pose: if fixed(i) {
            Pose::new(Vec3::new(0.01 * i as f64 - 0.8, 0.1, -0.5), spatial::Quat::IDENTITY)
        } else {
            Pose::IDENTITY
        },
        group: if fixed(i) { 0 } else { i + 1 },
        parent_group: 0,
    };
    let scene = Arc::new(Scene { geoms: geoms.clone(), ..Scene::default() });
    let mut tree = Collider::new(scene, (0..n).map(attachment).collect());
    let reach = vec![sapwood_geometry::Sweep::from(0.005); n];
    let (mut found, mut all) = (vec![], vec![]);
    for round in 0..6 {
        let frames: Vec<_> = (0..n)
            .map(|_| {
                let p = random.pose(0.45);
                (p.rot.to_mat3(), p.pos)
            })
            .collect();
        tree.contacts(|i| frames[i], &reach, &mut found);
        all.clear();
        for a in 0..n {
            for b in a + 1..n {
                let scene = Scene { geoms: vec![geoms[a].clone(), geoms[b].clone()], ..Scene::default() };
                let mut pair = Collider::new(Arc::new(scene), vec![attachment(a), attachment(b)]);
                let mut out = vec![];
                pair.contacts(|i| frames[i], &reach, &mut out);
                all.extend(out.into_iter().map(|c| Contact { geoms: [a, b], ..c }));
            }
        }
        assert!(all.len() > 100, "{}", all.len());
        found.sort_by_key(|c| c.geoms);
        assert_eq!(found, all, "round {round}");
    }
}

/// Pairs are kept while things move little, and searched by several threads: as a collider finds that has seen nothing else. With many
/// things by a tree, with few by a list.
#[test]
fn what_was_found_before_does_not_matter() {
    for (n, most, spread) in [(160, 100, 0.45), (40, 20, 0.25)] {
        what_was_found_before_does_not_matter_to(n, most, spread);
    }
}

fn what_was_found_before_does_not_matter_to(n: usize, most: usize, spread: f64) {
    let mut random = SplitMix64(5);
    let shape = |i: usize| match i % 4 {
        0 => Shape::Sphere { radius: 0.05 },
        1 => Shape::Box { half_extents: [0.07, 0.04, 0.05] },
        2 => common::rock(30, 0.06, i as u64),
        _ => Shape::Capsule { radius: 0.03, half_length: 0.06 },
    };
    let mut geoms: Vec<_> = (0..n).map(|i| geom(i + 1, shape(i))).collect();
    geoms[17].shape = Shape::Plane { half_extents: [0.0; 2] };
    let fresh = || common::collider(geoms.clone(), &[17, 40]);
    let (mut used, mut pool) = (fresh(), support::ThreadPool::new(2).unwrap());
    let (mut found, mut expected) = (vec![], vec![]);
    let mut frames = vec![(Mat3::IDENTITY, Vec3::ZERO); n];
    for round in 0..60 {
        let is_jump = round % 20 == 0;
        for (rot, pos) in &mut frames {
            let pose = random.pose(spread);
            let turn = spatial::Quat::from_rotation_vector(pose.pos * 0.3).to_mat3();
            (*rot, *pos) =
                if is_jump { (pose.rot.to_mat3(), pose.pos) } else { (turn * *rot, *pos + pose.pos * 0.004) };
        }
        // What was fast has wide boxes for a while.
        let reach = vec![sapwood_geometry::Sweep::from(if round % 20 == 10 { 0.1 } else { 0.003 }); n];
        let movement = |i: usize| Movement { rot: frames[i].0, pos: frames[i].1, sweep: reach[i] };
        used.shared_contacts(&mut pool, movement, &mut found);
        fresh().contacts(|i| frames[i], &reach, &mut expected);
        assert!(expected.len() > most, "{}", expected.len());
        assert_eq!(found, expected, "{n}, round {round}");
    }
}

#[test]
fn pairs_one_by_one_are_those_of_the_scene() {
    let mut random = SplitMix64(7);
    let shapes = [
        Shape::Plane { half_extents: [0.0, 0.0] },
        Shape::Sphere { radius: 0.2 },
        Shape::Capsule { radius: 0.1, half_length: 0.2 },
        Shape::Ellipsoid { radii: [0.1, 0.2, 0.3] },
        Shape::Cylinder { radius: 0.2, half_length: 0.1 },
        Shape::Box { half_extents: [0.1, 0.2, 0.15] },
        common::rock(20, 0.2, 1),
        Shape::Box { half_extents: [0.5, 0.4, 0.1] },
    ];
    let geoms: Vec<_> = shapes.into_iter().enumerate().map(|(i, shape)| geom(i, shape)).collect();
    let count = geoms.len();
    let scene = Arc::new(Scene { geoms, ..Scene::default() });
    let attachment = |i: usize| {
        // The plane and the last box are fixed.
        let moves = i > 0 && i + 1 < count;
        let (pose, group) = (random.pose(0.1), if moves { i } else { 0 });
        Attachment { frame: moves.then_some(i), pose, group, parent_group: 0 }
    };
    let attachments: Vec<_> = (0..count).map(attachment).collect();
    let depths = vec![1e-3; count];
    let mut whole = Collider::new(scene.clone(), attachments.clone()).with_rest_depths(&depths);
    let mut single = PairCollider::new(&scene, &attachments, &depths);
    let pairs = sapwood_geometry::allowed_pairs(&scene, &attachments, 100).unwrap();
    let (mut expected, mut found, mut all) = (Vec::new(), Vec::new(), 0);
    for _ in 0..300 {
        let mut movement = |i: usize| {
            let Pose { pos, rot } = random.pose(0.5);
            let (translation, rotation) = (random.vec3(0.1), random.vec3(0.3));
            let sweep = Sweep { slack: 0.2, translation, rotation, tree: Some(i / 4), ..Sweep::default() };
            Movement { rot: rot.to_mat3(), pos, sweep }
        };
        let frames: Vec<Movement> = (0..count).map(&mut movement).collect();
        whole.shared_contacts(&mut support::ThreadPool::default(), |i| frames[i], &mut expected);
        all += expected.len();
        for pair in &pairs {
            single.contacts(pair, pair.geoms.map(|geom| &frames[geom]), &mut found);
            assert!(found.len() <= single.max_points(pair.geoms));
            let of_pair: Vec<_> = expected.iter().filter(|contact| contact.geoms == pair.geoms).copied().collect();
            assert_eq!(found, of_pair, "{pair:?}");
        }
    }
    assert!(all > 1000);
}
