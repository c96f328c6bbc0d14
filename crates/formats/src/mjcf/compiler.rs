//! `<compiler>`: how the rest of the file is to be understood.

use super::defaults::parse_keyword;
use super::orientation::{Angles, EulerSequence};
use crate::LoadError;
use crate::warnings::Warnings;
use crate::xml::Element;

/// Where inertias come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InertiaFromGeom {
    /// Always from geoms.
    Always,
    /// From geoms where there is no `<inertial>`.
    Auto,
    /// Never from geoms.
    Never,
}

/// The settings of all `<compiler>` elements, later ones first in rank.
#[derive(Clone, Debug)]
pub(super) struct Compiler {
    /// Units of angles and the meaning of `euler`.
    pub angles: Angles,
    /// Whether a range alone makes a limit.
    pub auto_limits: bool,
    /// Folder of meshes and height fields.
    pub mesh_dir: Option<String>,
    /// The folder of pictures for textures.
    pub texture_dir: Option<String>,
    /// Whether folders in file names are dropped.
    pub strip_path: bool,
    /// Where inertias come from.
    pub inertia_from_geom: InertiaFromGeom,
    /// Groups of the geoms that have mass.
    pub inertia_groups: [i32; 2],
    /// Least mass of a body, kg.
    pub bound_mass: f64,
    /// Least principal moment of a body, kg·m².
    pub bound_inertia: f64,
    /// Whether inertias that no body has are replaced by spheres.
    pub balance_inertia: bool,
    /// Mass of the whole model, kg.
    pub total_mass: Option<f64>,
    /// Whether primitives are fitted to the bounds of a mesh rather than to its inertia.
    pub fit_aabb: bool,
    /// Whether free bodies get the frame of their inertia.
    pub align_free: bool,
}

const BOOL: [(&str, bool); 2] = [("true", true), ("false", false)];

impl Compiler {
    /// Reads every `<compiler>` below the root.
    pub fn read(root: Element<'_>, warnings: &mut Warnings) -> Result<Self, LoadError> {
        let mut compiler = Self {
            angles: Angles { unit: std::f64::consts::PI / 180.0, sequence: EulerSequence::XYZ },
            auto_limits: true,
            mesh_dir: None,
            texture_dir: None,
            strip_path: false,
            inertia_from_geom: InertiaFromGeom::Auto,
            inertia_groups: [0, 5],
            bound_mass: 0.0,
            bound_inertia: 0.0,
            balance_inertia: false,
            total_mass: None,
            fit_aabb: false,
            align_free: false,
        };
        // `meshdir` outranks `assetdir` wherever they stand.
        let mut asset_dir = None;
        for element in root.children_named("compiler") {
            compiler.apply(element, warnings)?;
            asset_dir = element.attribute("assetdir").map(String::from).or(asset_dir);
        }
        compiler.mesh_dir = compiler.mesh_dir.or_else(|| asset_dir.clone());
        compiler.texture_dir = compiler.texture_dir.or(asset_dir);
        Ok(compiler)
    }

    fn apply(&mut self, element: Element<'_>, warnings: &mut Warnings) -> Result<(), LoadError> {
        let flag = |name: &'static str, into: &mut bool| -> Result<(), LoadError> {
            if let Some(value) = element.attribute(name) {
                *into = parse_keyword(element, name, value, &BOOL)?;
            }
            Ok(())
        };
        flag("autolimits", &mut self.auto_limits)?;
        flag("strippath", &mut self.strip_path)?;
        flag("balanceinertia", &mut self.balance_inertia)?;
        flag("fitaabb", &mut self.fit_aabb)?;
        flag("alignfree", &mut self.align_free)?;
        if let Some(value) = element.attribute("angle") {
            let units = [("degree", std::f64::consts::PI / 180.0), ("radian", 1.0)];
            self.angles.unit = parse_keyword(element, "angle", value, &units)?;
        }
        if let Some(value) = element.attribute("eulerseq") {
            self.angles.sequence = EulerSequence::parse(element, value)?;
        }
        if let Some(value) = element.attribute("coordinate") {
            parse_keyword(element, "coordinate", value, &[("local", ())])?;
        }
        if let Some(value) = element.attribute("inertiafromgeom") {
            use InertiaFromGeom::{Always, Auto, Never};
            let table = [("auto", Auto), ("true", Always), ("false", Never)];
            self.inertia_from_geom = parse_keyword(element, "inertiafromgeom", value, &table)?;
        }
        if let Some([low, high]) = element.array("inertiagrouprange")? {
            self.inertia_groups = [low as i32, high as i32];
        }
        self.bound_mass = at_least_zero(element, "boundmass")?.unwrap_or(self.bound_mass);
        self.bound_inertia = at_least_zero(element, "boundinertia")?.unwrap_or(self.bound_inertia);
        if let Some(mass) = element.number("settotalmass")? {
            self.total_mass = Some(mass).filter(|&m| m > 0.0);
        }
        self.mesh_dir = element.attribute("meshdir").map(String::from).or(self.mesh_dir.take());
        // How MuJoCo stores, draws and compiles the model has no part in what the model is.
        self.texture_dir = element.attribute("texturedir").map(String::from).or(self.texture_dir.take());
        element.skip(&["discardvisual", "usethread", "conflict", "passthrough", "assetdir"]);
        element.skip(&["savecanonical", "savecompiled", "saveinertial"]);
        let mut fuse = false;
        flag("fusestatic", &mut fuse)?;
        if fuse {
            let message = "bodies without joints stay bodies (they move as one with their parent all the same)";
            warnings.add_attribute(element, "fusestatic", message);
        }
        // Ranges of muscle lengths; muscles themselves are named where they stand.
        element.children_named("lengthrange").for_each(Element::skip_all);
        Ok(())
    }
}

fn at_least_zero(element: Element<'_>, name: &str) -> Result<Option<f64>, LoadError> {
    match element.number(name)? {
        Some(value) if value < 0.0 => Err(element.error(format!("{name}=\"{value}\": expected 0 or more"))),
        value => Ok(value),
    }
}
