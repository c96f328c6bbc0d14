//! A ground for models that have none.

use geometry::{Geom, Shape};
use multibody::{JointKind, Kinematics, Material, forward_kinematics};
use spatial::{Pose, Vec3};

use crate::Loaded;
use crate::urdf::ROOT_JOINT;

/// Adds a level ground at this height, m, that everything can touch: the last geom, named `ground`, or `ground2`, … where another is. A URDF robot with a floating base, whose
/// file says nothing of where it stands, is lifted out of it: its lowest point at `q0` touches the ground.
pub fn add_ground(loaded: &mut Loaded, height: f64) {
    lift_floating_base(loaded, height);
    let is_free = |name: &String| loaded.scene.geoms.iter().all(|geom| geom.name != *name);
    let mut names = std::iter::once("ground".to_owned()).chain((2..).map(|k| format!("ground{k}")));
    let name = names.find(is_free).unwrap_or_default();
    loaded.model.materials.push(Material::default());
    loaded.scene.geoms.push(Geom {
        name,
        pose: Pose { pos: Vec3::new(0.0, 0.0, height), ..Pose::IDENTITY },
        contype: u32::MAX,
        conaffinity: u32::MAX,
        material: loaded.model.materials.len() - 1,
        rgba: [0.85, 0.87, 0.9, 1.0],
        ..Geom::new(0, Shape::Plane { half_extents: [0.0; 2] })
    });
}

fn lift_floating_base(loaded: &mut Loaded, height: f64) {
    let model = &mut loaded.model;
    let Some(root) = model.joints.iter().find(|joint| joint.kind == JointKind::Free && joint.name == ROOT_JOINT) else {
        return;
    };
    let mut kinematics = Kinematics::new(&model.tree);
    forward_kinematics(&model.tree, model.tree.all(), &model.q0, &mut kinematics);
    let touches = loaded.scene.geoms.iter().filter(|geom| geom.contype != 0 || geom.conaffinity != 0);
    let bottom = |geom: &Geom| {
        let body = &model.bodies[geom.body];
        let frame = &kinematics.frames[body.node?];
        let pose = Pose::new(frame.pos, frame.quat) * (body.pose * geom.pose);
        Some(pose.pos.z - geom.shape.reach(pose.rot.conjugate() * Vec3::new(0.0, 0.0, -1.0)))
    };
    // An MJCF file may have a joint of this name: it says where that is.
    let is_placed = model.q0[root.q..root.q + 3] != [0.0; 3];
    let lowest = touches.filter_map(bottom).fold(f64::INFINITY, f64::min);
    if !is_placed && lowest < height {
        model.q0[root.q + 2] += height - lowest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LoadOptions, load_str};

    #[test]
    fn a_floating_base_starts_on_the_ground() {
        let urdf = r#"<robot name="legged">
            <link name="trunk"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
              <collision><geometry><box size="0.4 0.2 0.1"/></geometry></collision></link>
            <link name="leg"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
              <collision><origin xyz="0 0 -0.3"/><geometry><sphere radius="0.02"/></geometry></collision></link>
            <joint name="hip" type="revolute"><parent link="trunk"/><child link="leg"/><axis xyz="0 1 0"/>
              <limit lower="-1" upper="1" effort="9" velocity="9"/></joint></robot>"#;
        let load =
            |floating_base| load_str(urdf, None, &LoadOptions { floating_base, ..LoadOptions::default() }).unwrap();
        let mut twice = load(false);
        (0..3).for_each(|_| add_ground(&mut twice, 0.0));
        let names: Vec<&str> = twice.scene.geoms.iter().rev().take(3).map(|geom| geom.name.as_str()).collect();
        assert_eq!(names, ["ground3", "ground2", "ground"]);
        let mut floating = load(true);
        add_ground(&mut floating, 0.5);
        assert!((floating.model.q0[2] - 0.82).abs() < 1e-15, "{}", floating.model.q0[2]);
        // One that is above stays where it is, and so does one that stands on the world.
        let (mut above, mut fixed) = (load(true), load(false));
        add_ground(&mut above, -1.0);
        add_ground(&mut fixed, 0.5);
        assert_eq!(above.model.q0[2], 0.0);
        assert_eq!(fixed.model.q0, [0.0]);
    }
}
