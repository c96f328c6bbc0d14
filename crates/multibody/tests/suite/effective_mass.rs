//! How easily points of bodies are moved, beside closed forms.

use sapwood_multibody::EffectiveMass;
use spatial::Vec3;

#[test]
fn mobility_of_a_free_body_is_its_closed_form() {
    let mjcf = r#"<mujoco><worldbody><body><freejoint/><inertial pos=".1 -.2 .3" mass="2" diaginertia=".3 .4 .5"/>
        </body></worldbody></mujoco>"#;
    let model = formats::load_str(mjcf, None, &formats::LoadOptions::default()).unwrap().model;
    let mass = EffectiveMass::new(&model, &[1.0]);
    let rot = spatial::Quat::new(0.4, 0.2, -0.6, 0.3).unit().to_mat3();
    let local = Vec3::new(0.5, 0.7, -0.4);
    // tr W = 3/m + tr(r̂ I⁻¹ r̂ᵀ), r from the centre of mass.
    let r = local - Vec3::new(0.1, -0.2, 0.3);
    let [ix, iy, iz] = [0.3, 0.4, 0.5];
    let spin = (r.y * r.y + r.z * r.z) / ix + (r.x * r.x + r.z * r.z) / iy + (r.x * r.x + r.y * r.y) / iz;
    let expected = (1.5 + spin) / 27.0_f64.sqrt();
    let w = mass.node(0).inverse(&rot, rot * local);
    assert!((w - expected).abs() < 1e-14 * expected, "{w} {expected}");
    // Along n: 1/m + (r × n)ᵀ I⁻¹ (r × n).
    let n = Vec3::new(0.6, 0.0, 0.8);
    let s = r.cross(n);
    let expected = 0.5 + s.x * s.x / ix + s.y * s.y / iy + s.z * s.z / iz;
    let along = mass.node(0).bare_inverse(&rot, rot * local, rot * n);
    assert!((along - expected).abs() < 1e-14 * expected, "{along} {expected}");
}
