//! Parameters into a model.

use geometry::{Scene, Shape};
use multibody::{
    ActuatorLaw, Compliance, EqualityKind, JointKind, JointLock, Material, Model, Resistance, Tendon, inertia_flaw,
};
use spatial::{Pose, Quat, Sym3, Vec3};

use super::{Feature, P, Parameter, ParameterError, Parameters};

const POSITIVE: &str = "a finite number above 0";
const UNIT_QUATERNION: &str = "a quaternion (w, x, y, z) of length 1";

impl Parameters {
    /// A model and its scene with these parameters.
    ///
    /// # Errors
    /// When an array has another length or a number is outside its domain.
    pub fn apply(&self, model: &Model, scene: &Scene) -> Result<(Model, Scene), ParameterError> {
        let (mut own, mut own_scene) = (model.clone(), scene.clone());
        self.write(model, scene, &mut own, &mut own_scene)?;
        Ok((own, own_scene))
    }

    /// Whether they can be [applied](Self::apply), for nothing where all are the model's.
    ///
    /// # Errors
    /// As `apply`.
    pub fn check(&self, model: &Model, scene: &Scene) -> Result<(), ParameterError> {
        if self.is_empty() { Ok(()) } else { self.apply(model, scene).map(drop) }
    }

    /// [`apply`](Self::apply) into copies of the model and the scene, which may have other parameters by now: nothing of them stays.
    ///
    /// # Errors
    /// As `apply`; the copies then have some of these parameters.
    pub fn write(
        &self,
        base: &Model,
        base_scene: &Scene,
        model: &mut Model,
        scene: &mut Scene,
    ) -> Result<(), ParameterError> {
        for (parameter, values) in self.iter() {
            check(parameter, values, base, base_scene)?;
        }
        restore(base, base_scene, model, scene);
        if let Some(gravity) = self.get(P::Gravity) {
            model.gravity = Vec3::new(gravity[0], gravity[1], gravity[2]);
        }
        self.apply_inertias(model)?;
        self.apply_placements(base, model)?;
        self.apply_surfaces(model, scene)?;
        self.apply_shapes(scene)?;
        move_obstacles(model, scene);
        for (parameter, to) in [
            (P::Armature, &mut model.armature),
            (P::Damping, &mut model.damping),
            (P::Stiffness, &mut model.stiffness),
            (P::Frictionloss, &mut model.friction_loss),
        ] {
            if let Some(values) = self.get(parameter) {
                to.copy_from_slice(values);
            }
        }
        self.apply_filters(scene);
        self.apply_equalities(model)?;
        self.apply_ranges(model)?;
        self.apply_locks(model)?;
        self.apply_limits(model)?;
        self.apply_actuators(model)?;
        for (feature, disabled) in Feature::ALL.into_iter().zip(self.get(P::Disabled).unwrap_or_default()) {
            if *disabled != 0.0 {
                feature.disable(model, scene);
            }
        }
        Ok(())
    }

    /// A row of a parameter that is set.
    fn row<const N: usize>(&self, parameter: Parameter, index: usize) -> Option<[f64; N]> {
        self.get(parameter)?.as_chunks().0.get(index).copied()
    }

    /// The rotation in a row of a parameter that is set, where it is another one than `before`.
    fn rotation(
        &self,
        parameter: Parameter,
        index: usize,
        before: Quat<f64>,
    ) -> Result<Option<Quat<f64>>, ParameterError> {
        let Some(given) = self.row(parameter, index).map(Quat::from).filter(|given| *given != before) else {
            return Ok(None);
        };
        let wrong = || wrong(parameter, index, None, given.w, UNIT_QUATERNION);
        given.normalized().ok_or_else(wrong).map(Some)
    }

