//! The tasks, and what a user may choose of each.

/// An environment of Gymnasium's `mujoco` family, in its v5 definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Task {
    /// Four-legged, to run.
    Ant,
    /// Two-legged in a plane, to run.
    HalfCheetah,
    /// One-legged in a plane, to hop.
    Hopper,
    /// Two-legged, to run.
    Humanoid,
    /// Two-legged, to stand up.
    HumanoidStandup,
    /// Two poles on a cart, to balance.
    InvertedDoublePendulum,
    /// A pole on a cart, to balance.
    InvertedPendulum,
    /// An arm, to push a cylinder to a goal.
    Pusher,
    /// A planar arm, to reach a goal.
    Reacher,
    /// A chain of links in a viscous medium, to swim.
    Swimmer,
    /// Two-legged in a plane, to walk.
    Walker2d,
}

impl Task {
    /// All of them.
    pub const ALL: [Self; 11] = [
        Self::Ant,
        Self::HalfCheetah,
        Self::Hopper,
        Self::Humanoid,
        Self::HumanoidStandup,
        Self::InvertedDoublePendulum,
        Self::InvertedPendulum,
        Self::Pusher,
        Self::Reacher,
        Self::Swimmer,
        Self::Walker2d,
    ];

    /// Gymnasium's name, without version.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ant => "Ant",
            Self::HalfCheetah => "HalfCheetah",
            Self::Hopper => "Hopper",
            Self::Humanoid => "Humanoid",
            Self::HumanoidStandup => "HumanoidStandup",
            Self::InvertedDoublePendulum => "InvertedDoublePendulum",
            Self::InvertedPendulum => "InvertedPendulum",
            Self::Pusher => "Pusher",
            Self::Reacher => "Reacher",
            Self::Swimmer => "Swimmer",
            Self::Walker2d => "Walker2d",
        }
    }

    /// The task of this name.
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|task| task.name() == name)
    }
}

/// The value of an option.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A weight or a reward.
    Number(f64),
    /// From, to.
    Range(f64, f64),
    /// On or off.
    Flag(bool),
    /// The index of a body.
    Index(usize),
}

/// What a user may choose, by the names of Gymnasium's v5 environments. A task uses those that its environment has.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct TaskOptions {
    /// Of the velocity in the x direction.
    pub forward_reward_weight: f64,
    /// Of the square of the controls.
    pub ctrl_cost_weight: f64,
    /// Of the square of the external contact forces, and the range of the cost.
    pub contact_cost_weight: f64,
    /// Range of the cost of contact.
    pub contact_cost_range: (f64, f64),
    /// Range of the entries of contact forces.
    pub contact_force_range: (f64, f64),
    /// Of every step in which it is healthy.
    pub healthy_reward: f64,
    /// Whether an episode ends when it is not.
    pub terminate_when_unhealthy: bool,
    /// Heights at which it is.
    pub healthy_z_range: (f64, f64),
    /// Angles of the torso at which it is.
    pub healthy_angle_range: (f64, f64),
    /// Positions (from the third on) and velocities at which it is.
    pub healthy_state_range: (f64, f64),
    /// The body whose velocity counts.
    pub main_body: usize,
    /// Whether the position in the plane is left out of the observation.
    pub exclude_current_positions_from_observation: bool,
    /// Whether the observation has inertias of the bodies,
    pub include_cinert_in_observation: bool,
    /// their velocities,
    pub include_cvel_in_observation: bool,
    /// forces of actuators,
    pub include_qfrc_actuator_in_observation: bool,
    /// and external contact forces.
    pub include_cfrc_ext_in_observation: bool,
    /// Of the height, for standing up.
    pub uph_cost_weight: f64,
    /// Of the square of the external contact forces, for standing up, and the range of the cost.
    pub impact_cost_weight: f64,
    /// Range of the cost of impact.
    pub impact_cost_range: (f64, f64),
    /// Of the distance to the goal.
    pub reward_dist_weight: f64,
    /// Of the square of the controls, for arms.
    pub reward_control_weight: f64,
    /// Of the distance between hand and object.
    pub reward_near_weight: f64,
}

