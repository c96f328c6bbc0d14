//! What constrains a step, as rows of a dense Jacobian with their laws.

use std::collections::HashMap;

use geometry::Scene;
use multibody::{Compliance, Coordinate, EqualityKind, JointKind, Material, Model, Resistance};
use sapwood_sim::{ContactLaw, ContactPoint, Options};
use spatial::{Mat3, Pose, Quat, Vec3};

use super::bodies::{Bodies, Pair};
use super::dense::{Matrix, Vector, dot};
use super::drives::{Drive, Force, tendon_forces};
use super::laws::{
    Compliant, Mobility, OneSided, Row, compliant, dry_friction, joint_mobility, one_sided, sliding_friction,
};
use super::shares::stiffness_share;
use super::solve::{Constraint, Disc, Law};
use super::weights::Weights;

/// What a constraint is known by from step to step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Key {
    /// Geoms, and which of their points.
    Contact([usize; 2], usize),
    /// Joint and side.
    Limit(usize, usize),
    /// Equality and part.
    Equality(usize, usize),
    /// A degree of freedom.
    Friction(usize),
    /// Tendon and part.
    Tendon(usize, usize),
    /// The first actuator of a drive, or the degree of freedom of PD control.
    Servo(usize),
    Pd(usize),
}

/// A step that begins.
pub struct Start<'a> {
    pub model: &'a Model,
    pub scene: &'a Scene,
    pub options: &'a Options,
    pub dt: f64,
    pub q: &'a [f64],
    pub v: &'a [f64],
    /// What actuators act by.
    pub inputs: &'a [f64],
    pub bodies: &'a Bodies<'a>,
    pub weights: &'a Weights<'a>,
    /// Impulses of the constraints in the step before.
    pub memory: &'a HashMap<Key, f64>,
    pub contacts: &'a [ContactPoint],
    /// Velocities of the geoms' surfaces on their bodies, in the axes of these.
    pub belts: &'a [f64],
}

/// The mean of a joint's three rows from their Frobenius norm.
const MEAN: f64 = 1.732_050_807_568_877_2;

/// A step that begins, with M + Λ and free motion.
pub struct Assembly<'a> {
    pub start: &'a Start<'a>,
    pub mobility: &'a Mobility,
    pub a: &'a Matrix,
    pub v_star: &'a [f64],
}