    fn apply_inertias(&self, model: &mut Model) -> Result<(), ParameterError> {
        let all = [P::Masses, P::Coms, P::Inertias, P::InertiaScales];
        if all.iter().all(|parameter| self.get(*parameter).is_none()) {
            return Ok(());
        }
        for (index, body) in model.bodies.iter_mut().enumerate() {
            let inertia = &mut body.inertia;
            if let Some(com) = self.row(P::Coms, index) {
                inertia.com = Vec3::from(com);
            }
            if let Some([xx, yy, zz, xy, xz, yz]) = self.row(P::Inertias, index) {
                let new = Sym3::new([xx, xy, xz, yy, yz, zz]);
                let is_other = new != inertia.inertia;
                inertia.inertia = new;
                if is_other && let Some((expected, moments)) = inertia_flaw(inertia) {
                    return Err(wrong(P::Inertias, index, None, moments[0], expected));
                }
            }
            if let Some([mass]) = self.row(P::Masses, index) {
                let before = inertia.mass;
                if (before > 0.0) != (mass > 0.0) {
                    let expected = if before > 0.0 { "above 0" } else { "0, as the body has no mass in the model" };
                    return Err(wrong(P::Masses, index, None, mass, expected));
                }
                if before > 0.0 {
                    inertia.mass = mass;
                    inertia.inertia = inertia.inertia.map(|x| x * (mass / before));
                }
            }
            if let Some([scale]) = self.row(P::InertiaScales, index) {
                inertia.inertia = inertia.inertia.map(|x| x * scale);
            }
        }
        model.collect_inertias();
        Ok(())
    }

    fn apply_placements(&self, base: &Model, model: &mut Model) -> Result<(), ParameterError> {
        let are_joints_moved = self.apply_joints(model)?;
        if self.get(P::BodyPositions).is_none() && self.get(P::BodyQuaternions).is_none() && !are_joints_moved {
            return Ok(());
        }
        for index in 0..model.bodies.len() {
            let pose = &mut model.bodies[index].pose_in_parent;
            let mut changed = None;
            if let Some(position) = self.row(P::BodyPositions, index).filter(|given| *given != pose.pos.to_array()) {
                let column = first_change(&position, &pose.pos.to_array());
                (pose.pos, changed) = (position.into(), Some((P::BodyPositions, column)));
            }
            if let Some(rot) = self.rotation(P::BodyQuaternions, index, pose.rot)? {
                let given: [f64; 4] = self.row(P::BodyQuaternions, index).unwrap_or_default();
                let column = first_change(&given, &pose.rot.to_array());
                (pose.rot, changed) = (rot, Some((P::BodyQuaternions, column)));
            }
            if let (Some((parameter, (column, value))), true) = (changed, is_in_state(base, index)) {
                let expected = "the model's: what is free, or moved from outside, is where the state has it";
                return Err(wrong(parameter, index, Some(column), value, expected));
            }
        }
        model.place_bodies();
        Ok(())
    }

    /// Axes and anchors; whether there are any anchors.
    fn apply_joints(&self, model: &mut Model) -> Result<bool, ParameterError> {
        let Model { joints, tree, .. } = model;
        let rows = |parameter| self.get(parameter).unwrap_or_default().as_chunks::<3>().0;
        for (index, (joint, &row)) in joints.iter_mut().zip(rows(P::JointAxes)).enumerate() {
            let given = Vec3::from(row);
            match &mut joint.kind {
                JointKind::Revolute { axis } | JointKind::Prismatic { axis } | JointKind::Screw { axis, .. }
                    if given != *axis =>
                {
                    let expected = "an axis, not three times 0";
                    *axis = given.normalized().ok_or_else(|| wrong(P::JointAxes, index, None, row[0], expected))?;
                    tree.nodes[joint.nodes.start].axis = *axis;
                }
                JointKind::Revolute { .. } | JointKind::Prismatic { .. } | JointKind::Screw { .. } => {}
                _ if given != Vec3::ZERO => {
                    return Err(wrong(P::JointAxes, index, None, row[0], "0, 0, 0: the joint has not one axis"));
                }
                _ => {}
            }
        }
        for (index, (joint, &row)) in joints.iter_mut().zip(rows(P::JointAnchors)).enumerate() {
            let given = Vec3::from(row);
            if joint.kind == JointKind::Free && given != joint.anchor {
                return Err(wrong(
                    P::JointAnchors,
                    index,
                    None,
                    row[0],
                    "0, 0, 0: a free joint is at its body's origin",
                ));
            }
            joint.anchor = given;
        }
        Ok(self.get(P::JointAnchors).is_some())
    }

