//! The soft bodies of a simulation: contact points, free motion, and the response of all nodes to constraints on those touched.

use std::ops::Range;
use std::sync::Arc;

use deformable::{Dynamics, Refinement, StepError, ThetaStep};
use geometry::{
    Attachment, Exemption, Movement, Scene, SoftCollider, SoftContact, SoftMovement, SoftPartner, SoftPoint,
};
use geometry::{SoftAttachment, SoftSurface};
use spatial::{Sym3, Vec3};
use support::{Interrupt, ThreadPool};

use crate::scheme::Discretization;
use crate::soft_part::SoftPart;
use crate::{Energy, State, Theta};

/// A side of a contact on a soft body: which of the bodies, and the point of its part.
pub(crate) type SoftEnd = (usize, usize);

/// The soft bodies of a scene, and their part in a step.
#[derive(Clone, Debug)]
pub(crate) struct SoftBodies {
    dynamics: Vec<Dynamics>,
    /// What constraints see of them.
    pub parts: Vec<SoftPart>,
    /// Their coordinates among those of all.
    ranges: Vec<Range<usize>>,
    collider: SoftCollider,
    /// The contact points in reach, and the points of the parts that these are of.
    pub contacts: Vec<SoftContact>,
    pub ends: Vec<(SoftEnd, Option<SoftEnd>)>,
    /// The gaps that the points start the step with, m.
    pub gaps: Vec<f64>,
    /// Nodes that bodies hold, none of them pinned, and the points of the parts that these are.
    pub holds: Vec<SoftAttachment>,
    pub hold_ends: Vec<SoftEnd>,
    /// Velocities that the step starts from and those at its end, and those that move positions where these are righted.
    pub v_start: Vec<f64>,
    pub v_next: Vec<f64>,
    v_of_x: Vec<f64>,
    /// Where constraints are taken.
    x_at: Vec<f64>,
    displacements: Vec<f64>,
    /// The touched nodes that the factors are of; whether these are known.
    condensed: bool,
    /// What of the energy of each body the step makes of nothing.
    energy_gains: Vec<f64>,
    change: Vec<f64>,
}

impl SoftBodies {
    /// Those of a scene, its geoms moving as `attachments` say; `group_of` is the rigid group of a body.
    pub fn new(
        scene: &Arc<Scene>,
        attachments: &[Attachment],
        group_of: impl Fn(usize) -> usize,
    ) -> Result<Self, geometry::SoftSurfaceError> {
        let surface = |(index, body): (usize, &Arc<deformable::SoftBody>)| {
            let held = scene.soft_attachments.iter().filter(|hold| hold.soft == index);
            SoftSurface {
                nodes: body.mesh.positions().to_vec(),
                triangles: body.surface().triangles.clone(),
                contype: 1,
                conaffinity: 1,
                radius: body.radius,
                self_contact: body.self_contact,
                exempt: held.map(|hold| Exemption { node: hold.node, group: group_of(hold.body) }).collect(),
                ..SoftSurface::default()
            }
        };
        let bodies = &scene.soft_bodies;
        let surfaces: Vec<SoftSurface> = bodies.iter().enumerate().map(surface).collect();
        let mut end = 0;
        let range = |body: &Arc<deformable::SoftBody>| {
            end += 3 * body.node_count();
            end - 3 * body.node_count()..end
        };
        let ranges: Vec<_> = bodies.iter().map(range).collect();
        let zeros = || vec![0.0; ranges.last().map_or(0, |range| range.end)];
        let is_free = |hold: &&SoftAttachment| !bodies[hold.soft].is_pinned(hold.node);
        Ok(Self {
            dynamics: bodies.iter().map(Dynamics::new).collect(),
            parts: vec![SoftPart::default(); bodies.len()],
            collider: SoftCollider::new(scene, attachments, &surfaces)?,
            contacts: Vec::new(),
            ends: Vec::new(),
            gaps: Vec::new(),
            holds: scene.soft_attachments.iter().filter(is_free).copied().collect(),
            hold_ends: Vec::new(),
            v_start: zeros(),
            v_next: zeros(),
            v_of_x: zeros(),
            x_at: zeros(),
            displacements: zeros(),
            condensed: false,
            energy_gains: vec![0.0; bodies.len()],
            change: Vec::new(),
            ranges,
        })
    }

    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    pub fn set_interrupt(&mut self, interrupt: &Interrupt) {
        self.collider.set_interrupt(interrupt);
    }

    /// Why the contact points found are not all.
    pub fn overflow(&self) -> Option<geometry::TooMany> {
        self.collider.overflow()
    }

    /// The coordinates of a body among those of all.
    pub fn range(&self, body: usize) -> Range<usize> {
        self.ranges[body].clone()
    }

    pub fn body(&self, body: usize) -> &Arc<deformable::SoftBody> {
        self.dynamics[body].body()
    }

    /// A step from `state`, constraints taken at its beginning.
    pub fn begin(&mut self, state: &State) {
        self.v_start.copy_from_slice(&state.soft_velocities);
        self.x_at.copy_from_slice(&state.soft_positions);
        self.condensed = false;
    }

