use super::*;

#[test]
fn names_in_a_world_begin_with_those_of_models() {
    let arm = |name: &str| {
        format!(
            "<model name=\"{name}\">{}<model name=\"hand\">{}</model>\
             <joint name=\"j\" type=\"revolute\"><parent>base</parent><child>hand::palm</child><axis/></joint></model>",
            link("base", "0 0 0 0 0 0"),
            link("palm", "1 0 0 0 0 0")
        )
    };
    let loaded = load(&world(&(arm("left") + &arm("right")))).model;
    let names: Vec<&str> = loaded.bodies.iter().map(|body| &*body.name).collect();
    assert_eq!(names, ["world", "left::base", "left::hand::palm", "right::base", "right::hand::palm"]);
    assert_eq!(loaded.joints[1].name, "left::j");
    assert!(loaded.warnings.is_empty(), "{:?}", loaded.warnings);
}

#[test]
fn what_a_world_says() {
    let content = format!(
        "<gravity>0 0 -1.6</gravity><physics name=\"p\" type=\"ode\"><max_step_size>0.004</max_step_size><real_time_factor>1</real_time_factor></physics>\
         <scene><ambient>1 1 1 1</ambient></scene><light name=\"sun\" type=\"directional\"><pose>0 0 9 0 0 0</pose></light>\
         <model name=\"m\">{}</model>",
        link("a", "0 0 0 0 0 0")
    );
    let model = load(&world(&content)).model;
    assert_eq!((model.gravity.z, model.timestep, &*model.name), (-1.6, 0.004, "w"));
    assert!(model.warnings.is_empty(), "{:?}", model.warnings);
    let standard = load(&world(&format!("<model name=\"m\">{}</model>", link("a", "0 0 0 0 0 0")))).model;
    assert_eq!(standard.gravity.z, -9.8);
}

#[test]
fn joints_between_models() {
    let ball = |name: &str| format!("<model name=\"{name}\">{}</model>", link("l", "0 0 0 0 0 0"));
    let joint = "<joint name=\"j\" type=\"fixed\"><parent>a</parent><child>b::l</child></joint>";
    let model = load(&world(&(ball("a") + &ball("b") + joint))).model;
    assert_eq!((model.nv(), &*model.joints[0].name), (6, "a::l"));
}

#[test]
fn what_is_not_simulated_is_named() {
    let content = format!("<plugin name=\"p\" filename=\"f\"/><model name=\"m\">{}</model>", link("a", "0 0 0 0 0 0"));
    warns(&load(&world(&content)), "world/plugin: not simulated");
    assert!(error("<sdf version=\"1.9\"/>").message().contains("no model"));
    let twice = format!("<model name=\"m\">{0}{0}</model>", link("a", "0 0 0 0 0 0"));
    assert!(error(&world(&twice)).message().contains("is taken"));
    assert!(error(&model("<link name=\"world\"/>")).message().contains("reserved"));
}

#[test]
fn weight_can_be_switched_off() {
    let text = format!("<link name=\"l\"><gravity>false</gravity>{INERTIAL}</link>");
    assert_eq!(load(&model(&text)).model.bodies[1].gravity_compensation, 1.0);
}