    fn apply_surfaces(&self, model: &mut Model, scene: &mut Scene) -> Result<(), ParameterError> {
        let all = [P::Frictions, P::TorsionalFrictions, P::RollingFrictions].map(|parameter| self.get(parameter));
        for (index, geom) in scene.geoms.iter_mut().enumerate() {
            let Some(surface) = model.materials.get(geom.material).copied() else { continue };
            let own = |values: Option<&[f64]>, of_surface| values.map_or(of_surface, |values| values[index]);
            let new = Material {
                friction: own(all[0], surface.friction),
                torsional_friction: own(all[1], surface.torsional_friction),
                rolling_friction: own(all[2], surface.rolling_friction),
                resistance: Resistance::of_rows(own(self.get(P::Condims), surface.resistance.rows() as f64))
                    .unwrap_or(surface.resistance),
                compliance: self.compliance([P::Solref, P::Solimp], index, surface.compliance)?,
                ..surface
            };
            if new != surface {
                // Other geoms may have the same surface.
                geom.material = model.materials.len();
                model.materials.push(new);
            }
        }
        for (index, pair) in scene.pairs.iter_mut().enumerate() {
            let Some(surface) = model.materials.get(pair.material).copied() else { continue };
            let compliance = self.compliance([P::PairSolref, P::PairSolimp], index, surface.compliance)?;
            let mut new = Material { compliance, ..surface };
            if let Some(frictions) = self.row(P::PairFrictions, index) {
                new = new.with_pair_frictions(frictions);
            }
            if new != surface {
                pair.material = model.materials.len();
                model.materials.push(new);
            }
        }
        Ok(())
    }

    fn apply_limits(&self, model: &mut Model) -> Result<(), ParameterError> {
        for (index, joint) in model.joints.iter_mut().enumerate() {
            joint.limit_compliance =
                self.compliance([P::LimitSolref, P::LimitSolimp], index, joint.limit_compliance)?;
        }
        Ok(())
    }

    /// The compliance of a geom, a pair or a limit, of which the model's is `of_model`, by the parameters of its `solref` and `solimp`.
    fn compliance(
        &self,
        parameters: [Parameter; 2],
        index: usize,
        of_model: Compliance,
    ) -> Result<Compliance, ParameterError> {
        let (solref, solimp) = (self.row::<2>(parameters[0], index), self.row::<5>(parameters[1], index));
        let Compliance::Reference(mut reference) = of_model else {
            let rows = [solref.as_ref().map(<[f64; 2]>::as_slice), solimp.as_ref().map(<[f64; 5]>::as_slice)];
            for (parameter, row) in parameters.into_iter().zip(rows.map(Option::unwrap_or_default)) {
                if let Some(k) = row.iter().position(|x| *x != 0.0) {
                    let expected = "0, as the model has neither solref nor solimp there";
                    return Err(wrong(parameter, index, Some(k), row[k], expected));
                }
            }
            return Ok(of_model);
        };
        reference.solref = solref.unwrap_or(reference.solref);
        reference.solimp = solimp.unwrap_or(reference.solimp);
        if !reference.is_valid() {
            let expected = "with the number beside it a finite stiffness and damping: both positive, or neither";
            return Err(wrong(parameters[0], index, Some(0), reference.solref[0], expected));
        }
        Ok(Compliance::Reference(reference))
    }