    /// The fastest node along an axis at the beginning of the step, m/s.
    pub fn fastest(&self) -> f64 {
        self.v_start.iter().fold(0.0, |fastest, v| f64::max(fastest, v.abs()))
    }

    /// Finds the contact points that the step may close: where the nodes are at the beginning, or with `theta` where free motion has
    /// led them to at the place where the scheme takes constraints. Contacts push from a distance of `hovering` on, m, where nothing
    /// comes nearer.
    pub fn detect(
        &mut self,
        movement: impl Fn(usize) -> Movement,
        state: &State,
        gravity: Vec3<f64>,
        dt: f64,
        hovering: f64,
        theta: Option<Theta>,
    ) {
        let x0 = &state.soft_positions;
        self.x_at.copy_from_slice(x0);
        let rest = if let Some(Theta { q, vq, .. }) = theta {
            for (dynamics, range) in self.dynamics.iter().zip(&self.ranges) {
                let ends = self.v_start[range.clone()].iter().zip(dynamics.v_star());
                for (x, (v0, v)) in self.x_at[range.clone()].iter_mut().zip(ends) {
                    *x += q * dt * (v0 + vq * (v - v0));
                }
            }
            1.0 - q
        } else {
            1.0
        };
        self.displacements.iter_mut().zip(&self.v_start).for_each(|(d, v)| *d = dt * rest * v);
        let fastest = self.fastest();
        // The most that forces may change velocities in a step.
        let slack = dt * (2.0 * gravity.norm() * dt + 0.25 * fastest) + hovering;
        let soft = SoftMovement { positions: &self.x_at, displacements: &self.displacements, slack };
        self.collider.contacts(movement, &soft, &mut self.contacts);
        self.find_touched();
    }

    /// Notes which nodes constraints refer to, and their points.
    fn find_touched(&mut self) {
        let Self { parts, dynamics, contacts, ends, holds, hold_ends, x_at, ranges, .. } = self;
        for (part, dynamics) in parts.iter_mut().zip(&*dynamics) {
            part.clear(dynamics.body().node_count());
        }
        let touch = |parts: &mut [SoftPart], point: &SoftPoint| {
            let (part, body) = (&mut parts[point.body as usize], dynamics[point.body as usize].body());
            point.parts().filter(|(node, _)| !body.is_pinned(*node)).for_each(|(node, _)| part.touch(node));
        };
        for contact in contacts.iter() {
            touch(parts, &contact.point);
            if let SoftPartner::Soft(point) = &contact.partner {
                touch(parts, point);
            }
        }
        holds.iter().for_each(|hold| parts[hold.soft].touch(hold.node));
        parts.iter_mut().for_each(SoftPart::number);
        let mut add = |point: &SoftPoint| {
            let (body, x) = (point.body as usize, &x_at[ranges[point.body as usize].clone()]);
            (body, parts[body].add_point(&point.nodes, &point.weights, x))
        };
        ends.clear();
        ends.extend(contacts.iter().map(|contact| {
            let other = if let SoftPartner::Soft(point) = &contact.partner { Some(add(point)) } else { None };
            (add(&contact.point), other)
        }));
        hold_ends.clear();
        hold_ends.extend(holds.iter().map(|hold| add(&SoftPoint::node(hold.soft as u32, hold.node))));
    }

    /// Free motion of a step, or with a step of no length the bodies as they are; which body failed where one does. Returns the most Newton
    /// steps. What is touched and not linear is linearised at the beginning of the step: see [`refine`](Self::refine).
    pub fn move_freely(
        &mut self,
        state: &State,
        step: ThetaStep,
        gravity: Vec3<f64>,
        interrupt: &Interrupt,
        pool: &mut ThreadPool,
    ) -> Result<usize, (usize, StepError)> {
        let mut most = 0;
        for (k, (dynamics, part)) in self.dynamics.iter_mut().zip(&mut self.parts).enumerate() {
            let range = self.ranges[k].clone();
            let (x0, v0) = (&state.soft_positions[range.clone()], &self.v_start[range.clone()]);
            if !(self.condensed && dynamics.touched() == part.touched) {
                let applied = Some(&state.soft_forces[range.clone()]);
                dynamics.share_factor(state.soft_factors.get(factor_origin(&range, k)));
                let report = dynamics.free_motion(x0, v0, &step, gravity, applied, &part.touched, interrupt, pool);
                let report = report.map_err(|error| (k, error))?;
                most = most.max(report.iterations);
                self.energy_gains[k] = report.energy_gain;
            }
            part.begin(v0, dynamics);
        }
        self.condensed = true;
        Ok(most)
    }

    /// Whether the equation of some body may have to be made anew where constraints lead it.
    pub fn are_refined(&self) -> bool {
        self.dynamics.iter().any(Dynamics::is_refined)
    }

    /// Most that the step makes of nothing of the energy of a body.
    pub fn energy_gain(&self) -> f64 {
        self.energy_gains.iter().fold(0.0, |most, gain| f64::max(most, *gain))
    }