impl TaskOptions {
    /// The defaults of the v5 definition.
    pub fn of(task: Task) -> Self {
        let free = (f64::NEG_INFINITY, f64::INFINITY);
        let own = Self {
            forward_reward_weight: 1.0,
            ctrl_cost_weight: 0.0,
            contact_cost_weight: 0.0,
            contact_cost_range: free,
            contact_force_range: free,
            healthy_reward: 1.0,
            terminate_when_unhealthy: true,
            healthy_z_range: free,
            healthy_angle_range: free,
            healthy_state_range: free,
            main_body: 1,
            exclude_current_positions_from_observation: true,
            include_cinert_in_observation: true,
            include_cvel_in_observation: true,
            include_qfrc_actuator_in_observation: true,
            include_cfrc_ext_in_observation: true,
            uph_cost_weight: 1.0,
            impact_cost_weight: 0.0,
            impact_cost_range: free,
            reward_dist_weight: 1.0,
            reward_control_weight: 1.0,
            reward_near_weight: 0.0,
        };
        match task {
            Task::Ant => Self {
                ctrl_cost_weight: 0.5,
                contact_cost_weight: 5e-4,
                contact_force_range: (-1.0, 1.0),
                healthy_z_range: (0.2, 1.0),
                ..own
            },
            Task::HalfCheetah => Self { ctrl_cost_weight: 0.1, ..own },
            Task::Hopper => Self {
                ctrl_cost_weight: 1e-3,
                healthy_state_range: (-100.0, 100.0),
                healthy_z_range: (0.7, f64::INFINITY),
                healthy_angle_range: (-0.2, 0.2),
                ..own
            },
            Task::Walker2d => {
                Self { ctrl_cost_weight: 1e-3, healthy_z_range: (0.8, 2.0), healthy_angle_range: (-1.0, 1.0), ..own }
            }
            Task::Humanoid => Self {
                forward_reward_weight: 1.25,
                ctrl_cost_weight: 0.1,
                contact_cost_weight: 5e-7,
                contact_cost_range: (f64::NEG_INFINITY, 10.0),
                healthy_reward: 5.0,
                healthy_z_range: (1.0, 2.0),
                ..own
            },
            Task::HumanoidStandup => Self {
                ctrl_cost_weight: 0.1,
                impact_cost_weight: 0.5e-6,
                impact_cost_range: (f64::NEG_INFINITY, 10.0),
                ..own
            },
            Task::InvertedDoublePendulum => Self { healthy_reward: 10.0, ..own },
            Task::Pusher => Self { reward_near_weight: 0.5, reward_control_weight: 0.1, ..own },
            Task::Swimmer => Self { ctrl_cost_weight: 1e-4, ..own },
            Task::InvertedPendulum | Task::Reacher => own,
        }
    }

    /// Sets an option by its name in Gymnasium. Returns false if the name is unknown or the value has the wrong type.
    pub fn set(&mut self, name: &str, value: Value) -> bool {
        let number = match name {
            "forward_reward_weight" => Some(&mut self.forward_reward_weight),
            "ctrl_cost_weight" => Some(&mut self.ctrl_cost_weight),
            "contact_cost_weight" => Some(&mut self.contact_cost_weight),
            "healthy_reward" => Some(&mut self.healthy_reward),
            "uph_cost_weight" => Some(&mut self.uph_cost_weight),
            "impact_cost_weight" => Some(&mut self.impact_cost_weight),
            "reward_dist_weight" => Some(&mut self.reward_dist_weight),
            "reward_control_weight" => Some(&mut self.reward_control_weight),
            "reward_near_weight" => Some(&mut self.reward_near_weight),
            _ => None,
        };
        let range = match name {
            "contact_cost_range" => Some(&mut self.contact_cost_range),
            "contact_force_range" => Some(&mut self.contact_force_range),
            "healthy_z_range" => Some(&mut self.healthy_z_range),
            "healthy_angle_range" => Some(&mut self.healthy_angle_range),
            "healthy_state_range" => Some(&mut self.healthy_state_range),
            "impact_cost_range" => Some(&mut self.impact_cost_range),
            _ => None,
        };
        let flag = match name {
            "terminate_when_unhealthy" => Some(&mut self.terminate_when_unhealthy),
            "exclude_current_positions_from_observation" => Some(&mut self.exclude_current_positions_from_observation),
            "include_cinert_in_observation" => Some(&mut self.include_cinert_in_observation),
            "include_cvel_in_observation" => Some(&mut self.include_cvel_in_observation),
            "include_qfrc_actuator_in_observation" => Some(&mut self.include_qfrc_actuator_in_observation),
            "include_cfrc_ext_in_observation" => Some(&mut self.include_cfrc_ext_in_observation),
            _ => None,
        };
        match (value, number, range, flag) {
            (Value::Number(x), Some(to), ..) => *to = x,
            (Value::Range(a, b), _, Some(to), _) => *to = (a, b),
            (Value::Flag(x), .., Some(to)) => *to = x,
            (Value::Index(body), ..) if name == "main_body" => self.main_body = body,
            _ => return false,
        }
        true
    }
}
