//! The numbers of a plan that worlds may have of their own: masses, friction, gains and the like, and what follows from it.

use geometry::Scene;
use multibody::{Drag, EffectiveMass, InverseWeights, Material, Model, Node, NodeMobility, SpringPoint, Transmission};
use spatial::{Mat3, Real, Sym3, Vec3};

use super::contacts::PairSurface;
use super::{Constraints, Contacts, PdNumbers, PlanDrag, PlanDrive, PlanFrame, PlanPair, weights};

/// Numbers of one world (`T` is f64), or of a world in each lane.
#[derive(Clone, Debug)]
pub struct Numbers<T: Real> {
    pub(crate) gravity: Vec3<T>,
    /// Whether trees differ much in mass, in any lane.
    pub is_uneven: bool,
    pub(crate) nodes: Vec<NodeNumbers<T>>,
    pub(crate) trees: Vec<TreeNumbers<T>>,
    /// Λ, (nv): armature, and what is implicit of springs, dampers and servos.
    pub(crate) lambda: Vec<T>,
    /// Half the armature, (nv).
    pub(crate) half_armature: Vec<T>,
    /// Impulse per velocity at the beginning of the step, (nv): that of dampers, and of springs as far as they look ahead.
    pub(crate) resistance: Vec<T>,
    /// Greatest impulse of dry friction, (nv): dt times the force.
    pub(crate) dry_friction: Vec<T>,
    /// Impulse per stretch of each of the [springs](super::Plan::springs), by degrees of freedom: −dt k.
    pub(crate) springs: Vec<[T; 6]>,
    /// By controls.
    pub(crate) actuators: Vec<ActuatorNumbers<T>>,
    /// PD control by degrees of freedom, (nv), empty without.
    pub(crate) pd: Vec<PdNumbers<T>>,
    /// Both ends of each of the [limits](super::Plan::limits), and how far balls may turn.
    pub(crate) ranges: Vec<[T; 2]>,
    pub(crate) ball_ranges: Vec<T>,
    /// The frames of ties.
    pub(crate) ties: Vec<[PlanFrame<T>; 2]>,
    /// Sliding friction by contact slots, 0 where the surfaces resist nothing; the larger of two coefficients.
    pub(crate) friction: Vec<T>,
    /// Both coefficients by contact slots, empty where friction is the same in all directions.
    pub(crate) ellipses: Vec<[T; 2]>,
    /// Rolling and torsional friction of the slots that have it, m.
    pub(crate) spins: Vec<[T; 2]>,
    /// [`InverseWeights`] of the constraints after the contacts, and of the contacts' pairs.
    pub(crate) inverse_weights: Vec<T>,
    pub(crate) pair_weights: Vec<T>,
    /// Centres of mass of the bodies, in the turned axes of their nodes.
    pub(crate) coms: Vec<Vec3<T>>,
    /// How a medium resists each of the [bodies in it](super::Plan::drags).
    pub(crate) drags: Vec<Drag<T>>,
}

/// A node, its axes turned so that a joint's axis is z.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeNumbers<T: Real> {
    pub mass: T,
    pub com: Vec3<T>,
    /// About the centre of mass.
    pub inertia: Sym3<T>,
    /// Mass and mass moment that gravity acts on.
    pub weight: (T, Vec3<T>),
    pub mobility: NodeMobility<T>,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct TreeNumbers<T> {
    /// How easily it is moved as one body where trees differ much in mass, else infinite: [`EffectiveMass::of_heaviest`].
    pub as_one: T,
    pub half_mass: T,
    pub mass: T,
    /// 1 over the mass, 0 of what has none.
    pub per_mass: T,
}

/// An actuator along what it acts on: force = per_ctrl·u + constant + per_length·x + per_velocity·ẋ, the spring as far ahead as the step takes
/// it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ActuatorNumbers<T> {
    pub per_ctrl: T,
    pub constant: T,
    pub per_length: T,
    pub per_velocity: T,
    pub impedance: T,
    /// See [`InverseWeights::of_actuator`].
    pub mobility: T,
}