impl Assembly<'_> {
    /// All constraints of a step, and the island of every tree: the first of the trees that constraints join.
    pub fn constraints(&self, drives: &[Drive]) -> (Vec<Constraint>, Vec<usize>) {
        let mut all = Vec::new();
        self.limits(&mut all);
        self.equalities(&mut all);
        self.tendons(&mut all);
        self.joint_friction(&mut all);
        for drive in drives.iter().filter(|drive| drive.is_apart) {
            let row = self.row(&[(drive.dof, 1.0)]);
            all.push(self.of_force(drive.key, row, &drive.force));
        }
        let islands = self.islands(&all);
        let mut ordinal = 0;
        for (k, contact) in self.start.contacts.iter().enumerate() {
            let is_next = k > 0 && self.start.contacts[k - 1].geoms == contact.geoms;
            ordinal = if is_next { ordinal + 1 } else { 0 };
            let share = stiffness_share(self.start, k);
            all.extend(self.contact(contact, ordinal, share, &islands));
        }
        (all, islands)
    }

    fn row(&self, terms: &[(usize, f64)]) -> Vector {
        let mut row = vec![0.0; self.start.v.len()];
        terms.iter().for_each(|(dof, coefficient)| row[*dof] += coefficient);
        row
    }

    fn joint_mobility(&self, node: usize) -> Vector {
        joint_mobility(self.start.bodies, self.start.model, self.a, node)
    }

    /// The inverse mass that a sum of joints meets, each taken alone.
    fn sum_mobility(&self, row: &[f64]) -> f64 {
        let of_node = |(i, node): (usize, &multibody::Node<f64>)| {
            let own = &row[node.v..node.v + node.joint.nv()];
            if own.iter().all(|x| *x == 0.0) {
                return 0.0;
            }
            own.iter().zip(self.joint_mobility(i)).map(|(x, w)| x * x * w).sum::<f64>()
        };
        self.start.model.tree.nodes.iter().enumerate().map(of_node).sum()
    }

    fn is_reached(&self, gap: f64, row: &[f64]) -> bool {
        gap <= 2.0 * self.start.dt * (dot(row, self.start.v).abs() + dot(row, self.v_star).abs())
    }

    /// A constraint whose row only pushes.
    fn pushing(&self, key: Key, row: Vector, law: &OneSided) -> Constraint {
        let before = self.start.memory.get(&key).copied().unwrap_or(0.0);
        let (v_hat, recovery) = law.split(self.start.options, before);
        let law_of_rows = Law::Box([0.0, f64::INFINITY]);
        Constraint { key, rows: vec![row], r: vec![law.r], v_hat: vec![v_hat], law: law_of_rows, recovery, bound: 0.0 }
    }

    /// An impulse −impedance (v − v₀) + impulse within limits.
    fn of_force(&self, key: Key, row: Vector, force: &Force) -> Constraint {
        let v_hat = dot(&row, self.start.v) + force.impulse / force.impedance;
        let law = Law::Box([force.low, force.high]);
        let r = vec![1.0 / force.impedance];
        Constraint { key, rows: vec![row], r, v_hat: vec![v_hat], law, recovery: None, bound: 0.0 }
    }

    /// Dry friction up to a force.
    fn friction(&self, key: Key, row: Vector, weight: Row, compliance: Compliance, force: f64) -> Constraint {
        let Start { options, dt, v, .. } = *self.start;
        let (r, v_hat) = dry_friction(options, dt, compliance, weight, dot(&row, v));
        let law = Law::Box([-dt * force, dt * force]);
        Constraint { key, rows: vec![row], r: vec![r], v_hat: vec![v_hat], law, recovery: None, bound: 0.0 }
    }

    fn limits(&self, all: &mut Vec<Constraint>) {
        let Start { model, options, dt, q, v, .. } = *self.start;
        for (j, joint) in model.joints.iter().enumerate() {
            let Some((low, high)) = joint.range else { continue };
            let node = joint.nodes.start;
            let w = self.joint_mobility(node);
            let w = w.iter().sum::<f64>() / w.len() as f64;
            let weight = Row { w, inverse: self.start.weights.of_dof(joint.v) };
            let law = |gap: f64, row: &[f64]| one_sided(options, dt, joint.limit_compliance, weight, gap, dot(row, v));
            if joint.kind == JointKind::Ball {
                let [qw, x, y, z] = [0, 1, 2, 3].map(|k| q[joint.q + k]);
                let turn = Quat::new(qw, x, y, z).unit().rotation_vector();
                let away = turn.normalized().unwrap_or(Vec3::ZERO) * -1.0;
                let terms: Vec<_> = away.to_array().into_iter().enumerate().map(|(k, x)| (joint.v + k, x)).collect();
                let gap = high - turn.norm();
                let speed = |v: &[f64]| (0..3).map(|k| v[joint.v + k].powi(2)).sum::<f64>().sqrt();
                if gap <= 2.0 * dt * (speed(v) + speed(self.v_star)) {
                    let row = self.row(&terms);
                    let law = law(gap, &row);
                    all.push(self.pushing(Key::Limit(j, 1), row, &law));
                }
                continue;
            }
            for (side, (gap, sign)) in [(q[joint.q] - low, 1.0), (high - q[joint.q], -1.0)].into_iter().enumerate() {
                let row = self.row(&[(joint.v, sign)]);
                if self.is_reached(gap, &row) {
                    let law = law(gap, &row);
                    all.push(self.pushing(Key::Limit(j, side), row, &law));
                }
            }
        }
    }

    /// The frame of a body in the world, and its node.
    fn frame(&self, body: usize, pose: Pose<f64>) -> (Pose<f64>, Option<usize>) {
        let body = &self.start.model.bodies[body];
        let in_node = body.pose * pose;
        let placed = |node: usize| {
            let frame = &self.start.bodies.frames[node];
            Pose::new(frame.pos, frame.quat) * in_node
        };
        (body.node.map_or(in_node, placed), body.node)
    }

    /// How the second of two nodes moves relative to the first, as a point of it at `point`.
    fn relative(&self, nodes: [Option<usize>; 2], point: Vec3<f64>) -> Vec<Pair> {
        let [first, second] = nodes.map(|node| self.start.bodies.columns(node, point));
        second.iter().zip(&first).map(|(second, first)| second.plus(-1.0, *first)).collect()
    }

    fn mobility_at(&self, node: Option<usize>, point: Vec3<f64>) -> f64 {
        let bodies = self.start.bodies;
        node.map_or(0.0, |node| self.mobility.of_point(bodies, node, point - bodies.frames[node].pos))
    }

    /// J̇ v of the second node relative to the first at a point that moves with the second, or with the first if the second does not move:
    /// as the other one sees it, which takes away the turning of its axes and, of points that glide, Coriolis' part.
    fn relative_bias(&self, nodes: [Option<usize>; 2], point: Vec3<f64>) -> Pair {
        let Start { bodies, v, .. } = *self.start;
        let [carrier, frame] = if nodes[1].is_some() { [nodes[1], nodes[0]] } else { [nodes[0], nodes[1]] };
        let sign = if nodes[1].is_some() { 1.0 } else { -1.0 };
        let of = |node: Option<usize>| {
            node.map_or([Pair::ZERO; 2], |i| [bodies.motion(i, point, v), bodies.bias(i, point, v)])
        };
        let [[motion, bias], [of_frame, bias_of_frame]] = [of(carrier), of(frame)];
        let (relative, spin) = (motion.plus(-1.0, of_frame), of_frame.ang);
        let coriolis = Pair { ang: spin.cross(relative.ang), lin: spin.cross(relative.lin) * 2.0 };
        Pair::ZERO.plus(sign, bias.plus(-1.0, bias_of_frame).plus(-1.0, coriolis))
    }

    fn equalities(&self, all: &mut Vec<Constraint>) {
        let Start { model, options, dt, .. } = *self.start;
        for (k, equality) in model.equalities.iter().enumerate().filter(|(_, equality)| equality.active) {
            let at = |pos: Vec3<f64>| Pose { pos, ..Pose::IDENTITY };
            let (ends, weld, distance) = match &equality.kind {
                EqualityKind::Coupling { y, x, polynomial } => {
                    all.push(self.coupling(Key::Equality(k, 0), *y, *x, polynomial, equality.compliance));
                    continue;
                }
                EqualityKind::Connect { bodies, anchors } => {
                    ([0, 1].map(|k| self.frame(bodies[k], at(anchors[k]))), None, None)
                }
                EqualityKind::Weld { bodies, frames, torque_scale } => {
                    ([0, 1].map(|k| self.frame(bodies[k], frames[k])), Some(*torque_scale), None)
                }
                EqualityKind::Distance { bodies, anchors, distance } => {
                    ([0, 1].map(|k| self.frame(bodies[k], at(anchors[k]))), None, Some(*distance))
                }
            };
            let nodes = ends.map(|(_, node)| node);
            let [first, second] = ends.map(|(pose, _)| pose);
            let span = second.pos - first.pos;
            let point = if nodes[1].is_some() { second.pos } else { first.pos };
            let columns = self.relative(nodes, point);
            let w = MEAN * nodes.map(|node| self.mobility_at(node, point)).iter().sum::<f64>();
            let quat = (first.rot.conjugate() * second.rot).unit();
            let sines = weld.map_or(0.0, |scale| scale * quat.vector().norm());
            let size = distance.map_or(span.norm(), |distance| (span.norm() - distance).abs()).hypot(sines);
            let weight = |w: f64, is_turn: bool| Row { w, inverse: self.start.weights.of_equality(k, is_turn) };
            let law = compliant(options, dt, equality.compliance, weight(w, false), size, 1.0);
            let velocity = |of: &dyn Fn(&Pair) -> Vec3<f64>| {
                columns.iter().zip(self.start.v).fold(Vec3::ZERO, |sum, (c, v)| sum + of(c) * *v)
            };
            let part = |key, axes: &[Vec3<f64>], of: &dyn Fn(&Pair) -> Vec3<f64>, r: f64, v_hat: Vector| {
                let rows = axes.iter().map(|e| columns.iter().map(|c| of(c).dot(*e)).collect()).collect();
                let (r, law) = (vec![r; axes.len()], Law::Box([f64::NEG_INFINITY, f64::INFINITY]));
                Constraint { key, rows, r, v_hat, law, recovery: None, bound: 0.0 }
            };
            let drift = self.relative_bias(nodes, point);
            // References have an inerter, whose ends move as rows do that turn: half of it before, half after.
            let half = |compliance| if matches!(compliance, Compliance::Reference(_)) { 0.5 * dt } else { 0.0 };
            if let Some(distance) = distance {
                let along = span.normalized().unwrap_or(Vec3::new(0.0, 0.0, 1.0));
                let rate = velocity(&|c| c.lin).dot(along);
                let across = velocity(&|c| c.lin) - along * rate;
                let drift = drift.lin.dot(along) + across.norm_squared() / span.norm();
                let drift = drift * half(equality.compliance);
                let v_hat = law.v_hat(span.norm() - distance, rate - drift).clamp(-law.fastest, law.fastest) - drift;
                all.push(part(Key::Equality(k, 0), &[along], &|c| c.lin, law.r, vec![v_hat]));
                continue;
            }
            let Mat3 { x, y, z } = Mat3::IDENTITY;
            let bias = |violation: Vec3<f64>, rate: Vec3<f64>, drift: Vec3<f64>, law: &Compliant| {
                let drift = drift * half(equality.compliance);
                let v_hat = violation * law.per_violation + (rate - drift) * law.per_rate - drift;
                let speed = v_hat.norm();
                (if speed > law.fastest { v_hat * (law.fastest / speed) } else { v_hat }).to_array().to_vec()
            };
            let v_hat = bias(span, velocity(&|c| c.lin), drift.lin, &law);
            all.push(part(Key::Equality(k, 0), &[x, y, z], &|c| c.lin, law.r, v_hat));
            let w = MEAN * nodes.iter().flatten().map(|node| self.mobility.of_turn(*node)).sum::<f64>();
            if weld.is_some() && w > 0.0 {
                let law = compliant(options, dt, equality.compliance, weight(w, true), size, 1.0);
                let turn = match equality.compliance {
                    Compliance::Reference(_) => {
                        let angle = quat.rotation_vector();
                        angle.normalized().unwrap_or(Vec3::ZERO) * angle.norm().sin()
                    }
                    _ => quat.rotation_vector(),
                };
                let v_hat = bias(first.rot.to_mat3() * turn, velocity(&|c| c.ang), drift.ang, &law);
                all.push(part(Key::Equality(k, 1), &[x, y, z], &|c| c.ang, law.r, v_hat));
            }
        }
    }

    /// A sum of joint coordinates: its value and its row.
    fn sum(&self, coordinate: Coordinate) -> (f64, Vector) {
        let one;
        let terms = match coordinate {
            Coordinate::Joint(joint) => {
                one = [(joint, 1.0)];
                &one[..]
            }
            Coordinate::Tendon(tendon) => self.start.model.tendons[tendon].terms(),
        };
        let joint = |j: usize| &self.start.model.joints[j];
        let value = terms.iter().map(|(j, coefficient)| coefficient * self.start.q[joint(*j).q]).sum();
        let terms: Vec<_> = terms.iter().map(|(j, coefficient)| (joint(*j).v, *coefficient)).collect();
        (value, self.row(&terms))
    }

    fn coupling(
        &self,
        key: Key,
        (y, y0): (Coordinate, f64),
        x: Option<(Coordinate, f64)>,
        polynomial: &[f64; 5],
        compliance: Compliance,
    ) -> Constraint {
        let (y, mut row) = self.sum(y);
        let mut violation = y - y0 - polynomial[0];
        if let Some((x, x0)) = x {
            let (x, x_row) = self.sum(x);
            let x = x - x0;
            for (power, c) in polynomial.iter().enumerate().skip(1) {
                violation -= c * x.powi(power as i32);
                let slope = c * power as f64 * x.powi(power as i32 - 1);
                row.iter_mut().zip(&x_row).for_each(|(row, x)| *row -= slope * x);
            }
        }
        let w = self.sum_mobility(&row);
        let Key::Equality(index, _) = key else { panic!("a coupling is an equality") };
        let weight = Row { w, inverse: self.start.weights.of_equality(index, false) };
        let law = compliant(self.start.options, self.start.dt, compliance, weight, violation.abs(), 1.0);
        let v_hat = law.v_hat(violation, dot(&row, self.start.v)).clamp(-law.fastest, law.fastest);
        let free = Law::Box([f64::NEG_INFINITY, f64::INFINITY]);
        Constraint { key, rows: vec![row], r: vec![law.r], v_hat: vec![v_hat], law: free, recovery: None, bound: 0.0 }
    }

    fn tendons(&self, all: &mut Vec<Constraint>) {
        let Start { model, options, dt, .. } = *self.start;
        for (k, tendon) in model.tendons.iter().enumerate() {
            let (length, row) = self.sum(Coordinate::Tendon(k));
            let w = self.sum_mobility(&row);
            if let Some((low, high)) = tendon.range {
                for (side, (gap, sign)) in [(length - low, 1.0), (high - length, -1.0)].into_iter().enumerate() {
                    let row: Vector = row.iter().map(|x| sign * x).collect();
                    if self.is_reached(gap, &row) {
                        let weight = Row { w, inverse: self.start.weights.of_tendon(k) };
                        let law = one_sided(options, dt, tendon.limit_compliance, weight, gap, dot(&row, self.start.v));
                        all.push(self.pushing(Key::Tendon(k, side), row, &law));
                    }
                }
            }
            let forces = tendon_forces(self.start, k, length, &row);
            for (part, force) in forces.iter().enumerate().filter(|(_, force)| force.impedance > 0.0) {
                all.push(self.of_force(Key::Tendon(k, 3 + part), row.clone(), force));
            }
            if tendon.friction_loss > 0.0 {
                let weight = Row { w, inverse: self.start.weights.of_tendon(k) };
                let compliance = tendon.friction_compliance;
                all.push(self.friction(Key::Tendon(k, 2), row, weight, compliance, tendon.friction_loss));
            }
        }
    }

    fn joint_friction(&self, all: &mut Vec<Constraint>) {
        let Start { model, .. } = *self.start;
        for (i, node) in model.tree.nodes.iter().enumerate() {
            for v in node.v..node.v + node.joint.nv() {
                if model.friction_loss[v] > 0.0 {
                    let w = self.joint_mobility(i);
                    let w = w.iter().sum::<f64>() / w.len() as f64;
                    let weight = Row { w, inverse: self.start.weights.of_dof(v) };
                    let (row, compliance) = (self.row(&[(v, 1.0)]), model.friction_compliance(v));
                    all.push(self.friction(Key::Friction(v), row, weight, compliance, model.friction_loss[v]));
                }
            }
        }
    }

    /// The island of every tree.
    fn islands(&self, others: &[Constraint]) -> Vec<usize> {
        let Start { model, bodies, contacts, .. } = *self.start;
        let mut islands: Vec<usize> = (0..model.tree.trees.len()).collect();
        let mut join = |trees: &[usize]| {
            let Some(least) = trees.iter().map(|tree| islands[*tree]).min() else { return };
            let joined: Vec<usize> = trees.iter().map(|tree| islands[*tree]).collect();
            islands.iter_mut().filter(|island| joined.contains(island)).for_each(|island| *island = least);
        };
        for constraint in others {
            let is_moved = |dofs: &std::ops::Range<usize>| {
                constraint.rows.iter().any(|row| row[dofs.clone()].iter().any(|x| *x != 0.0))
            };
            let trees = model.tree.dofs.iter().enumerate().filter(|(_, dofs)| is_moved(dofs));
            join(&trees.map(|(tree, _)| tree).collect::<Vec<_>>());
        }
        for contact in contacts {
            let nodes = contact.bodies.iter().filter_map(|body| model.bodies[*body].node);
            join(&nodes.map(|node| bodies.tree_of(node)).collect::<Vec<_>>());
        }
        islands
    }

    /// Regularisation goes by inertia, as far as drives do not make a point two and a half times as firm; what something heavy may lie upon is
    /// regularised by that: trees whose masses differ by more than 100 times.
    fn stiff_mobility(&self, [w, slack]: [f64; 2], node: usize, islands: &[usize]) -> f64 {
        let Start { model, bodies, .. } = *self.start;
        let nodes = &model.tree.nodes;
        let mass = |tree: usize| nodes[model.tree.trees[tree].clone()].iter().map(|n| n.inertia.mass).sum::<f64>();
        let masses: Vec<f64> = (0..model.tree.trees.len()).map(mass).collect();
        let (least, most) = masses.iter().fold((f64::INFINITY, 0.0_f64), |(l, m), x| (l.min(*x), m.max(*x)));
        let free = w + slack.min(1.5 * w);
        if most <= 100.0 * least {
            return free;
        }
        let island = islands[bodies.tree_of(node)];
        let heaviest = masses.iter().zip(islands).filter(|(_, of)| **of == island).map(|(m, _)| *m).fold(0.0, f64::max);
        free.min(100.0 / (MEAN * heaviest)).max(1e-6 * w)
    }

    fn surface(&self, geoms: [usize; 2]) -> Material {
        let (scene, materials) = (self.start.scene, &self.start.model.materials);
        let is_pair = |pair: &&geometry::PairSpec| pair.geoms == geoms || pair.geoms == [geoms[1], geoms[0]];
        if let Some(pair) = scene.pairs.iter().find(is_pair) {
            return materials[pair.material];
        }
        let [a, b] = geoms.map(|geom| &materials[scene.geoms[geom].material]);
        Material::combine(a, b)
    }

    /// The depth beyond which no spring holds two geoms apart: the greatest of their inner radii.
    fn spring_depth(&self, geoms: [usize; 2]) -> f64 {
        let [a, b] = geoms.map(|geom| self.start.scene.geoms[geom].shape.inner_radius());
        a.max(b)
    }

    /// The velocity of a geom's surface on its body, world.
    fn surface_velocity(&self, geom: usize) -> Vec3<f64> {
        let Start { model, scene, bodies, belts, .. } = *self.start;
        let Some(v) = belts.get(3 * geom..3 * geom + 3) else { return Vec3::ZERO };
        let v = Vec3::new(v[0], v[1], v[2]);
        model.bodies[scene.geoms[geom].body].node.map_or(v, |node| bodies.frames[node].rot * v)
    }

    /// A contact, its rolling and torsional friction with it: rows along the normal, the tangents, about the tangents, about the normal; `share`
    /// is [`stiffness_share`].
    fn contact(&self, contact: &ContactPoint, ordinal: usize, share: f64, islands: &[usize]) -> Option<Constraint> {
        let Start { model, options, dt, bodies, memory, .. } = *self.start;
        let mobility = self.mobility;
        let ContactPoint { geoms, position, normal, gap, .. } = *contact;
        let surface = self.surface(geoms);
        let (coefficient, [t1, t2]) = surface.friction_tangents(normal);
        let nodes = contact.bodies.map(|body| model.bodies[body].node);
        // Each body is met at its own surface. Two bodies are pushed midway between, one by itself at its surface.
        let own = [position - normal * (0.5 * gap), position + normal * (0.5 * gap)];
        let w: f64 = [0, 1].map(|k| self.mobility_at(nodes[k], own[k])).iter().sum();
        let (point, node) = match nodes {
            [Some(a), Some(_)] => (position, a),
            [Some(a), None] => (own[0], a),
            [None, Some(b)] => (own[1], b),
            [None, None] => return None,
        };
        let of_nodes = |of: &dyn Fn(usize, Vec3<f64>) -> f64| {
            nodes.iter().flatten().map(|node| of(*node, point - bodies.frames[*node].pos)).collect::<Vec<f64>>()
        };
        let slack = of_nodes(&|node, arm| mobility.slack(bodies, node, arm)).iter().sum::<f64>();
        let stiff = self.stiff_mobility([w, slack], node, islands);
        let depth = self.spring_depth(geoms);
        let columns = self.relative(nodes, point);
        let rate = columns.iter().zip(self.start.v).map(|(c, v)| c.lin.dot(normal) * v).sum::<f64>();
        let inverse = contact.bodies.iter().map(|body| self.start.weights.of_body(*body)[0]).sum::<f64>();
        let weight = Row { w: stiff, inverse: inverse * cone_share(&surface) / share };
        let mut law = match surface.compliance {
            // Where the spring ends a stop begins.
            Compliance::Reference(_) if gap < -depth => {
                one_sided(options, dt, Compliance::NearRigid, weight, gap + depth, 0.0)
            }
            compliance => one_sided(options, dt, compliance, weight, gap, rate),
        };
        if law.is_rigid {
            // No point of a body becomes much faster for a contact on a short lever than that is righted.
            let leverage = of_nodes(&|node, arm| mobility.leverage(bodies, node, arm, normal));
            let most = leverage.into_iter().fold(0.0, f64::max);
            law.v_hat = law.v_hat.min(options.recovery_speed * (10.0 * most.sqrt()).min(1.0));
        }
        let key = Key::Contact(geoms, ordinal);
        let before = memory.get(&key).copied();
        let (v_hat, recovery) = law.split(options, before.unwrap_or(0.0));
        let along = |e: Vec3<f64>| columns.iter().map(|c| c.lin.dot(e)).collect::<Vector>();
        let about = |e: Vec3<f64>| columns.iter().map(|c| c.ang.dot(e)).collect::<Vector>();
        let mut rows = vec![along(normal), along(t1), along(t2)];
        let reference = match surface.compliance {
            Compliance::Reference(reference) => Some(reference),
            _ => None,
        };
        let (r_t, per_slide) =
            sliding_friction(options, dt, reference, weight, gap, friction_share(&surface, options.impratio));
        let mut r = vec![law.r, r_t, r_t];
        // What is not remembered is bounded by the contact's impulse alone.
        let alone = ((v_hat - dot(&rows[0], self.v_star)) / (law.r + w)).max(0.0);
        let bound = before.unwrap_or(alone);
        let friction = if surface.resistance >= Resistance::Sliding { coefficient } else { 0.0 };
        let mut discs = Vec::new();
        let w_turn: f64 = nodes.iter().flatten().map(|node| mobility.of_turn(*node)).sum();
        if surface.resistance >= Resistance::Spinning && w_turn > 0.0 {
            let (rolling, [t1, t2]) = surface.rolling_tangents(normal);
            rows.extend([about(t1), about(t2), about(normal)]);
            r.extend([options.sigma * w_turn; 3]);
            discs.push(Disc { rows: 3..5, coefficient: rolling });
            discs.push(Disc { rows: 5..6, coefficient: surface.torsional_friction });
        }
        let belt = self.surface_velocity(geoms[1]) - self.surface_velocity(geoms[0]);
        let slides = |row: usize, t: Vec3<f64>| dot(&rows[row], self.start.v) + belt.dot(t);
        let along = [(1, t1), (2, t2)].map(|(row, t)| per_slide * slides(row, t) - belt.dot(t));
        let mut v_hat_of_rows = vec![v_hat, along[0], along[1]];
        v_hat_of_rows.resize(rows.len(), 0.0);
        let law = if options.contact == ContactLaw::Sap {
            Law::Cone(friction, discs)
        } else {
            discs.push(Disc { rows: 1..3, coefficient: friction });
            Law::Contact(discs)
        };
        Some(Constraint { key, rows, r, v_hat: v_hat_of_rows, law, recovery, bound })
    }
}

