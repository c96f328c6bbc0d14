//! Where a node puts what it shows.

use std::ops::Mul;

use spatial::{Mat3, Quat, Vec3};

use super::numbers;
use crate::xml::Element;

/// The map x ↦ `linear` x + `offset`.
#[derive(Clone, Copy)]
pub(super) struct Affine {
    linear: Mat3<f64>,
    offset: Vec3<f64>,
}

impl Affine {
    /// Stretches along the axes.
    pub fn scale([x, y, z]: [f64; 3]) -> Self {
        let linear = Mat3::from_columns(Vec3::new(x, 0.0, 0.0), Vec3::new(0.0, y, 0.0), Vec3::new(0.0, 0.0, z));
        Self { linear, offset: Vec3::ZERO }
    }

    /// The transformation that an element of a node stands for; `None` when it stands for something else.
    pub fn from_element(element: Element<'_>) -> Result<Option<Self>, String> {
        let transformation = match element.name() {
            "translate" => Self { offset: exactly::<3>(element)?.into(), ..Self::scale([1.0; 3]) },
            "scale" => Self::scale(exactly(element)?),
            "rotate" => {
                let [x, y, z, degrees] = exactly(element)?;
                // An axis of zero length occurs with an angle of zero.
                let turn = Vec3::new(x, y, z).normalized().map(|a| Quat::from_axis_angle(a, degrees.to_radians()));
                Self { linear: turn.unwrap_or_default().to_mat3(), offset: Vec3::ZERO }
            }
            "matrix" => {
                let m: [f64; 16] = exactly(element)?;
                let column = |i: usize| Vec3::new(m[i], m[4 + i], m[8 + i]);
                Self { linear: Mat3::from_columns(column(0), column(1), column(2)), offset: column(3) }
            }
            "lookat" | "skew" => return Err("expected <translate>, <rotate>, <scale> or <matrix>".into()),
            _ => return Ok(None),
        };
        Ok(Some(transformation))
    }

    /// The image of a point.
    pub fn apply(&self, point: Vec3<f64>) -> Vec3<f64> {
        self.linear * point + self.offset
    }

    /// Whether it turns right hands into left hands.
    pub fn mirrors(&self) -> bool {
        let Mat3 { x, y, z } = self.linear;
        x.cross(y).dot(z) < 0.0
    }
}

impl Mul for Affine {
    type Output = Self;
    /// First `b`, then `self`.
    fn mul(self, b: Self) -> Self {
        let Mat3 { x, y, z } = b.linear;
        let linear = Mat3::from_columns(self.linear * x, self.linear * y, self.linear * z);
        Self { linear, offset: self.apply(b.offset) }
    }
}

fn exactly<const N: usize>(element: Element<'_>) -> Result<[f64; N], String> {
    let numbers = numbers(element)?;
    let count = numbers.len();
    numbers.try_into().map_err(|_| format!("{count} numbers: expected {N}"))
}