/// What the numbers of a model depend on beside it.
pub(crate) struct Setting<'a> {
    pub dt: f64,
    pub contacts: &'a Contacts,
    pub constraints: &'a Constraints,
    pub turns: &'a [Mat3<f64>],
    pub pd: &'a [PdNumbers<f64>],
    /// Actuators of joints whose force opposes motion.
    pub drives: &'a [PlanDrive],
    /// Of the model.
    pub weights: &'a InverseWeights,
    /// Of the model with Λ the armature alone.
    pub mass: &'a EffectiveMass,
    /// By pairs.
    pub surfaces: &'a [PairSurface],
}

impl Numbers<f64> {
    /// The same numbers with other frictions and gravity.
    pub(crate) fn with_surfaces(&self, model: &Model, contacts: &Contacts, surfaces: &[PairSurface]) -> Self {
        // What a reference makes of a pair's mass depends on its friction.
        let weight = |((pair, of), weight): ((&PlanPair, &PairSurface), &f64)| {
            let own = self.ellipses.get(pair.first).filter(|_| pair.is_elliptic).map(|[first, _]| *first);
            let friction = own.or(self.friction.get(pair.first).copied()).unwrap_or(of.material.friction);
            let before = Material { friction, ..of.material };
            weight * (of.material.share_of_cone() / before.share_of_cone())
        };
        let pair_weights = contacts.pairs.iter().zip(surfaces).zip(&self.pair_weights).map(weight).collect();
        let Frictions { friction, ellipses, spins } = Frictions::new(contacts, surfaces);
        Self { gravity: model.gravity, friction, ellipses, spins, pair_weights, ..self.clone() }
    }

    /// Those of a model; with them, which nodes have points that cannot be moved in every direction.
    pub(crate) fn new(model: &Model, scene: &Scene, setting: &Setting<'_>) -> (Self, Vec<bool>) {
        let Setting { dt, contacts, constraints, turns, pd, weights: inverse, surfaces, .. } = *setting;
        let resistance =
            |i: usize| -dt * (model.damping[i] + spring_point(model, inverse, dt, i).ahead(dt, model.stiffness[i]));
        let actuators: Vec<_> = (0..model.nu()).map(|k| ActuatorNumbers::new(model, inverse, k, dt)).collect();
        let [lambda, implicit] = impedances(model, setting, &actuators);
        let mut mass = setting.mass.clone();
        for (k, dofs) in model.tree.dofs.iter().enumerate() {
            mass.update(k, dofs.clone(), &implicit[dofs.clone()]);
        }
        let weights = weights(model, turns);
        let node = |(i, node): (usize, &Node<f64>)| {
            let turn = turns[i];
            NodeNumbers {
                mass: node.inertia.mass,
                com: turn.transpose_mul(node.inertia.com),
                inertia: node.inertia.inertia.rotated(turn.transpose()),
                weight: weights[i],
                mobility: mass.node(i).turned(&turn),
            }
        };
        let nodes: Vec<_> = model.tree.nodes.iter().enumerate().map(node).collect();
        let tree = |(k, of): (usize, &std::ops::Range<usize>)| {
            let all: f64 = nodes[of.clone()].iter().map(|node| node.mass).sum();
            TreeNumbers {
                as_one: mass.of_heaviest(std::iter::once(k)),
                half_mass: 0.5 * all,
                mass: all,
                per_mass: if all > 0.0 { 1.0 / all } else { 0.0 },
            }
        };
        let Frictions { friction, ellipses, spins } = Frictions::new(contacts, surfaces);
        let trees = model.tree.trees.iter().enumerate().map(tree).collect();
        let com = |body: &multibody::Body| {
            let turn = body.node.map_or(Mat3::IDENTITY, |node| turns[node]);
            turn.transpose_mul(body.pose.transform_point(body.inertia.com))
        };
        let numbers = Self {
            gravity: model.gravity,
            is_uneven: mass.is_uneven(),
            trees,
            lambda,
            half_armature: model.armature.iter().map(|armature| 0.5 * armature).collect(),
            resistance: (0..model.nv()).map(resistance).collect(),
            dry_friction: model.friction_loss.iter().map(|force| dt * force).collect(),
            springs: super::springs(model).map(|(_, stiffness)| stiffness.map(|k| -dt * k)).collect(),
            actuators,
            pd: pd.to_vec(),
            ranges: super::limits(model).map(|(_, (low, high))| [low, high]).collect(),
            ball_ranges: super::ball_limits(model).map(|(_, _, most)| most).collect(),
            ties: constraints.tie_frames(model, turns, &contacts.carried),
            friction,
            ellipses,
            spins,
            inverse_weights: constraints.inverse_weights(model, inverse),
            pair_weights: pair_weights(scene, setting),
            coms: model.bodies.iter().map(com).collect(),
            drags: PlanDrag::of_model(model, turns).map(|(_, drag)| drag).collect(),
            nodes,
        };
        (numbers, (0..model.tree.len()).map(|i| mass.has_fulcrum(i)).collect())
    }
}

