//! A figure that was measured, as JSON has it.

use motion::tracking::Control;
use serde::Serialize;

/// One figure.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Row {
    /// The suite: "spd" or "characters".
    pub suite: &'static str,
    /// What was measured: "dog canter".
    pub case: String,
    /// Whose: "sapwood".
    pub engine: &'static str,
    /// Which figure.
    pub metric: String,
    /// The figure.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
}

impl Row {
    /// A figure of ours.
    pub fn new(suite: &'static str, case: &str, metric: impl Into<String>, value: f64, unit: &'static str) -> Self {
        Self { suite, case: case.into(), engine: "sapwood", metric: metric.into(), value, unit }
    }
}

/// The name of a method in metrics.
pub fn key(control: Control) -> String {
    control.name().replace('-', "_")
}
