use super::*;

/// A document with one triangle, `unit` in its asset, and these nodes in its scene.
fn document(unit: &str, nodes: &str) -> String {
    let primitive =
        "<triangles count=\"1\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/><p>0 1 2</p></triangles>";
    with_primitive(unit, primitive, nodes)
}

fn with_primitive(unit: &str, primitive: &str, nodes: &str) -> String {
    format!(
        "<?xml version=\"1.0\"?>\n<COLLADA xmlns=\"http://www.collada.org/2005/11/COLLADASchema\" version=\"1.4.1\">\
         <asset>{unit}<up_axis>Y_UP</up_axis></asset><library_geometries><geometry id=\"g\"><mesh><source id=\"s\">\
         <float_array id=\"a\" count=\"12\">0 0 0 1 0 0 1 2 0 0 2 0</float_array><technique_common>\
         <accessor source=\"#a\" count=\"4\" stride=\"3\"/></technique_common></source><vertices id=\"v\">\
         <input semantic=\"POSITION\" source=\"#s\"/></vertices>{primitive}</mesh></geometry></library_geometries>\
         <library_nodes><node id=\"stored\"><translate>0 0 7</translate><instance_geometry url=\"#g\"/></node>\
         </library_nodes><library_visual_scenes><visual_scene id=\"scene\">{nodes}</visual_scene>\
         </library_visual_scenes><scene><instance_visual_scene url=\"#scene\"/></scene></COLLADA>"
    )
}

const SHOWN: &str = "<node><instance_geometry url=\"#g\"/></node>";

#[test]
fn units_become_metres_and_the_up_axis_is_left_alone() {
    let soup = read("unit.dae", document("<unit meter=\"0.01\"/>", SHOWN).as_bytes()).unwrap();
    assert_eq!(bounds(&soup), ([0.0; 3], [0.01, 0.02, 0.0]));
}

#[test]
fn transformations_apply_from_the_innermost_out() {
    let nodes = "<node><translate>10 0 0</translate><node><rotate>0 0 1 90</rotate><scale>1 1 1</scale>\
                 <instance_geometry url=\"#g\"/></node></node>";
    let (low, high) = bounds(&read("nested.dae", document("", nodes).as_bytes()).unwrap());
    let expected = [[8.0, 0.0, 0.0], [10.0, 1.0, 0.0]];
    for (found, expected) in [low, high].iter().flatten().zip(expected.iter().flatten()) {
        assert!((found - expected).abs() < 1e-15, "{low:?} {high:?}");
    }
}

#[test]
fn matrices_are_written_row_by_row() {
    let nodes = "<node><matrix>1 0 0 5  0 1 0 6  0 0 1 7  0 0 0 1</matrix><instance_geometry url=\"#g\"/></node>";
    let soup = read("matrix.dae", document("", nodes).as_bytes()).unwrap();
    assert_eq!(bounds(&soup), ([5.0, 6.0, 7.0], [6.0, 8.0, 7.0]));
}

#[test]
fn a_geometry_may_be_shown_twice_and_a_node_instanced() {
    let nodes = format!("{SHOWN}<node><instance_node url=\"#stored\"/></node>");
    let soup = read("twice.dae", document("", &nodes).as_bytes()).unwrap();
    assert_eq!((soup.triangles.len(), bounds(&soup).1), (2, [1.0, 2.0, 7.0]));
}

#[test]
fn what_the_scene_does_not_show_is_not_there() {
    let error = read("hidden.dae", document("", "<node/>").as_bytes()).unwrap_err().to_string();
    assert!(error.contains("no triangles"), "{error}");
}

#[test]
fn a_mirror_keeps_the_outside_out() {
    let normal = |nodes: &str| {
        let soup = read("mirror.dae", document("", nodes).as_bytes()).unwrap();
        let [a, b, c] = soup.triangles[0].map(|i| soup.vertices[i as usize]);
        (b - a).cross(c - a)
    };
    let mirrored = "<node><scale>-1 1 1</scale><instance_geometry url=\"#g\"/></node>";
    assert_eq!((normal(SHOWN).z, normal(mirrored).z), (2.0, 2.0));
}

#[test]
fn polygons_strips_and_fans_are_cut_into_triangles() {
    let input = "<input semantic=\"VERTEX\" source=\"#v\" offset=\"1\"/><input semantic=\"NORMAL\" source=\"#s\" offset=\"0\"/>";
    let fan = "<p>0 0 0 1 0 2 0 3</p>";
    let strip = "<p>0 0 0 1 0 3 0 2</p>";
    for (kind, content) in [
        ("polylist", format!("<vcount>4</vcount>{fan}")),
        ("polygons", fan.into()),
        ("trifans", fan.into()),
        ("tristrips", strip.into()),
    ] {
        let primitive = format!("<{kind} count=\"1\">{input}{content}</{kind}>");
        let soup = read(&format!("{kind}.dae"), with_primitive("", &primitive, SHOWN).as_bytes()).unwrap();
        let area = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| soup.vertices[i as usize]);
            0.5 * (b - a).cross(c - a).z
        };
        let areas: Vec<f64> = soup.triangles.iter().map(area).collect();
        assert_eq!(areas, [1.0, 1.0], "{kind}");
    }
}

#[test]
fn broken_documents_are_named_with_their_line() {
    let bad_index =
        "<triangles count=\"1\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/>\n<p>0 1 4</p></triangles>";
    let cases = [
        (with_primitive("", bad_index, SHOWN), "line 3: <p>: vertex 4: expected an index below 4"),
        (document("", "<node><instance_geometry url=\"#no\"/></node>"), "url=\"#no\": expected #id"),
        (document("<unit meter=\"0\"/>", SHOWN), "meter=\"0\": expected a number above 0"),
        (document("", "<node><matrix>1 2 3</matrix></node>"), "3 numbers: expected 16"),
        (document("", "<node id=\"n\"><instance_node url=\"#n\"/></node>"), "expected no node to contain itself"),
        (document("", "<node><instance_controller url=\"#c\"/></node>"), "a skinned mesh"),
        (document("", "<node>"), "well-formed XML"),
        ("<svg/>".into(), "<svg>: expected <COLLADA>"),
    ];
    for (text, expected) in cases {
        let error = read("broken.dae", text.as_bytes()).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}\n{expected}");
    }
}
