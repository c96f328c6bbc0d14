//! The derivative of a step with respect to parameters: columns beside those of q, v and ctrl, sampled by simulations of models in which
//! one number is moved.

use std::sync::Arc;

use geometry::Scene;
use multibody::{JointKind, Model};

use super::{MARGIN, Reference, Sample, Scratch, Simulation};
use crate::parameters::is_in_state;
use crate::step_jacobians::EndDerivative;
use crate::{Options, Parameter, Parameters, SimulationError, StepJacobians};

/// How far a number is moved, relative to itself or to 1e-2 of its unit if that is more: what is differenced is linear in most of them.
const WIDTH: f64 = 1e-4;
/// That of what moves contact points, m, and of axes.
const WIDTH_LENGTH: f64 = 1e-6;

/// One number of a parameter.
#[derive(Clone, Copy)]
pub(super) struct Number {
    parameter: Parameter,
    index: usize,
    /// How far it is moved, up and down.
    pub width: [f64; 2],
}

/// Numbers whose columns are asked for, and what they are numbers of.
pub(super) struct Numbers<'a> {
    base: (&'a Model, &'a Scene),
    own: &'a Parameters,
    pub numbers: Vec<Number>,
}

impl Parameter {
    /// Half the width of differences about a value.
    fn width(self, value: f64) -> [f64; 2] {
        match self {
            Self::GeomSizes | Self::GeomPositions | Self::JointAxes | Self::JointAnchors | Self::BodyPositions => {
                [WIDTH_LENGTH, -WIDTH_LENGTH]
            }
            _ => {
                let width = WIDTH * value.abs().max(1e-2);
                // What is not negative is moved up alone from 0, where there may be branches for none at all; it acts linearly.
                let is_bounded =
                    matches!(self, Self::Armature | Self::Damping | Self::Stiffness | Self::Kv | Self::Frictions);
                if is_bounded && value < width { [2.0 * width, width] } else { [width, -width] }
            }
        }
    }
}

impl<'a> Numbers<'a> {
    pub fn none(base: (&'a Model, &'a Scene), own: &'a Parameters) -> Self {
        Self { base, own, numbers: Vec::new() }
    }

    fn new(base: (&'a Model, &'a Scene), own: &'a Parameters, which: &[Parameter]) -> Self {
        let mut numbers = Vec::new();
        for &parameter in which {
            let values = own.get(parameter).map_or_else(|| parameter.of(base.0, base.1), <[f64]>::to_vec);
            let each = values.iter().enumerate();
            numbers.extend(each.map(|(index, value)| Number { parameter, index, width: parameter.width(*value) }));
        }
        Self { base, own, numbers }
    }

    /// A simulation in this one's state, of the model with a number moved; none where it cannot be, as the mass of a body that has none.
    fn moved(&self, of: &Simulation, number: &Number, by: f64) -> Result<Option<Simulation>, SimulationError> {
        let Number { parameter, index, .. } = *number;
        let (model, scene) = self.base;
        let mut values = self.own.get(parameter).map_or_else(|| parameter.of(model, scene), <[f64]>::to_vec);
        let is_absent = match parameter {
            Parameter::Masses => values[index] == 0.0,
            Parameter::Inertias => model.bodies[index / 6].inertia.mass == 0.0,
            // Of planes and meshes, and what a sphere has no use for.
            Parameter::GeomSizes => values[index] == 0.0,
            // Of joints without an axis; what the state has.
            Parameter::JointAxes => values[index - index % 3..][..3] == [0.0; 3],
            Parameter::JointAnchors => model.joints[index / 3].kind == JointKind::Free,
            Parameter::BodyPositions => is_in_state(model, index / 3),
            // Constraints that there are none of.
            Parameter::TorsionalFrictions | Parameter::RollingFrictions | Parameter::Frictionloss => {
                values[index] == 0.0
            }
            _ => false,
        };
        if is_absent {
            return Ok(None);
        }
        values[index] += by;
        let (model, scene) = match self.own.clone().with(parameter, values).apply(model, scene) {
            Ok(moved) => moved,
            Err(error) => return Err(of.no_jacobian(format!("next to these parameters {error}"))),
        };
        let options = Options { threads: 1, ..of.options.clone() };
        let mut moved = Simulation::without_lane(Arc::new(model), Arc::new(scene), options)?;
        moved.set_interrupt(of.interrupt.clone());
        moved.state.copy_from(&of.state);
        moved.find_velocities(of.timestep(), false)?;
        Ok(Some(moved))
    }
}