    fn apply_shapes(&self, scene: &mut Scene) -> Result<(), ParameterError> {
        for (index, geom) in scene.geoms.iter_mut().enumerate() {
            if let Some(position) = self.row(P::GeomPositions, index) {
                geom.pose.pos = Vec3::from(position);
            }
            if let Some(rot) = self.rotation(P::GeomQuaternions, index, geom.pose.rot)? {
                geom.pose.rot = rot;
            }
            let Some([x, y, z]) = self.row(P::GeomSizes, index) else { continue };
            let positive = |values: &[f64]| match values.iter().position(|x| !is_positive(*x)) {
                None => Ok(()),
                Some(k) => Err(wrong(P::GeomSizes, index, Some(k), values[k], POSITIVE)),
            };
            match &mut geom.shape {
                Shape::Sphere { radius } => {
                    positive(&[x])?;
                    *radius = x;
                }
                Shape::Capsule { radius, half_length } | Shape::Cylinder { radius, half_length } => {
                    positive(&[x, y])?;
                    (*radius, *half_length) = (x, y);
                }
                Shape::Ellipsoid { radii: all } | Shape::Box { half_extents: all } => {
                    positive(&[x, y, z])?;
                    *all = [x, y, z];
                }
                Shape::Plane { .. } | Shape::Mesh(_) | Shape::HeightField(_) => {}
            }
        }
        Ok(())
    }

    fn apply_filters(&self, scene: &mut Scene) {
        let bits = |parameter| self.get(parameter).into_iter().flatten().map(|bits| *bits as u32);
        scene.geoms.iter_mut().zip(bits(P::Contypes)).for_each(|(geom, bits)| geom.contype = bits);
        scene.geoms.iter_mut().zip(bits(P::Conaffinities)).for_each(|(geom, bits)| geom.conaffinity = bits);
    }

    fn apply_equalities(&self, model: &mut Model) -> Result<(), ParameterError> {
        for (index, equality) in model.equalities.iter_mut().enumerate() {
            if let Some([a, b, c, x, y, z]) = self.row(P::EqualityAnchors, index) {
                let own = [Vec3::new(a, b, c), Vec3::new(x, y, z)];
                match &mut equality.kind {
                    EqualityKind::Connect { anchors, .. } | EqualityKind::Distance { anchors, .. } => *anchors = own,
                    EqualityKind::Weld { frames, .. } => {
                        frames.iter_mut().zip(own).for_each(|(frame, pos)| frame.pos = pos);
                    }
                    EqualityKind::Coupling { .. } => {}
                }
            }
            let before = super::turn(&equality.kind).into();
            if let EqualityKind::Weld { frames, .. } = &mut equality.kind
                && let Some(rot) = self.rotation(P::EqualityQuaternions, index, before)?
            {
                frames[0].rot = rot * frames[1].rot;
            }
        }
        Ok(())
    }

    fn apply_ranges(&self, model: &mut Model) -> Result<(), ParameterError> {
        for (index, joint) in model.joints.iter_mut().enumerate() {
            let Some([low, high]) = self.row(P::JointRanges, index) else { return Ok(()) };
            if (low, high) == joint.range.unwrap_or((f64::NEG_INFINITY, f64::INFINITY)) {
                continue;
            }
            let expected = if low.is_nan() || high.is_nan() || low > high {
                "a lower limit and an upper one that is not below it"
            } else if !joint.kind.can_have_limits() {
                "-inf and inf, as joints of this kind have no limits"
            } else if joint.kind == JointKind::Ball && !(low == 0.0 && high > 0.0) {
                "0 and the greatest angle, above 0, of a ball"
            } else {
                joint.range = Some((low, high));
                continue;
            };
            let k = usize::from(!low.is_nan());
            return Err(wrong(P::JointRanges, index, Some(k), [low, high][k], expected));
        }
        Ok(())
    }

