//! Motors with a controller on board: what MuJoCo's `pid` and `dcmotor` are.

/// The least divisor, as in MuJoCo.
const LEAST: f64 = 1e-15;

/// Which inputs a motor has, in their order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct MotorInputs {
    /// The position that the controller leads to, rad or m.
    pub position: bool,
    /// The velocity.
    pub velocity: bool,
    /// A force that is added to the controller's, N or N·m.
    pub force: bool,
    /// A voltage that is added to the controller's, V.
    pub voltage: bool,
}

/// What a motor is told; 0 where it has no such input.
#[derive(Clone, Copy, Debug, Default)]
struct Commands {
    position: f64,
    velocity: f64,
    force: f64,
    voltage: f64,
}

impl MotorInputs {
    /// Most inputs.
    pub const MAX: usize = 4;

    /// How many there are.
    pub fn count(self) -> usize {
        [self.position, self.velocity, self.force, self.voltage].into_iter().filter(|is_there| *is_there).count()
    }

    /// Whether there is one that the controller acts on.
    pub fn has_controller(self) -> bool {
        self.position || self.velocity || self.force
    }

    /// The commands among controls.
    fn commands(self, controls: &[f64; Self::MAX]) -> Commands {
        let mut rest = controls.iter();
        let mut next = |is_there: bool| if is_there { rest.next().copied().unwrap_or_default() } else { 0.0 };
        let (position, velocity) = (next(self.position), next(self.velocity));
        Commands { position, velocity, force: next(self.force), voltage: next(self.voltage) }
    }
}

/// The controller: force = kp (position − length) + kd (velocity − rate) + ki ∫(position − length) dt + force + constant.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Controller {
    /// Force per error of position.
    pub kp: f64,
    /// Force per integral of that error; above 0 it is a state of the motor.
    pub ki: f64,
    /// Force per error of velocity.
    pub kd: f64,
    /// A force that is always there.
    pub constant: f64,
    /// The integral no longer grows beyond this, either way; infinite without limit.
    pub integral_limit: f64,
    /// How fast the first input may change, per second; if finite, where it is is a state of the motor.
    pub fastest_input: f64,
}

impl Default for Controller {
    fn default() -> Self {
        let (integral_limit, fastest_input) = (f64::INFINITY, f64::INFINITY);
        Self { kp: 0.0, ki: 0.0, kd: 0.0, constant: 0.0, integral_limit, fastest_input }
    }
}

/// What a motor's winding does: force = K i, and the voltage drives the current i against its resistance and what turning induces.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Winding {
    /// Ω, at the reference temperature.
    pub resistance: f64,
    /// K: N·m/A, or V·s/rad.
    pub motor_constant: f64,
    /// Most voltage of the controller, either way, V; infinite without limit.
    pub voltage_limit: f64,
    /// How long the current takes to follow the voltage, s; above 0 it is a state of the motor.
    pub time_constant: f64,
    /// How fast it may change, A/s; infinite without limit.
    pub fastest_current: f64,
    /// Its temperature, where that matters.
    pub heat: Option<Heat>,
    /// Torque by its angle.
    pub cogging: Cogging,
    /// Friction of bearings and brushes.
    pub friction: Option<BristleFriction>,
}

/// A winding that gets warm; how much warmer than its surroundings it is is a state of the motor.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Heat {
    /// Thermal resistance, K/W.
    pub resistance: f64,
    /// Thermal capacity, J/K.
    pub capacity: f64,
    /// Share of the electrical resistance that a degree more adds, 1/K.
    pub coefficient: f64,
    /// Temperature at which the electrical resistance is known, °C.
    pub reference: f64,
    /// That of the surroundings, °C.
    pub ambient: f64,
}

/// Torque amplitude · sin(periods · length + phase).
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Cogging {
    /// N·m.
    pub amplitude: f64,
    /// Periods in a turn.
    pub periods: f64,
    /// rad.
    pub phase: f64,
}

/// Friction by the LuGre law: bristles that bend and slip. How far they are bent is a state of the motor.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct BristleFriction {
    /// Force per bend of the bristles, N·m/rad.
    pub stiffness: f64,
    /// Force per speed of bending, N·m·s/rad.
    pub damping: f64,
    /// Friction while it slips fast, N·m.
    pub sliding: f64,
    /// Friction from which on it slips, N·m.
    pub sticking: f64,
    /// The speed at which one becomes the other, rad/s.
    pub speed: f64,
}

impl BristleFriction {
    /// How fast bent bristles give way at a speed, 1/s.
    fn release(&self, velocity: f64) -> f64 {
        let ratio = velocity / self.speed.max(LEAST);
        let level = self.sliding + (self.sticking - self.sliding) * libm::exp(-ratio * ratio);
        self.stiffness * velocity.abs() / level.max(LEAST)
    }
}

