//! A tree as one body, and how its root moves with a given momentum.

use multibody::{Kinematics, Node, NodeFrame, Tree, Whole, forward_kinematics, joint_axis, velocities};
use spatial::{Twist, Vec3, Wrench};

/// Where the nodes of a tree were placed last.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    q: Vec<f64>,
    pub kin: Kinematics<f64>,
}

impl Placed {
    pub fn new(tree: &Tree<f64>) -> Self {
        Self { q: vec![f64::NAN; tree.nq], kin: Kinematics::new(tree) }
    }

    /// The tree as one body at positions `q` with velocities `v`, about `origin`, or the root's if there is none. What was placed last is not
    /// placed again: where a step ends, the next begins.
    pub fn whole(&mut self, tree: &Tree<f64>, q: &[f64], v: &[f64], origin: Option<Vec3<f64>>) -> Whole<f64> {
        if self.q != q {
            forward_kinematics(tree, tree.all(), q, &mut self.kin);
            self.q.copy_from_slice(q);
        }
        velocities(tree, tree.all(), v, &mut self.kin);
        Whole::of(&self.kin, origin.unwrap_or(self.kin.frames[0].pos))
    }
}

/// Scratch: the ends of the step.
#[derive(Clone, Debug)]
pub(super) struct Ends {
    pub placed: Placed,
    pub q: Vec<f64>,
    /// Velocities half way.
    pub v: Vec<f64>,
    /// Deflections of springs.
    pub bend: Vec<f64>,
    /// What velocities lack at the end of the step.
    pub lack: Vec<f64>,
    pub is_lacking: bool,
}

impl Ends {
    pub fn new(tree: &Tree<f64>) -> Self {
        let zeros = vec![0.0; tree.nv];
        Self {
            placed: Placed::new(tree),
            q: vec![0.0; tree.nq],
            v: zeros.clone(),
            bend: zeros.clone(),
            lack: zeros,
            is_lacking: false,
        }
    }
}

/// Motion of the root that has a given momentum along its joint: none where that is not kept.
pub(super) struct Root {
    pub dofs: usize,
    /// The joint's axes about the fixed point.
    axes: [Twist<f64>; 6],
    /// M of the root's degrees of freedom, and below its diagonal, in place, L of L Lᵀ.
    factor: [[f64; 6]; 6],
}

impl Root {
    /// Of `whole` about `origin`, whose root is this.
    pub fn new(
        node: &Node<f64>,
        frame: &NodeFrame<f64>,
        dofs: usize,
        whole: &Whole<f64>,
        origin: Vec3<f64>,
        armature: &[f64],
    ) -> Self {
        let mut root = Self { dofs, axes: [Twist::ZERO; 6], factor: [[0.0; 6]; 6] };
        let inertia = whole.inertia();
        for k in 0..dofs {
            root.axes[k] = joint_axis(node, frame, k).shifted(origin - frame.pos);
            let column = inertia.apply(root.axes[k]);
            for (l, axis) in root.axes[..=k].iter().enumerate() {
                root.factor[k][l] = axis.dot(column);
            }
            root.factor[k][k] += armature[node.v + k];
        }
        for k in 0..dofs {
            for l in 0..=k {
                let product: f64 = (0..l).map(|j| root.factor[k][j] * root.factor[l][j]).sum();
                let remainder = root.factor[k][l] - product;
                root.factor[k][l] =
                    if k == l { remainder.max(f64::MIN_POSITIVE).sqrt() } else { remainder / root.factor[l][l] };
            }
        }
        root
    }

    /// The momentum that the joint feels of a wrench.
    pub fn along(&self, h: Wrench<f64>) -> [f64; 6] {
        std::array::from_fn(|k| self.axes[k].dot(h))
    }

    /// The velocities with momentum `p`, and their energy.
    pub fn velocities(&self, p: [f64; 6]) -> ([f64; 6], f64) {
        let (mut x, mut twice) = (p, 0.0);
        for k in 0..self.dofs {
            let product: f64 = (0..k).map(|j| self.factor[k][j] * x[j]).sum();
            x[k] = (x[k] - product) / self.factor[k][k];
            twice += x[k] * x[k];
        }
        for k in (0..self.dofs).rev() {
            let product: f64 = (k + 1..self.dofs).map(|j| self.factor[j][k] * x[j]).sum();
            x[k] = (x[k] - product) / self.factor[k][k];
        }
        (x, 0.5 * twice)
    }
}

/// The centre of mass where bodies are placed, from `origin`; nothing where there is no mass.
pub(super) fn middle(kin: &Kinematics<f64>, origin: Vec3<f64>) -> Vec3<f64> {
    let (mut mass, mut moment) = (0.0, Vec3::ZERO);
    for frame in &kin.frames {
        mass += frame.inertia.mass;
        moment += (frame.pos + frame.inertia.com - origin) * frame.inertia.mass;
    }
    if mass > 0.0 { moment * (1.0 / mass) } else { Vec3::ZERO }
}