    fn apply_locks(&self, model: &mut Model) -> Result<(), ParameterError> {
        for (joint, row) in self.get(P::JointLocks).unwrap_or_default().as_chunks::<8>().0.iter().enumerate() {
            if row[0] == 0.0 {
                continue;
            }
            let [_, a, b, c, d, e, f, g] = *row;
            let (pos, [w, x, y, z], used) = match model.joints[joint].kind {
                JointKind::Ball => (Vec3::ZERO, [a, b, c, d], 5),
                JointKind::Free => (Vec3::new(a, b, c), [d, e, f, g], 8),
                _ => {
                    let expected = "0: joint_ranges hold what is neither a ball nor a free joint";
                    return Err(wrong(P::JointLocks, joint, Some(0), row[0], expected));
                }
            };
            let wrong = |column: usize, expected| wrong(P::JointLocks, joint, Some(column), row[column], expected);
            if row[0] != 1.0 {
                return Err(wrong(0, "1 or 0"));
            }
            let rot = Quat { w, x, y, z }.normalized().ok_or_else(|| wrong(used - 4, UNIT_QUATERNION))?;
            if let Some(column) = (used..8).find(|column| row[*column] != 0.0) {
                return Err(wrong(column, "0 behind the coordinates of the joint"));
            }
            model.joint_locks.push(JointLock { joint, pose: Pose::new(pos, rot) });
        }
        Ok(())
    }

    fn apply_actuators(&self, model: &mut Model) -> Result<(), ParameterError> {
        if let Some(damping) = self.get(P::Kv) {
            for (actuator, damping) in model.actuators.iter_mut().zip(damping) {
                if actuator.law.bias[1] != 0.0 {
                    actuator.law.bias[2] = -damping;
                }
            }
        }
        if let Some(gains) = self.get(P::Gains) {
            for (index, (actuator, gain)) in model.actuators.iter_mut().zip(gains).enumerate() {
                let law = &mut actuator.law;
                let servo = (1..3).find(|&k| law.bias[k] != 0.0 && law.bias[k] == -law.gain);
                if let Some(k) = servo {
                    if !is_not_negative(*gain) {
                        return Err(wrong(P::Gains, index, None, *gain, "0 or more, the actuator is a servo"));
                    }
                    law.bias[k] = -gain;
                }
                law.gain = *gain;
            }
        }
        for (actuator, enabled) in model.actuators.iter_mut().zip(self.get(P::ActuatorsEnabled).unwrap_or_default()) {
            if *enabled == 0.0 {
                actuator.law = ActuatorLaw::fixed(0.0, [0.0; 3]);
            }
        }
        Ok(())
    }
}

/// Whether a body's place is in the state, or it is the world.
pub(crate) fn is_in_state(model: &Model, body: usize) -> bool {
    let is_free = |joint: &multibody::Joint| joint.body == body && joint.kind == JointKind::Free;
    body == 0 || model.bodies[body].is_mocap || model.joints.iter().any(is_free)
}

/// Takes back all that parameters change.
fn restore(base: &Model, base_scene: &Scene, model: &mut Model, scene: &mut Scene) {
    model.gravity = base.gravity;
    for (own, body) in model.bodies.iter_mut().zip(&base.bodies) {
        (own.inertia, own.pose, own.pose_in_parent) = (body.inertia, body.pose, body.pose_in_parent);
    }
    model.tree.nodes.copy_from_slice(&base.tree.nodes);
    model.joint_locks.clear();
    for (own, joint) in model.joints.iter_mut().zip(&base.joints) {
        (own.range, own.limit_compliance) = (joint.range, joint.limit_compliance);
        (own.kind, own.anchor, own.polynomial) = (joint.kind, joint.anchor, joint.polynomial);
    }
    for (own, tendon) in model.tendons.iter_mut().zip(&base.tendons) {
        (own.range, own.stiffness, own.damping) = (tendon.range, tendon.stiffness, tendon.damping);
        (own.friction_loss, own.polynomial) = (tendon.friction_loss, tendon.polynomial);
    }
    scene.pairs.clone_from(&base_scene.pairs);
    model.actuators.iter_mut().zip(&base.actuators).for_each(|(own, actuator)| own.law = actuator.law);
    model.materials.truncate(base.materials.len());
    model.equalities.iter_mut().zip(&base.equalities).for_each(|(own, equality)| own.kind.clone_from(&equality.kind));
    for (own, of_base) in [
        (&mut model.armature, &base.armature),
        (&mut model.damping, &base.damping),
        (&mut model.stiffness, &base.stiffness),
        (&mut model.friction_loss, &base.friction_loss),
    ] {
        own.copy_from_slice(of_base);
    }
    for (own, geom) in scene.geoms.iter_mut().zip(&base_scene.geoms) {
        (own.material, own.pose) = (geom.material, geom.pose);
        (own.contype, own.conaffinity) = (geom.contype, geom.conaffinity);
        own.shape.clone_from(&geom.shape);
    }
}

