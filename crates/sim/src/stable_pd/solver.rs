//! The four methods behind one interface.

use multibody::{
    CrbaWorkspace, DynamicsInput, ForwardDynamics, Kinematics, Model, RneaWorkspace, Tree, forward_kinematics,
    mass_matrix, rnea, velocities,
};
use sap::BlockCholesky;
use spatial::Vec3;

use super::command::{Command, Error, check, pd_force};
use super::pcg::Pcg;
use super::sparse::Sparse;

/// How (M + dt K_d) q̈ = Q − C is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Method {
    /// The articulated-body algorithm with dt K_d in its joints: O(n), no matrix (Yin and Yin 2020).
    #[default]
    Maba,
    /// Dense LLᵀ of M + dt K_d: O(n³).
    Dense,
    /// Branch-induced sparse LᵀL (RBDA §6.5): O(n d²), d the depth.
    Sparse,
    /// Conjugate gradients, preconditioned by the diagonal, to a relative residual of [`Solver::PCG_TOLERANCE`].
    Pcg,
}

/// What a solve says of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Report {
    /// Iterations of conjugate gradients; 1 for the direct methods.
    pub iterations: usize,
    /// Relative residual of conjugate gradients; 0 for the direct methods.
    pub residual: f64,
}

/// Stable PD control of one model: scratch and the last solution.
pub struct Solver {
    method: Method,
    tree: Tree<f64>,
    armature: Vec<f64>,
    gravity: Vec3<f64>,
    forward: ForwardDynamics,
    kin: Kinematics<f64>,
    rnea: RneaWorkspace<f64>,
    crba: CrbaWorkspace<f64>,
    /// M + dt K_d.
    h: Vec<f64>,
    cholesky: BlockCholesky,
    sparse: Sparse,
    pcg: Pcg,
    lambda: Vec<f64>,
    force: Vec<f64>,
    right: Vec<f64>,
    bias: Vec<f64>,
    acceleration: Vec<f64>,
    torque: Vec<f64>,
}

impl Solver {
    /// Conjugate gradients end at this relative residual.
    pub const PCG_TOLERANCE: f64 = 1e-6;
    /// Conjugate gradients give up after this many times nv iterations.
    pub const PCG_CAP: usize = 10;

    /// A solver for the model's bodies, armature and gravity.
    pub fn new(model: &Model, method: Method) -> Self {
        let tree = model.tree.clone();
        let zero = || vec![0.0; tree.nv];
        let full = if method == Method::Maba { 0 } else { tree.nv * tree.nv };
        Self {
            method,
            armature: model.armature.clone(),
            gravity: model.gravity,
            forward: ForwardDynamics::new(&tree),
            kin: Kinematics::new(&tree),
            rnea: RneaWorkspace::new(&tree),
            crba: CrbaWorkspace::new(&tree),
            h: vec![0.0; full],
            cholesky: BlockCholesky::new(),
            sparse: if method == Method::Sparse { Sparse::new(&tree) } else { Sparse::default() },
            pcg: Pcg::new(tree.nv),
            lambda: zero(),
            force: zero(),
            right: zero(),
            bias: zero(),
            acceleration: zero(),
            torque: zero(),
            tree,
        }
    }

    /// Finds the acceleration under the command at `q` (nq), `v` (nv) and time step `dt`. It is in
    /// [`acceleration`](Self::acceleration) then; effort limits act on [`torque`](Self::torque) alone.
    ///
    /// # Errors
    /// When a vector has the wrong length or a value outside its domain, or the system is singular.
    pub fn solve(&mut self, q: &[f64], v: &[f64], command: &Command<'_>, dt: f64) -> Result<Report, Error> {
        check("q", q, self.tree.nq, false)?;
        check("v", v, self.tree.nv, false)?;
        command.check(&self.tree)?;
        if !(dt > 0.0 && dt.is_finite()) {
            return Err(Error::Value { name: "dt", index: 0, value: dt, expected: "a finite number above 0" });
        }
        pd_force(&self.tree, q, v, command, dt, &mut self.force);
        for i in 0..self.tree.nv {
            self.lambda[i] = self.armature[i] + dt * command.kd[i];
        }
        if self.method == Method::Maba {
            let Self { tree, forward, force: tau, lambda: impedance, acceleration, .. } = self;
            forward.solve(tree, &DynamicsInput { q, v, tau, impedance, gravity: self.gravity }, acceleration);
            return match self.acceleration.iter().position(|x| !x.is_finite()) {
                Some(dof) => Err(Error::Singular { dof }),
                None => Ok(Report { iterations: 1, residual: 0.0 }),
            };
        }
        self.assemble(q, v);
        self.solve_matrix().map_err(|dof| Error::Singular { dof })
    }