/// A motor with a controller on board.
///
/// Source: MuJoCo 4.0, `pid` and `dcmotor`.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Motor {
    /// What it is told: one control each.
    pub inputs: MotorInputs,
    /// What makes a force of them.
    pub controller: Controller,
    /// What stands between the controller and the force; nothing where forces act at once.
    pub winding: Option<Winding>,
    /// Whether the force of a step is that of the integral of the error at its end. (That of a winding's current always is.)
    pub is_early: bool,
}

/// A value and its derivatives by the length and the velocity of what the motor acts on.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Slopes {
    /// The value.
    pub value: f64,
    /// Its derivative by the length.
    pub by_length: f64,
    /// Its derivative by the velocity.
    pub by_velocity: f64,
}

/// What a motor does in a step.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MotorStep {
    /// Its force, which limits of forces hold.
    pub force: Slopes,
    /// Cogging and friction, which they do not.
    pub mechanism: Slopes,
    /// Its states at the end of the step, [`Motor::states`] of them.
    pub next: [f64; Motor::MAX_STATES],
}

/// Where a motor is at the beginning of a step of `dt` s.
#[derive(Clone, Copy, Debug)]
pub struct MotorMotion {
    /// Length of what it acts on, gear included, rad or m.
    pub length: f64,
    /// Its rate.
    pub velocity: f64,
    /// s.
    pub dt: f64,
}

impl Motor {
    /// Most states of a motor.
    pub const MAX_STATES: usize = 5;

    /// How many states it has, in this order: where its input is, the integral of the error, the temperature above that of the surroundings,
    /// the bend of bristles, the current.
    pub fn states(&self) -> usize {
        let of_controller = [self.controller.fastest_input < f64::INFINITY, self.controller.ki > 0.0];
        let of_winding = self.winding.map_or([false; 3], |winding| {
            [winding.heat.is_some(), winding.friction.is_some(), winding.time_constant > 0.0]
        });
        of_controller.into_iter().chain(of_winding).filter(|is_there| *is_there).count()
    }

    /// Its numbers, for checks: those that may be infinite as their reciprocals.
    pub fn numbers(&self) -> impl Iterator<Item = f64> {
        let Controller { kp, ki, kd, constant, integral_limit, fastest_input } = self.controller;
        let of_winding = self.winding.map(|of| {
            let Cogging { amplitude, periods, phase } = of.cogging;
            let own = [of.resistance, 1.0 / of.resistance, of.motor_constant, 1.0 / of.motor_constant];
            let limits =
                [1.0 / of.voltage_limit, of.time_constant, 1.0 / of.fastest_current, amplitude, periods, phase];
            let heat = of.heat.map(|heat| {
                [
                    heat.resistance,
                    heat.capacity,
                    heat.coefficient,
                    heat.reference,
                    heat.ambient,
                    1.0 / heat.capacity,
                    1.0 / heat.resistance,
                ]
            });
            let friction = of.friction.map(|of| [of.stiffness, of.damping, of.sliding, of.sticking, of.speed]);
            own.into_iter().chain(limits).chain(heat.into_iter().flatten()).chain(friction.into_iter().flatten())
        });
        let of_controller = [kp, ki, kd, constant, 1.0 / integral_limit, 1.0 / fastest_input];
        of_controller.into_iter().chain(of_winding.into_iter().flatten())
    }

    /// What it does in a step, by its controls within their ranges and its states at the beginning.
    pub fn step(&self, mut controls: [f64; MotorInputs::MAX], states: &[f64], motion: MotorMotion) -> MotorStep {
        let mut states = StateReader { states: states.iter(), next: [0.0; Self::MAX_STATES], count: 0 };
        let MotorMotion { length, velocity, dt } = motion;
        let Controller { kp, ki, kd, constant, integral_limit, fastest_input } = self.controller;
        if fastest_input < f64::INFINITY {
            let (before, most) = (states.read(), fastest_input * dt);
            controls[0] = controls[0].max(before - most).min(before + most);
            states.leave(controls[0]);
        }
        let commands = self.inputs.commands(&controls);
        let error = commands.position - length;
        let mut integral = 0.0;
        if ki > 0.0 {
            integral = states.read();
            let growth = match () {
                () if integral >= integral_limit => error.min(0.0),
                () if integral <= -integral_limit => error.max(0.0),
                () => error,
            };
            let next = (integral + dt * growth).max(-integral_limit).min(integral_limit);
            states.leave(next);
            integral = if self.is_early { next } else { integral };
        }
        let value =
            kp * error + kd * (commands.velocity - velocity) + ki.max(0.0) * integral + commands.force + constant;
        let force = Slopes { value, by_length: -kp, by_velocity: -kd };
        let (force, mechanism) = match &self.winding {
            Some(winding) => {
                let controlled = self.inputs.has_controller().then_some(force);
                let voltage = winding.voltage(controlled, commands.voltage, velocity);
                winding.step(voltage, motion, &mut states)
            }
            None => (force, Slopes::default()),
        };
        MotorStep { force, mechanism, next: states.next }
    }
}