/// What the numbers of a parameter may be by themselves.
#[derive(Clone, Copy)]
pub(super) enum Domain {
    Finite,
    NotNegative,
    /// Likewise, where they are not the model's: a servo's damping pushes back; the rest of actuators has there what its bias has.
    NotNegativeIfChanged,
    Positive,
    Switch,
    Bits,
    Resistance,
    /// That depends on what they are of.
    OfEach,
}

impl Domain {
    /// Whether a number is in it, and what is expected.
    fn test(self) -> (fn(f64) -> bool, &'static str) {
        match self {
            Self::Finite => (f64::is_finite, "a finite number"),
            Self::NotNegative | Self::NotNegativeIfChanged => (is_not_negative, "a finite number, 0 or more"),
            Self::Positive => (is_positive, POSITIVE),
            Self::Switch => (|x| x == 0.0 || x == 1.0, "1 or 0"),
            Self::Bits => (is_bits, "a whole number from 0 to 4294967295"),
            Self::Resistance => (|x| Resistance::of_rows(x).is_some(), "1, 3, 4 or 6"),
            Self::OfEach => (|_| true, ""),
        }
    }
}

/// Length and numbers of an array by themselves.
fn check(parameter: Parameter, values: &[f64], model: &Model, scene: &Scene) -> Result<(), ParameterError> {
    let (rows, columns) = parameter.shape(model, scene);
    if values.len() != rows * columns {
        let (name, found, expected) = (parameter.name(), values.len(), rows * columns);
        return Err(ParameterError::Size { name, found, expected });
    }
    let domain = parameter.traits().domain;
    let (is_right, expected) = domain.test();
    let unchanged = matches!(domain, Domain::NotNegativeIfChanged).then(|| parameter.of(model, scene));
    let is_unchanged = |k: usize| unchanged.as_ref().is_some_and(|unchanged| unchanged[k] == values[k]);
    match (0..values.len()).find(|&k| !(is_right(values[k]) || is_unchanged(k))) {
        None => Ok(()),
        Some(k) => {
            let column = (columns > 1).then_some(k % columns);
            Err(wrong(parameter, k / columns, column, values[k], expected))
        }
    }
}

fn wrong(
    parameter: Parameter,
    row: usize,
    column: Option<usize>,
    value: f64,
    expected: &'static str,
) -> ParameterError {
    let index = column.map_or_else(|| row.to_string(), |column| format!("{row}, {column}"));
    ParameterError::Value { name: parameter.name(), index, value, expected }
}

/// The first of the numbers that is another one than before, and where it is.
fn first_change(now: &[f64], before: &[f64]) -> (usize, f64) {
    let is_other = |(_, (now, before)): &(usize, (&f64, &f64))| now != before;
    now.iter().zip(before).enumerate().find(is_other).map_or((0, f64::NAN), |(column, (now, _))| (column, *now))
}

fn is_not_negative(x: f64) -> bool {
    x >= 0.0 && x.is_finite()
}

fn is_bits(x: f64) -> bool {
    (0.0..=f64::from(u32::MAX)).contains(&x) && x.fract() == 0.0
}

fn is_positive(x: f64) -> bool {
    x > 0.0 && x.is_finite()
}

/// Strings wrap around geoms where these are.
fn move_obstacles(model: &mut Model, scene: &Scene) {
    for obstacle in model.tendons.iter_mut().flat_map(Tendon::obstacles_mut) {
        let Some(geom) = scene.geoms.get(obstacle.geom) else { continue };
        obstacle.pose = geom.pose;
        if let Shape::Sphere { radius } | Shape::Cylinder { radius, .. } = geom.shape {
            obstacle.radius = radius;
        }
    }
}
