use super::*;

/// Links of 1 kg of these names.
fn links(names: &[&str]) -> String {
    names.iter().map(|n| format!("<link name=\"{n}\">{INERTIAL}</link>\n")).collect()
}

/// Joints `parent-child`, revolute and unlimited.
fn joints(pairs: &[(&str, &str)]) -> String {
    let joint = |(a, b): &(&str, &str)| {
        format!("<joint name=\"{a}-{b}\" type=\"continuous\"><parent link=\"{a}\"/><child link=\"{b}\"/></joint>\n")
    };
    pairs.iter().map(joint).collect()
}

fn robot(names: &[&str], pairs: &[(&str, &str)]) -> String {
    format!("<robot name=\"r\">\n{}{}</robot>", links(names), joints(pairs))
}

#[test]
fn bodies_come_depth_first_in_the_order_of_the_joints() {
    let text = robot(&["c", "b", "a", "root"], &[("root", "b"), ("root", "a"), ("b", "c")]);
    let names: Vec<String> = load(&text).model.bodies.into_iter().map(|b| b.name).collect();
    assert_eq!(names, ["world", "root", "b", "c", "a"]);
}

#[test]
fn limbs_of_a_fixed_base_are_trees_of_their_own() {
    let model = load(&robot(&["root", "a", "b"], &[("root", "a"), ("root", "b")])).model;
    assert_eq!((model.tree.trees.len(), model.nv()), (2, 2));
}

#[test]
fn a_floating_base_moves_by_a_free_joint() {
    let options = LoadOptions { floating_base: true, ..LoadOptions::default() };
    let text = robot(&["root", "a", "b"], &[("root", "a"), ("root", "b")]);
    let model = load_str(&text, None, &options).unwrap().model;
    assert_eq!((model.joints[0].name.as_str(), model.joints[0].kind.name()), ("root_joint", "free"));
    assert_eq!((model.tree.trees.len(), model.nq(), model.nv()), (1, 9, 8));
    assert_eq!(model.q0, [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 0.0]);
}

#[test]
fn a_root_link_called_world_is_the_world() {
    let model = load(&robot(&["world", "a"], &[("world", "a")])).model;
    assert_eq!((model.bodies.len(), model.bodies[1].parent), (2, 0));
}

#[test]
fn a_chain_of_ten_thousand_links() {
    let names: Vec<String> = (0..10_000).map(|i| format!("l{i}")).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let pairs: Vec<(&str, &str)> = names.windows(2).map(|w| (w[0], w[1])).collect();
    assert_eq!(load(&robot(&names, &pairs)).model.nv(), 9_999);
}

#[test]
fn what_is_no_tree_is_named_with_its_line() {
    let ab = &["a", "b"];
    let abc = &["a", "b", "c"];
    let cases = [
        (robot(&[], &[]), 1, "no <link>"),
        (robot(ab, &[]), 3, "no joint leads to links \"a\" and \"b\": expected one root link"),
        (robot(abc, &[("a", "c"), ("b", "c")]), 6, "link \"c\" is already the child of the joint at line 5"),
        (robot(ab, &[("a", "b"), ("b", "a")]), 2, "link \"a\" hangs on itself"),
        (robot(abc, &[("b", "c"), ("c", "b")]), 3, "link \"b\" hangs on itself"),
        (robot(ab, &[("a", "a")]), 2, "link \"a\" hangs on itself"),
        (robot(ab, &[("a", "c")]), 4, "link=\"c\": expected the name of a link"),
        (robot(ab, &[("c", "b")]), 4, "link=\"c\": expected the name of a link"),
        (robot(&["a", "a"], &[]), 3, "name=\"a\" is taken"),
        (robot(abc, &[("a", "b"), ("a", "b")]), 6, "name=\"a-b\" is taken"),
    ];
    for (text, line, expected) in cases {
        let error = error(&text);
        assert!(error.message().contains(expected), "{error}\n{expected}");
        // Of two joints or links that are at odds either may be named.
        assert!(error.line().abs_diff(line) <= 1, "{error}\n{text}");
    }
}