    /// Linearises a body anew where its equation does not hold with the velocities that constraints have led to, of its touched nodes `touched`:
    /// the constraints are to be solved once more then. Those of all nodes are [known](Self::follow).
    pub fn refine(
        &mut self,
        body: usize,
        touched: Option<&[f64]>,
        state: &State,
        step: &ThetaStep,
        interrupt: &Interrupt,
        pool: &mut ThreadPool,
    ) -> Result<Refinement, StepError> {
        let Self { dynamics, parts, ranges, v_start, v_next, change, .. } = self;
        let (range, part, dynamics) = (ranges[body].clone(), &mut parts[body], &mut dynamics[body]);
        change.clear();
        match touched {
            Some(touched) => change.extend(touched.iter().zip(&part.v_star).map(|(v, v_star)| v - v_star)),
            None => change.resize(part.nv(), 0.0),
        }
        let (x0, v0) = (&state.soft_positions[range.clone()], &v_start[range.clone()]);
        let refinement = dynamics.refine(x0, v0, step, change, &v_next[range], interrupt, pool)?;
        self.energy_gains[body] = refinement.energy_gain;
        if refinement.is_needed {
            part.begin(v0, dynamics);
        }
        Ok(refinement)
    }

    /// The step starts from the velocities at its end: those after an impact.
    pub fn start_from_end(&mut self) {
        self.v_start.copy_from_slice(&self.v_next);
    }

    /// Has free motion to be found anew: velocities at the beginning have changed.
    pub fn forget_free_motion(&mut self) {
        self.condensed = false;
    }

    /// All velocities of a body where those of its touched nodes are `touched`, or where nothing pushes it.
    pub fn follow(&mut self, body: usize, touched: Option<&[f64]>, recovers: bool) -> &mut [f64] {
        let Self { dynamics, parts, ranges, v_next, v_of_x, change, .. } = self;
        let out = &mut if recovers { v_of_x } else { v_next }[ranges[body].clone()];
        match touched {
            Some(touched) => {
                change.clear();
                change.extend(touched.iter().zip(&parts[body].v_star).map(|(v, v_star)| v - v_star));
                dynamics[body].respond(change, out);
            }
            None => out.copy_from_slice(dynamics[body].v_star()),
        }
        out
    }

    /// Moves a body to the end of the step; it `recovers` where positions move by other velocities than those at the end.
    pub fn advance(&self, body: usize, recovers: bool, dt: f64, vq: f64, state: &mut State) {
        let range = self.ranges[body].clone();
        let ends = self.v_start[range.clone()].iter().zip(&self.v_next[range.clone()]);
        let righted = self.v_of_x[range.clone()].iter();
        for ((x, (v0, v)), v_of_x) in state.soft_positions[range.clone()].iter_mut().zip(ends).zip(righted) {
            let righted = if recovers { v_of_x - v } else { 0.0 };
            *x += dt * (v0 + vq * (v - v0) + righted);
        }
        state.soft_velocities[range.clone()].copy_from_slice(&self.v_next[range.clone()]);
        state.soft_factors.resize(self.v_next.len() + self.parts.len(), 0.0);
        state.soft_factors[factor_origin(&range, body)].copy_from_slice(self.dynamics[body].factor_origin());
    }

    /// Adds the energies at the state.
    pub fn add_energy(&mut self, state: &State, gravity: Vec3<f64>, energy: &mut Energy) {
        for (dynamics, range) in self.dynamics.iter_mut().zip(&self.ranges) {
            let (x, v) = (&state.soft_positions[range.clone()], &state.soft_velocities[range.clone()]);
            let own = dynamics.energy(x, v, gravity);
            energy.kinetic += own.kinetic;
            energy.potential += own.elastic + own.potential;
        }
    }

    /// Energies of one body.
    pub fn energy_of(&mut self, body: usize, state: &State, gravity: Vec3<f64>) -> deformable::Energy {
        let range = self.ranges[body].clone();
        self.dynamics[body].energy(&state.soft_positions[range.clone()], &state.soft_velocities[range], gravity)
    }

    /// Stresses of one body at its nodes.
    pub fn node_stresses_of(&mut self, body: usize, state: &State, stresses: &mut [Sym3<f64>]) {
        let range = self.ranges[body].clone();
        self.dynamics[body].node_stresses(&state.soft_positions[range], stresses);
    }

    /// Von Mises stresses of one body at its nodes.
    pub fn von_mises_of(&mut self, body: usize, state: &State, out: &mut [f64]) {
        let range = self.ranges[body].clone();
        self.dynamics[body].von_mises(&state.soft_positions[range], out);
    }
}

/// Where the factor of soft body `body` was made among those of all, its coordinates being `range` of those of all.
fn factor_origin(range: &Range<usize>, body: usize) -> Range<usize> {
    range.start + body..range.end + body + 1
}

/// θ of the elastic forces of soft bodies, and of how their positions follow: that of springs, and the end of the step where the scheme is
/// explicit by its name, which would need steps of microseconds.
pub(crate) fn theta(scheme: crate::Scheme, step: &Discretization) -> Theta {
    if scheme == crate::Scheme::ExplicitEuler { Theta { q: 1.0, v: 1.0, vq: 1.0 } } else { step.compliant }
}