/// Λ of what is no drive, (nv): armature, springs and dampers.
pub(super) fn passive_impedance(model: &Model, weights: &InverseWeights, dt: f64) -> Vec<f64> {
    let of = |i: usize| {
        let point = spring_point(model, weights, dt, i);
        model.armature[i] + point.impedance(dt, model.stiffness[i], model.damping[i])
    };
    (0..model.nv()).map(of).collect()
}

/// Where a step takes the spring of a degree of freedom.
fn spring_point(model: &Model, weights: &InverseWeights, dt: f64, dof: usize) -> SpringPoint<f64> {
    SpringPoint::of(dt * dt * model.stiffness[dof] * weights.axes[dof])
}

/// The inverse weights of the contacts of all pairs.
fn pair_weights(scene: &Scene, &Setting { contacts, surfaces, weights, .. }: &Setting<'_>) -> Vec<f64> {
    let of = |(pair, surface): (&PlanPair, &PairSurface)| {
        let shifts = pair.pair.geoms.map(|geom| weights.shifts[scene.geoms[geom].body]);
        (shifts[0] + shifts[1]) * surface.material.share_of_cone()
    };
    contacts.pairs.iter().zip(surfaces).map(of).collect()
}

/// Λ of every degree of freedom, (nv): with PD control that has no limits, and with all drives.
fn impedances(model: &Model, setting: &Setting<'_>, actuators: &[ActuatorNumbers<f64>]) -> [Vec<f64>; 2] {
    let Setting { dt, pd, drives, weights, .. } = *setting;
    let mut lambda = passive_impedance(model, weights, dt);
    let mut implicit = lambda.clone();
    drives.iter().for_each(|drive| implicit[drive.v] += drive_impedance(drive, actuators));
    for (v, of) in pd.iter().enumerate() {
        implicit[v] += of.impedance;
        if of.is_limited == 0.0 {
            lambda[v] += of.impedance;
        }
    }
    [lambda, implicit]
}

/// The impedance of a drive over a step.
pub(super) fn drive_impedance(drive: &PlanDrive, actuators: &[ActuatorNumbers<f64>]) -> f64 {
    drive.actuators.iter().map(|actuator| actuators[actuator.ctrl].impedance).sum()
}

/// The friction of all contact points.
struct Frictions {
    friction: Vec<f64>,
    ellipses: Vec<[f64; 2]>,
    /// Lengths of those with rolling or torsional friction.
    spins: Vec<[f64; 2]>,
}

impl Frictions {
    fn new(contacts: &Contacts, surfaces: &[PairSurface]) -> Self {
        let mut all = Self { friction: Vec::with_capacity(contacts.slots), ellipses: Vec::new(), spins: Vec::new() };
        let has_ellipses = contacts.pairs.iter().any(|pair| pair.is_elliptic);
        for (pair, PairSurface { material, spin }) in contacts.pairs.iter().zip(surfaces) {
            let both = material.frictions();
            all.friction.extend(std::iter::repeat_n(both[0].max(both[1]), pair.count));
            if has_ellipses {
                all.ellipses.extend(std::iter::repeat_n(both, pair.count));
            }
            if spin.is_any() {
                all.spins.extend(std::iter::repeat_n([spin.rolling, spin.torsional], pair.count));
            }
        }
        all
    }
}

