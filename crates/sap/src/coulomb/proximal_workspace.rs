use crate::Constraint;

/// Scratch of the proximal point method.
#[derive(Clone, Debug, Default)]
pub(crate) struct ProximalWorkspace {
    /// The constraints with `R + τ w`.
    pub(super) softened: Vec<Constraint>,
    /// `γₖ`
    pub(super) gamma: Vec<f64>,
    /// `τ w γₖ`
    pub(super) shift: Vec<f64>,
    /// The free velocities of the last step that was accepted.
    pub(super) free: Vec<f64>,
}

impl ProximalWorkspace {
    pub(super) fn resize(&mut self, rows: usize) {
        for vector in [&mut self.gamma, &mut self.shift, &mut self.free] {
            vector.resize(rows, 0.0);
        }
    }

    /// Sets the constraints and the shift for `tau`.
    pub(super) fn soften(&mut self, constraints: &[Constraint], tau: f64) {
        self.softened.clear();
        self.softened.extend(constraints.iter().map(|c| c.softened(tau * c.delassus())));
        let mut row = 0;
        for constraint in constraints {
            let rows = row..row + constraint.rows();
            for (shift, gamma) in self.shift[rows.clone()].iter_mut().zip(&self.gamma[rows.clone()]) {
                *shift = tau * constraint.delassus() * gamma;
            }
            row = rows.end;
        }
    }
}