impl Simulation {
    /// [`step_jacobians`](Self::step_jacobians), and those with respect to parameters: for each of `which` (2 nv, numbers of it), row-major.
    ///
    /// The simulation's model is `base` with the parameters `own`. What is smooth is differenced at fixed velocities, as for the state, of
    /// models in which a number is a little more and a little less; each of these costs a new simulation and its step.
    ///
    /// # Errors
    /// Those of [`step_jacobians`](Self::step_jacobians), which include a parameter of `which` that is not
    /// [differentiable](Parameter::is_differentiable).
    pub fn step_jacobians_of(
        &mut self,
        base: (&Model, &Scene),
        own: &Parameters,
        which: &[Parameter],
    ) -> Result<(StepJacobians, Vec<Vec<f64>>), SimulationError> {
        if let Some(parameter) = which.iter().find(|parameter| !parameter.is_differentiable()) {
            return Err(self.no_jacobian(format!("{} is not differentiated in this version", parameter.name())));
        }
        let numbers = Numbers::new(base, own, which);
        let all = numbers.numbers.len();
        let mut jacobians = self.jacobians_with(&numbers)?;
        let (rows, nu) = (2 * jacobians.nv, jacobians.nu - all);
        let with = std::mem::take(&mut jacobians.b);
        let columns = |from: usize, to: usize| -> Vec<f64> {
            (0..rows).flat_map(|row| &with[row * (nu + all)..][from..to]).copied().collect()
        };
        let mut first = nu;
        let mut of_parameters = Vec::new();
        for parameter in which {
            let (count, width) = parameter.shape(base.0, base.1);
            of_parameters.push(columns(first, first + count * width));
            first += count * width;
        }
        jacobians.b = columns(0, nu);
        jacobians.nu = nu;
        Ok((jacobians, of_parameters))
    }

    /// Samples with a number moved up and down; their difference is in the first, zero where the number is none.
    pub(super) fn sample_number(
        &self,
        numbers: &Numbers<'_>,
        number: &Number,
        reference: &Reference,
        [plus, minus]: &mut [Sample; 2],
    ) -> Result<(), SimulationError> {
        let [up, down] = number.width;
        for (sample, by) in [(&mut *plus, up), (&mut *minus, down)] {
            match numbers.moved(self, number, by)? {
                None => *sample = Sample::new(reference),
                Some(mut moved) => {
                    moved.replace(reference, self.timestep(), MARGIN);
                    moved.gather(reference, &mut Scratch::new(&moved), sample)?;
                }
            }
        }
        plus.subtract(minus, 1.0 / (up - down));
        Ok(())
    }

    /// Adds the derivatives of what is added to velocities and positions; of the velocities `v`, `dv` is the derivative with respect to the number.
    pub(super) fn correct_number(
        &self,
        numbers: &Numbers<'_>,
        number: &Number,
        v: &[f64],
        dv: &[f64],
        mut end: EndDerivative<'_>,
    ) -> Result<(), SimulationError> {
        let (dt, [up, down]) = (self.timestep(), number.width);
        for (by, sign) in [(up, 1.0), (down, -1.0)] {
            let Some(mut moved) = numbers.moved(self, number, by)? else { return Ok(()) };
            moved.v_start.copy_from_slice(&self.state.v);
            moved.gather_forces(dt);
            moved.v_next.iter_mut().zip(v.iter().zip(dv)).for_each(|(out, (v, dv))| *out = v + by * dv);
            let _ = moved.conserve();
            moved.add_corrections(sign / (up - down), &mut end);
        }
        Ok(())
    }
}