/// States in their order, and what becomes of them.
struct StateReader<'a> {
    states: std::slice::Iter<'a, f64>,
    next: [f64; Motor::MAX_STATES],
    count: usize,
}

impl StateReader<'_> {
    fn read(&mut self) -> f64 {
        self.states.next().copied().unwrap_or_default()
    }

    fn leave(&mut self, state: f64) {
        self.next[self.count] = state;
        self.count += 1;
    }
}

impl Winding {
    /// The voltage at its terminals: that of the controller, which gives the current that the force takes and makes up for what turning induces,
    /// and one that is given.
    fn voltage(&self, controlled: Option<Slopes>, given: f64, velocity: f64) -> Slopes {
        let Some(force) = controlled else { return Slopes { value: given, ..Slopes::default() } };
        let (k, limit) = (self.motor_constant, self.voltage_limit);
        let per_force = self.resistance / k;
        let value = per_force * force.value + k * velocity;
        if value.abs() >= limit {
            return Slopes { value: value.max(-limit).min(limit) + given, ..Slopes::default() };
        }
        Slopes {
            value: value + given,
            by_length: per_force * force.by_length,
            by_velocity: per_force * force.by_velocity + k,
        }
    }

    /// The force of a voltage, and the forces of the mechanism.
    fn step(&self, voltage: Slopes, motion: MotorMotion, states: &mut StateReader<'_>) -> (Slopes, Slopes) {
        let MotorMotion { length, velocity, dt } = motion;
        let k = self.motor_constant;
        let warmth = self.heat.map(|heat| (heat, states.read()));
        let bend = self.friction.map(|friction| (friction, states.read()));
        let current = (self.time_constant > 0.0).then(|| states.read());
        let warmer = warmth.map_or(0.0, |(heat, warmth)| heat.coefficient * (warmth + heat.ambient - heat.reference));
        let resistance = (self.resistance * (1.0 + warmer)).max(LEAST);
        // Where the current would settle.
        let settled = Slopes {
            value: (voltage.value - k * velocity) / resistance,
            by_length: voltage.by_length / resistance,
            by_velocity: (voltage.by_velocity - k) / resistance,
        };
        if let Some((heat, warmth)) = warmth {
            let loss = resistance * current.unwrap_or(settled.value).powi(2);
            states.leave(warmth + dt * (loss - warmth / heat.resistance) / heat.capacity);
        }
        let mut mechanism = self.cogging.torque(length);
        if let Some((friction, bend)) = bend {
            let (force, next) = friction.step(bend, velocity, dt);
            mechanism = mechanism.plus(force);
            states.leave(next);
        }
        let acting = current.map_or(settled, |current| {
            let next = self.next_current(current, settled, dt);
            states.leave(next.value);
            next
        });
        let force =
            Slopes { value: k * acting.value, by_length: k * acting.by_length, by_velocity: k * acting.by_velocity };
        (force, mechanism)
    }

    /// The current at the end of a step in which it goes where it would settle.
    fn next_current(&self, current: f64, settled: Slopes, dt: f64) -> Slopes {
        let share = -libm::expm1(-dt / self.time_constant);
        let (lack, most) = (settled.value - current, self.fastest_current * self.time_constant);
        if lack.abs() > most {
            return Slopes { value: current + share * lack.max(-most).min(most), ..Slopes::default() };
        }
        let by = |slope: f64| share * slope;
        Slopes { value: current + share * lack, by_length: by(settled.by_length), by_velocity: by(settled.by_velocity) }
    }
}

impl Cogging {
    fn torque(&self, length: f64) -> Slopes {
        let Self { amplitude, periods, phase } = *self;
        let (sin, cos) = libm::sincos(periods * length + phase);
        Slopes { value: amplitude * sin, by_length: amplitude * periods * cos, by_velocity: 0.0 }
    }
}

impl BristleFriction {
    /// Its force, and the bend at the end of a step at constant speed.
    fn step(&self, bend: f64, velocity: f64, dt: f64) -> (Slopes, f64) {
        let release = self.release(velocity);
        let rate = velocity - release * bend;
        // What the motion of the step bends.
        let time = if release > LEAST { -libm::expm1(-release * dt) / release } else { dt };
        let next = bend * libm::exp(-release * dt) + time * velocity;
        let value = -self.stiffness * bend - self.damping * rate;
        (Slopes { value, by_length: -self.stiffness * time / dt, by_velocity: -self.damping }, next)
    }
}

impl Slopes {
    /// Both together.
    pub fn plus(self, other: Self) -> Self {
        Self {
            value: self.value + other.value,
            by_length: self.by_length + other.by_length,
            by_velocity: self.by_velocity + other.by_velocity,
        }
    }
}
