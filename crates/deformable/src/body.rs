//! What a soft body is made of.

use std::ops::Deref;

use serde::{Deserialize, Serialize};
use spatial::Vec3;

use crate::mesh::{Surface, TetMesh};
use crate::{Error, Material};

/// How mass is distributed over the nodes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum MassModel {
    /// All of it at the nodes: a diagonal matrix.
    #[default]
    Lumped,
    /// ∫ ρ N Nᵀ: as the shape functions have it.
    Consistent,
}

/// All that a soft body is made of: see [`SoftBody::new`].
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SoftBodyDescription {
    /// A name, unique among a scene's soft bodies, or empty.
    pub name: String,
    /// The undeformed body, in world coordinates.
    pub mesh: TetMesh,
    /// What it is made of.
    pub material: Material,
    /// How mass is distributed over the nodes.
    pub mass: MassModel,
    /// Nodes that do not move, in any order.
    pub pinned: Vec<u32>,
    /// Coefficient of friction of its surface.
    pub friction: f64,
    /// Rounding of its surface: contact begins at this distance from it, m.
    pub radius: f64,
    /// Red, green, blue, opacity, from 0 to 1.
    pub colour: [f32; 4],
    /// Whether its surface may touch itself.
    pub self_contact: bool,
}

impl SoftBodyDescription {
    /// A body of `mesh` and `material`; the rest as users expect: lumped mass, no pins, friction 1, no rounding, no contact with itself.
    pub fn new(name: impl Into<String>, mesh: TetMesh, material: Material) -> Self {
        Self {
            name: name.into(),
            mesh,
            material,
            mass: MassModel::default(),
            pinned: Vec::new(),
            friction: 1.0,
            radius: 0.0,
            colour: [0.85, 0.45, 0.4, 1.0],
            self_contact: false,
        }
    }
}

/// A soft body: immutable, shared. The description's fields can be read as if they were its own.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SoftBodyDescription", into = "SoftBodyDescription")]
pub struct SoftBody {
    description: SoftBodyDescription,
    surface: Surface,
    is_pinned: Vec<bool>,
    node_masses: Vec<f64>,
}

impl SoftBody {
    /// # Errors
    /// If the material is not valid, a pinned node is not there, or friction or radius is negative.
    pub fn new(mut description: SoftBodyDescription) -> Result<Self, Error> {
        description.material.validate()?;
        let nonnegative = |what, got: f64| {
            let is_valid = got >= 0.0 && got.is_finite();
            if is_valid { Ok(()) } else { Err(Error::Parameter { what, got, expected: "a number of 0 or more" }) }
        };
        nonnegative("the friction coefficient", description.friction)?;
        nonnegative("the radius", description.radius)?;
        let nodes = description.mesh.positions().len();
        description.pinned.sort_unstable();
        description.pinned.dedup();
        let mut is_pinned = vec![false; nodes];
        for &node in &description.pinned {
            *is_pinned.get_mut(node as usize).ok_or(Error::PinnedNode { node, last: nodes - 1 })? = true;
        }
        let node_masses = crate::mass::lumped_masses(&description.mesh, description.material.density);
        Ok(Self { surface: description.mesh.surface(), is_pinned, node_masses, description })
    }

    /// A body of `mesh` and `material`, the rest as in [`SoftBodyDescription::new`].
    ///
    /// # Errors
    /// If the material is not valid.
    pub fn of(name: impl Into<String>, mesh: TetMesh, material: Material) -> Result<Self, Error> {
        Self::new(SoftBodyDescription::new(name, mesh, material))
    }

    /// The same with a density by which it weighs `mass`, kg, which is positive.
    #[must_use]
    pub fn with_total_mass(mut self, mass: f64) -> Self {
        self.description.material.density *= mass / self.total_mass();
        // Not scaled: the description alone has to give the same bits.
        self.node_masses = crate::mass::lumped_masses(&self.mesh, self.material.density);
        self
    }

    /// What it was made from.
    pub fn description(&self) -> &SoftBodyDescription {
        &self.description
    }

    /// Number of nodes.
    pub fn node_count(&self) -> usize {
        self.mesh.positions().len()
    }

    /// Whether a node does not move.
    pub fn is_pinned(&self, node: u32) -> bool {
        self.is_pinned[node as usize]
    }

    /// The boundary.
    pub fn surface(&self) -> &Surface {
        &self.surface
    }

    /// The masses of the nodes (lumped, whatever the mass model), kg.
    pub fn node_masses(&self) -> &[f64] {
        &self.node_masses
    }

    /// The mass, kg.
    pub fn total_mass(&self) -> f64 {
        self.node_masses.iter().sum()
    }

    /// The undeformed positions, three numbers a node, m.
    pub fn rest_positions(&self) -> impl Iterator<Item = f64> + '_ {
        self.mesh.positions().iter().flat_map(|x: &Vec3<f64>| x.to_array())
    }
}

impl Deref for SoftBody {
    type Target = SoftBodyDescription;
    fn deref(&self) -> &SoftBodyDescription {
        &self.description
    }
}

impl TryFrom<SoftBodyDescription> for SoftBody {
    type Error = Error;
    fn try_from(description: SoftBodyDescription) -> Result<Self, Error> {
        Self::new(description)
    }
}

impl From<SoftBody> for SoftBodyDescription {
    fn from(body: SoftBody) -> Self {
        body.description
    }
}