    /// H = M + Λ and Q − C.
    fn assemble(&mut self, q: &[f64], v: &[f64]) {
        let Self { tree, kin, rnea: ws, bias, h, crba, .. } = self;
        let (all, n) = (tree.all(), tree.nv);
        forward_kinematics(tree, all.clone(), q, kin);
        velocities(tree, all.clone(), v, kin);
        rnea(tree, all.clone(), kin, v, None, self.gravity, ws, bias);
        for dofs in &tree.dofs {
            for i in dofs.clone() {
                h[i * n + dofs.start..i * n + dofs.end].fill(0.0);
            }
        }
        mass_matrix(tree, all, kin, None, crba, h, n, 0);
        for i in 0..n {
            h[i * n + i] += self.lambda[i];
            self.right[i] = self.force[i] - bias[i];
        }
    }

    fn solve_matrix(&mut self) -> Result<Report, usize> {
        let n = self.tree.nv;
        let mut report = Report { iterations: 1, residual: 0.0 };
        match self.method {
            Method::Maba => {}
            Method::Dense => {
                self.cholesky.begin([n]);
                self.cholesky.analyze();
                let block = self.cholesky.block_mut(0, 0);
                for (column, h) in block.values.chunks_mut(block.stride.max(1)).zip(self.h.chunks_exact(n.max(1))) {
                    column[..n].copy_from_slice(h);
                }
                self.cholesky.factor().map_err(|error| error.row)?;
                self.cholesky.solve(&self.right, &mut self.acceleration);
            }
            Method::Sparse => {
                self.sparse.factor(&self.h)?;
                self.acceleration.copy_from_slice(&self.right);
                self.sparse.solve(&mut self.acceleration);
            }
            Method::Pcg => {
                let (h, x) = (&self.h, &mut self.acceleration);
                let (iterations, residual) = self.pcg.solve(h, &self.right, x, Self::PCG_TOLERANCE, Self::PCG_CAP * n);
                report = Report { iterations, residual };
            }
        }
        Ok(report)
    }

    /// The method.
    pub fn method(&self) -> Method {
        self.method
    }

    /// Q of the last solve, (nv): the controller's force before its implicit part, τ = Q − dt K_d q̈.
    pub fn explicit_force(&self) -> &[f64] {
        &self.force
    }

    /// q̈ of the last solve, (nv).
    pub fn acceleration(&self) -> &[f64] {
        &self.acceleration
    }

    /// The controller's force τ = M q̈ + C of the last solve, (nv), within the command's effort limits.
    ///
    /// Formed by inverse dynamics: τ = Q − dt K_d q̈ is the same number, but where dt K_d is large it cancels digits, and plain
    /// forward dynamics would amplify what is lost by dt K_d over the lightest inertia.
    pub fn torque(&mut self, q: &[f64], v: &[f64], command: &Command<'_>) -> &[f64] {
        let Self { tree, kin, rnea: ws, torque, acceleration, .. } = self;
        let all = tree.all();
        forward_kinematics(tree, all.clone(), q, kin);
        velocities(tree, all.clone(), v, kin);
        rnea(tree, all, kin, v, Some(acceleration), self.gravity, ws, torque);
        for i in 0..tree.nv {
            torque[i] += self.armature[i] * acceleration[i];
            if let Some(limit) = command.effort_limit {
                torque[i] = torque[i].clamp(-limit[i], limit[i]);
            }
        }
        torque
    }
}
