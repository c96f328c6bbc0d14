//! What observations and rewards of the suite are made of.

use batch::World;
use geometry::Geom;
use multibody::Model;
use spatial::{Mat3, Vec3};

use crate::quantities::{Quantities, Scratch};

/// What can be seen of a world, and the numbers that make up the goal of its episode.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub all: &'a Quantities<'a>,
    pub world: &'a World<'a>,
    pub goal: &'a [f64],
    /// Placements and velocities of the world.
    pub scratch: &'a Scratch,
}

/// A coordinate of the goal.
#[derive(Clone, Copy, Debug)]
pub(super) enum Coordinate {
    /// The same in every episode.
    Fixed(f64),
    /// An entry of the goal.
    Entry(usize),
}

/// A point.
#[derive(Clone, Copy, Debug)]
pub(super) enum Point {
    /// Of a body, in its frame.
    InBody(usize, Vec3<f64>),
    /// Where the goal is, in the world.
    Goal([Coordinate; 3]),
    /// Of a target that turns about the y axis of the world, in its frame; the goal is its x, z and angle, and its y is given.
    OnGoal(Vec3<f64>, f64),
}

/// Axes fixed in a body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Axes {
    pub body: usize,
    /// From these axes to those of the body.
    pub rot: Mat3<f64>,
}

