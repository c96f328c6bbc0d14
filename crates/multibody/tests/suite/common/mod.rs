//! Random trees with every kind of joint, and their states.

use sapwood_multibody::{BodySpec, JointKind, JointSpec, Model, ModelBuilder};
use spatial::{Pose, Quat, RigidInertia, Sym3, Vec3};

/// A small reproducible generator (Marsaglia's xorshift); tests need no more.
pub struct Random(pub u64);

impl Random {
    /// Uniform in −1..1.
    pub fn unit(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }

    pub fn vec3(&mut self) -> Vec3<f64> {
        Vec3::new(self.unit(), self.unit(), self.unit())
    }

    pub fn quat(&mut self) -> Quat<f64> {
        Quat::new(self.unit(), self.unit(), self.unit(), self.unit()).unit()
    }

    fn inertia(&mut self) -> RigidInertia<f64> {
        let moments = Vec3::new(1.0 + 0.2 * self.unit(), 1.0 + 0.2 * self.unit(), 1.0 + 0.2 * self.unit());
        let inertia = Sym3::diagonal(moments * 0.3).rotated(self.quat().to_mat3());
        RigidInertia { mass: 1.5 + self.unit(), com: self.vec3() * 0.3, inertia }
    }
}

/// Two trees: one with a free root and every joint kind in branches, one fixed to the world.
#[allow(dead_code)]
pub fn every_joint(seed: u64) -> Model {
    let mut random = Random(seed);
    let mut builder = ModelBuilder::new("every joint");
    let r = &mut random;
    let kinds = |r: &mut Random| {
        [
            JointKind::Free,
            JointKind::Revolute { axis: r.vec3() },
            JointKind::Ball,
            JointKind::Prismatic { axis: r.vec3() },
            JointKind::Universal { axes: [r.vec3(), r.vec3()] },
            JointKind::Weld,
            JointKind::Screw { axis: r.vec3(), pitch: 0.2 },
            JointKind::Planar { axes: [r.vec3(), r.vec3(), r.vec3()] },
            JointKind::Ball,
        ]
    };
    let parents = [0, 1, 2, 2, 1, 5, 6, 5, 8];
    for (kind, parent) in kinds(r).into_iter().zip(parents) {
        add(&mut builder, r, kind, parent);
    }
    let base = builder.body_count();
    let screw = JointKind::Screw { axis: r.vec3(), pitch: -0.1 };
    add(&mut builder, r, screw, 0);
    add(&mut builder, r, JointKind::Ball, base);
    let revolute = JointKind::Revolute { axis: r.vec3() };
    add(&mut builder, r, revolute, base + 1);
    builder.build().unwrap()
}

/// A forest of `n` bodies, each with a random joint on a random one before it or on the world.
#[allow(dead_code)]
pub fn random_tree(seed: u64, n: usize) -> Model {
    let mut random = Random(seed);
    let r = &mut random;
    let mut builder = ModelBuilder::new("random tree");
    for i in 0..n {
        let mut pick = |below: usize| ((r.unit() * 0.5 + 0.5) * below as f64) as usize;
        let (parent, kind) = (pick(i + 1), pick(6));
        let kind = match kind {
            0 if parent == 0 => JointKind::Free,
            0 | 1 => JointKind::Ball,
            2 => JointKind::Prismatic { axis: r.vec3() },
            3 => JointKind::Screw { axis: r.vec3(), pitch: 0.2 },
            _ => JointKind::Revolute { axis: r.vec3() },
        };
        add(&mut builder, r, kind, parent);
    }
    builder.build().unwrap()
}

fn add(builder: &mut ModelBuilder, r: &mut Random, kind: JointKind, parent: usize) {
    let pose = Pose::new(r.vec3(), r.quat());
    let body = builder
        .add_body(BodySpec { name: "body".into(), parent, pose, inertia: r.inertia(), ..BodySpec::default() })
        .unwrap();
    let anchor = r.vec3() * 0.2;
    builder.add_joint(body, JointSpec { anchor, reference: 0.1, ..JointSpec::new(kind) }).unwrap();
}

/// A random configuration and velocity.
pub fn state(model: &Model, seed: u64) -> (Vec<f64>, Vec<f64>) {
    let mut r = Random(seed);
    let mut q = model.q0.clone();
    let turn: Vec<f64> = (0..model.nv()).map(|_| 2.0 * r.unit()).collect();
    sapwood_multibody::integrate(&model.tree, &mut q, &turn, 1.0);
    (q, (0..model.nv()).map(|_| r.unit()).collect())
}