impl ActuatorNumbers<f64> {
    fn new(model: &Model, weights: &InverseWeights, ctrl: usize, dt: f64) -> Self {
        let actuator = &model.actuators[ctrl];
        let gear = match actuator.transmission {
            Transmission::Joint { gear, .. } | Transmission::Tendon { gear, .. } => gear,
            Transmission::JointAxes { .. }
            | Transmission::Site { .. }
            | Transmission::SliderCrank { .. }
            | Transmission::Orientation { .. }
            | Transmission::Input
            | Transmission::Unsupported => 0.0,
            Transmission::Adhesion { .. } => 1.0,
        };
        let [b0, b1, b2] = actuator.law.bias;
        // What would feed energy in stays explicit.
        let (stiffness, damping) = ((-b1).max(0.0), (-b2).max(0.0));
        let (mobility, squared) = (weights.of_actuator(model, ctrl), gear * gear);
        let point = SpringPoint::of(dt * dt * stiffness * mobility);
        Self {
            per_ctrl: actuator.law.gain * gear,
            constant: b0 * gear,
            per_length: b1 * squared,
            per_velocity: (b2 - point.ahead(dt, stiffness)) * squared,
            impedance: squared * point.impedance(dt, stiffness, damping),
            mobility,
        }
    }
}

impl<T: Real> Numbers<T> {
    /// The same of each number, in an order that is always the same.
    pub fn map<U: Real>(&self, f: &mut impl FnMut(T) -> U) -> Numbers<U> {
        fn all<T: Copy, U>(of: &[T], f: &mut impl FnMut(T) -> U) -> Vec<U> {
            of.iter().map(|x| f(*x)).collect()
        }
        Numbers {
            gravity: self.gravity.map(&mut *f),
            is_uneven: self.is_uneven,
            nodes: self.nodes.iter().map(|node| node.map(f)).collect(),
            trees: self.trees.iter().map(|tree| tree.map(f)).collect(),
            lambda: all(&self.lambda, f),
            half_armature: all(&self.half_armature, f),
            resistance: all(&self.resistance, f),
            dry_friction: all(&self.dry_friction, f),
            springs: self.springs.iter().map(|k| k.map(&mut *f)).collect(),
            actuators: self.actuators.iter().map(|actuator| actuator.map(f)).collect(),
            pd: self.pd.iter().map(|of| of.map(f)).collect(),
            ranges: self.ranges.iter().map(|range| range.map(&mut *f)).collect(),
            ball_ranges: all(&self.ball_ranges, f),
            ties: self.ties.iter().map(|[a, b]| [a.map(f), b.map(f)]).collect(),
            friction: all(&self.friction, f),
            ellipses: self.ellipses.iter().map(|both| both.map(&mut *f)).collect(),
            inverse_weights: all(&self.inverse_weights, f),
            pair_weights: all(&self.pair_weights, f),
            spins: self.spins.iter().map(|spin| spin.map(&mut *f)).collect(),
            coms: self.coms.iter().map(|com| com.map(&mut *f)).collect(),
            drags: self.drags.iter().map(|drag| drag.map(f)).collect(),
        }
    }
}

impl<T: Real> PlanFrame<T> {
    pub fn map<U: Real>(&self, f: &mut impl FnMut(T) -> U) -> PlanFrame<U> {
        PlanFrame { pos: self.pos.map(&mut *f), rot: self.rot.map(f) }
    }
}

impl<T: Real> NodeNumbers<T> {
    fn map<U: Real>(&self, f: &mut impl FnMut(T) -> U) -> NodeNumbers<U> {
        NodeNumbers {
            mass: f(self.mass),
            com: self.com.map(&mut *f),
            inertia: self.inertia.map(&mut *f),
            weight: (f(self.weight.0), self.weight.1.map(&mut *f)),
            mobility: self.mobility.map(f),
        }
    }
}

/// `map` of numbers that are all of one kind.
macro_rules! map_fields {
    ($name:ident: $($field:ident),*) => {
        impl<T: Copy> $name<T> {
            pub fn map<U: Real>(&self, f: &mut impl FnMut(T) -> U) -> $name<U> {
                $name { $($field: f(self.$field)),* }
            }
        }
    };
}
map_fields!(TreeNumbers: as_one, half_mass, mass, per_mass);
map_fields!(ActuatorNumbers: per_ctrl, constant, per_length, per_velocity, impedance, mobility);
map_fields!(PdNumbers: kp, kd, target_velocity, impedance, most, is_limited);