/// R of friction over R along the normal: of an elliptic cone 1/impratio; the edges of a pyramid, 2 (rows − 1), each have R along their friction.
fn friction_share(surface: &Material, impratio: Option<f64>) -> f64 {
    let rows = match surface.resistance {
        Resistance::None => 1.0,
        Resistance::Sliding => 3.0,
        Resistance::Spinning => 4.0,
        Resistance::Rolling => 6.0,
    };
    let is_pyramid = matches!(surface.compliance, Compliance::Reference(reference) if reference.pyramid > 0.0);
    match impratio {
        Some(_) if is_pyramid && rows > 1.0 => (rows - 1.0) / (surface.friction * surface.friction).max(1e-9),
        ratio => 1.0 / ratio.unwrap_or(1.0),
    }
}

/// What a pyramid of friction makes of the inverse weight: its 2 (rows − 1) edges each have R 2 μ² (1 + μ²), and act together.
fn cone_share(surface: &Material) -> f64 {
    let Compliance::Reference(reference) = surface.compliance else { return 1.0 };
    let edges = match surface.resistance {
        Resistance::None => return 1.0,
        Resistance::Sliding => 4.0,
        Resistance::Spinning => 6.0,
        Resistance::Rolling => 10.0,
    };
    let squared = surface.friction * surface.friction;
    if reference.pyramid == 0.0 { 1.0 } else { 2.0 * squared * reference.pyramid * (1.0 + squared) / edges }
}