/// Numbers, one after another. Entries of vectors are 0 to 2 for x to z.
#[derive(Clone, Debug)]
pub(super) enum Quantity {
    /// Positions.
    Q(Vec<usize>),
    /// Sine and cosine of each of these positions.
    SinesAndCosines(Vec<usize>),
    /// Velocities.
    V(Vec<usize>),
    /// Controls, as they came.
    Controls,
    /// All activations, how many there are.
    Activations(usize),
    /// Numbers of sensors.
    Sensors(Vec<usize>),
    /// The inverse hyperbolic sine of each number.
    InverseSinh(Box<Quantity>),
    /// The sum of some numbers.
    Sum(Box<Quantity>),
    /// A vector of the world in the axes of a body, its first entries.
    InBody(usize, Box<Quantity>, usize),
    /// Entries (row, column) of the rotation of each body: component of the row's world axis of the column's body axis.
    Rotations(Vec<usize>, &'static [(usize, usize)]),
    /// Entries of a body's place and turn about the y axis: x, z, and w, y of its quaternion.
    PlanarPose(usize),
    /// Entries of a point.
    Position(Point, &'static [usize]),
    /// Entries of the vector between two points, in axes of a body or the world's.
    Between { from: Point, to: Point, axes: Option<Axes>, entries: &'static [usize] },
    /// The velocity of a point less that of another, in axes of a body.
    MovesApart { from: Point, to: Point, axes: Axes },
    /// Entries of the velocity of the centre of mass of these bodies.
    CenterVelocity(Vec<usize>, &'static [usize]),
    /// Velocity (entries 0 to 2) and angular velocity (3 to 5) of a site, in its axes.
    SiteVelocity(usize, &'static [usize]),
    /// The logarithm of one and the normal force on each site, N.
    Touch(Vec<usize>),
    /// x, z, and cosine and sine of half the angle, of a goal that has an angle; without it, x and z.
    GoalPose { has_angle: bool },
    /// The length of a vector, less a constant.
    Length(Box<Quantity>, f64),
    /// The least of some numbers.
    Least(Vec<Quantity>),
    /// The mean of some numbers.
    Average(Vec<Quantity>),
    /// The hyperbolic tangent of each distance that a range finder shows; 1 where it finds nothing.
    Range(Box<Quantity>),
}

/// A body and all that hangs on it.
pub(super) fn subtree(model: &Model, root: usize) -> Vec<usize> {
    let mut is_in = vec![false; model.bodies.len()];
    for (index, body) in model.bodies.iter().enumerate().skip(root) {
        is_in[index] = index == root || (index > 0 && is_in[body.parent]);
    }
    (0..is_in.len()).filter(|body| is_in[*body]).collect()
}

/// The centre of a geom.
pub(super) fn center_of(geom: &Geom) -> Point {
    Point::InBody(geom.body, geom.pose.pos)
}

impl View<'_> {
    fn place(&self, point: Point) -> Vec3<f64> {
        match point {
            Point::InBody(body, offset) => {
                let frame = self.all.frame(body, self.scratch);
                frame.pos + frame.rot * offset
            }
            Point::Goal(coordinates) => {
                let [x, y, z] = coordinates.map(|coordinate| match coordinate {
                    Coordinate::Fixed(x) => x,
                    Coordinate::Entry(entry) => self.goal[entry],
                });
                Vec3::new(x, y, z)
            }
            Point::OnGoal(Vec3 { x, y, z, .. }, height) => {
                let (sin, cos) = (libm::sin(self.goal[2]), libm::cos(self.goal[2]));
                Vec3::new(self.goal[0] + cos * x + sin * z, height + y, self.goal[1] - sin * x + cos * z)
            }
        }
    }

    /// Velocity of a point of a body, and the body's angular velocity.
    fn velocity(&self, body: usize, point: Vec3<f64>) -> (Vec3<f64>, Vec3<f64>) {
        match self.all.twist(body, point, self.scratch) {
            Some(twist) => (twist.lin, twist.ang),
            None => (Vec3::ZERO, Vec3::ZERO),
        }
    }

    /// The velocity of a point of a body; of a goal, which stands, zero.
    fn point_velocity(&self, point: Point) -> Vec3<f64> {
        let Point::InBody(body, _) = point else { return Vec3::ZERO };
        self.velocity(body, self.place(point)).0
    }

    /// A vector of the world in axes of a body.
    fn inward(&self, vector: Vec3<f64>, axes: Axes) -> Vec3<f64> {
        let rot = self.all.frame(axes.body, self.scratch).rot;
        axes.rot.transpose_mul(rot.transpose_mul(vector))
    }

    fn site_velocity(&self, site: usize) -> [f64; 6] {
        let site = &self.all.model.sites[site];
        let frame = self.all.frame(site.body, self.scratch);
        let (lin, ang) = self.velocity(site.body, frame.pos + frame.rot * site.pose.pos);
        let rot = site.pose.rot.to_mat3();
        let inward = |v: Vec3<f64>| rot.transpose_mul(frame.rot.transpose_mul(v)).to_array();
        let ([a, b, c], [d, e, f]) = (inward(lin), inward(ang));
        [a, b, c, d, e, f]
    }

    fn center_velocity(&self, bodies: &[usize]) -> Vec3<f64> {
        let (mut momentum, mut mass) = (Vec3::ZERO, 0.0);
        for &body in bodies {
            let own = self.all.model.bodies[body].inertia.mass;
            momentum += self.velocity(body, self.all.body_com(body, self.scratch)).0 * own;
            mass += own;
        }
        if mass > 0.0 { momentum * (1.0 / mass) } else { Vec3::ZERO }
    }

    /// The normal forces on the site's body whose points, or rays from them away from the body, meet the site's volume, N.
    fn touch(&self, site: usize) -> f64 {
        let site = &self.all.model.sites[site];
        let frame = self.all.frame(site.body, self.scratch);
        let rot = site.pose.rot.to_mat3();
        let inward = |v: Vec3<f64>| rot.transpose_mul(frame.rot.transpose_mul(v));
        let center = frame.pos + frame.rot * site.pose.pos;
        let mut sum = 0.0;
        for contact in self.world.contacts {
            let ray = match contact.geoms.map(|geom| self.all.scene.geoms[geom].body) {
                [first, _] if first == site.body => contact.normal,
                [_, second] if second == site.body => -contact.normal,
                _ => continue,
            };
            let force = contact.force.dot(contact.normal);
            if force > 0.0 && site.shape.is_hit_by(inward(contact.position - center), inward(ray)) {
                sum += force;
            }
        }
        sum
    }
}

fn select(vector: Vec3<f64>, entries: &[usize], give: &mut dyn FnMut(f64)) {
    let vector = vector.to_array();
    entries.iter().for_each(|entry| give(vector[*entry]));
}

impl Quantity {
    /// Whether it depends on contact points.
    pub fn needs_contacts(&self) -> bool {
        match self {
            Self::Touch(_) => true,
            Self::Length(of, _) | Self::InverseSinh(of) | Self::Sum(of) | Self::InBody(_, of, _) | Self::Range(of) => {
                of.needs_contacts()
            }
            Self::Least(of) | Self::Average(of) => of.iter().any(Self::needs_contacts),
            _ => false,
        }
    }

    /// Whether it depends on activations or sensors.
    pub fn needs_sensors(&self) -> bool {
        match self {
            Self::Activations(_) | Self::Sensors(_) => true,
            Self::Length(of, _) | Self::InverseSinh(of) | Self::Sum(of) | Self::InBody(_, of, _) | Self::Range(of) => {
                of.needs_sensors()
            }
            Self::Least(of) | Self::Average(of) => of.iter().any(Self::needs_sensors),
            _ => false,
        }
    }

    /// How many numbers it has, of a model with so many controls.
    pub fn len(&self, controls: usize) -> usize {
        match self {
            Self::Q(of) | Self::V(of) | Self::Touch(of) | Self::Sensors(of) => of.len(),
            Self::Activations(count) | Self::InBody(_, _, count) => *count,
            Self::InverseSinh(of) | Self::Range(of) => of.len(controls),
            Self::MovesApart { .. } => 3,
            Self::SinesAndCosines(of) => 2 * of.len(),
            Self::Controls => controls,
            Self::Rotations(bodies, entries) => bodies.len() * entries.len(),
            Self::PlanarPose(_) => 4,
            Self::Position(_, entries)
            | Self::Between { entries, .. }
            | Self::CenterVelocity(_, entries)
            | Self::SiteVelocity(_, entries) => entries.len(),
            Self::GoalPose { has_angle } => 2 + 2 * usize::from(*has_angle),
            Self::Length(..) | Self::Least(_) | Self::Average(_) | Self::Sum(_) => 1,
        }
    }

    /// Gives its numbers, one after another.
    pub fn each(&self, view: &View<'_>, give: &mut dyn FnMut(f64)) {
        let world = view.world;
        match self {
            Self::Q(of) => of.iter().for_each(|index| give(world.q[*index])),
            Self::V(of) => of.iter().for_each(|index| give(world.v[*index])),
            Self::SinesAndCosines(of) => of.iter().for_each(|index| {
                give(libm::sin(world.q[*index]));
                give(libm::cos(world.q[*index]));
            }),
            Self::Controls => world.ctrl.iter().for_each(|control| give(*control)),
            // Where nobody has put any, they are zero.
            Self::Activations(count) => {
                (0..*count).for_each(|index| give(world.act.get(index).copied().unwrap_or_default()));
            }
            Self::Sensors(of) => {
                of.iter().for_each(|index| give(world.sensors.get(*index).copied().unwrap_or_default()));
            }
            Self::InverseSinh(of) => of.each(view, &mut |x| give(libm::asinh(x))),
            Self::Sum(of) => {
                let mut sum = 0.0;
                of.each(view, &mut |x| sum += x);
                give(sum);
            }
            Self::InBody(body, of, count) => {
                let (mut vector, mut k) = ([0.0; 3], 0);
                of.each(view, &mut |x| {
                    if let Some(entry) = vector.get_mut(k) {
                        *entry = x;
                    }
                    k += 1;
                });
                let inward = view.all.frame(*body, view.scratch).rot.transpose_mul(vector.into());
                inward.to_array()[..*count].iter().for_each(|x| give(*x));
            }
            Self::Rotations(bodies, entries) => {
                for body in bodies {
                    let rot = view.all.frame(*body, view.scratch).rot;
                    entries.iter().for_each(|(row, column)| give(rot.at(*row, *column)));
                }
            }
            Self::PlanarPose(body) => {
                let frame = view.all.frame(*body, view.scratch);
                let turn = view.all.orientation(*body, view.scratch);
                [frame.pos.x, frame.pos.z, turn.w, turn.y].into_iter().for_each(give);
            }
            Self::Position(point, entries) => select(view.place(*point), entries, give),
            Self::Between { from, to, axes, entries } => {
                let between = view.place(*to) - view.place(*from);
                select(axes.map_or(between, |axes| view.inward(between, axes)), entries, give);
            }
            Self::MovesApart { from, to, axes } => {
                let apart = view.point_velocity(*to) - view.point_velocity(*from);
                select(view.inward(apart, *axes), &[0, 1, 2], give);
            }
            Self::CenterVelocity(bodies, entries) => select(view.center_velocity(bodies), entries, give),
            Self::SiteVelocity(site, entries) => {
                let velocity = view.site_velocity(*site);
                entries.iter().for_each(|entry| give(velocity[*entry]));
            }
            Self::Touch(sites) => sites.iter().for_each(|site| give(libm::log1p(view.touch(*site)))),
            Self::GoalPose { has_angle } => {
                view.goal[..2].iter().for_each(|x| give(*x));
                if *has_angle {
                    give(libm::cos(0.5 * view.goal[2]));
                    give(libm::sin(0.5 * view.goal[2]));
                }
            }
            Self::Length(of, less) => {
                let mut squares = 0.0;
                of.each(view, &mut |x| squares += x * x);
                give(libm::sqrt(squares) - less);
            }
            Self::Least(of) => {
                let mut least = f64::INFINITY;
                of.iter().for_each(|one| one.each(view, &mut |x| least = least.min(x)));
                give(least);
            }
            Self::Average(of) => {
                let mut sum = 0.0;
                of.iter().for_each(|one| one.each(view, &mut |x| sum += x));
                give(sum / of.len() as f64);
            }
            Self::Range(of) => of.each(view, &mut |x| give(if x == -1.0 { 1.0 } else { libm::tanh(x) })),
        }
    }
}
