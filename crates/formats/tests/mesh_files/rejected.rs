use super::*;

/// The error of a file with this content, after checking that it names the file.
fn error(name: &str, bytes: &[u8]) -> String {
    let message = read(name, bytes).unwrap_err().to_string();
    assert!(message.contains(&format!("mesh_files/{name}: ")), "{message}");
    message
}

#[test]
fn missing_files() {
    let error = sapwood_formats::mesh_files::read("no/such.stl".as_ref()).unwrap_err().to_string();
    assert!(error.starts_with("no/such.stl: cannot be read"), "{error}");
}

#[test]
fn unknown_formats() {
    assert!(error("t.fbx", b"").ends_with("expected .stl, .obj, .dae or .msh"));
    assert!(error("noextension", b"").ends_with("expected .stl, .obj, .dae or .msh"));
}

#[test]
fn empty_files() {
    for name in ["e.stl", "e.obj", "e.dae", "e.msh"] {
        error(name, b"");
    }
    assert!(error("none.stl", &binary_stl(b"", &[])).contains("no triangles"));
    assert!(error("points.obj", b"v 0 0 0\nv 1 0 0\n").contains("no triangles"));
}

#[test]
fn only_triangles_without_area() {
    assert!(error("line.stl", &binary_stl(b"", &[[[1.0; 3], [2.0; 3], [2.0; 3]]])).contains("no triangles"));
}

#[test]
fn stl_that_breaks_off() {
    let whole = binary_stl(b"", &tetrahedron());
    let between = error("cut.stl", &whole[..whole.len() - 50]);
    assert!(between.contains("with 3 triangles: expected 4"), "{between}");
    error("inside.stl", &whole[..whole.len() - 7]);
    error("header.stl", &whole[..60]);
    error("ascii_cut.stl", b"solid t\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\n");
}

#[test]
fn coordinates_that_are_not_finite() {
    let mut triangles = tetrahedron();
    triangles[2][1][0] = f32::NAN;
    assert!(error("nan.stl", &binary_stl(b"", &triangles)).contains("corner 1 of triangle 2 is not finite"));
    triangles[2][1][0] = f32::INFINITY;
    assert!(error("inf.stl", &binary_stl(b"", &triangles)).contains("corner 1 of triangle 2 is not finite"));
}

#[test]
fn indices_that_point_to_nothing() {
    error("index.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 4\n");
    error("zero.obj", b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 0 1 2\n");
    for bad in [4_i32, -1] {
        let mut bytes = msh();
        let last = bytes.len() - 4;
        bytes[last..].copy_from_slice(&bad.to_le_bytes());
        let message = error("index.msh", &bytes);
        assert!(
            message.contains(&format!("triangle 3 refers to vertex {bad}: expected an index below 4")),
            "{message}"
        );
    }
}

#[test]
fn msh_whose_counts_do_not_fit() {
    let whole = msh();
    assert!(error("cut.msh", &whole[..whole.len() - 1]).contains("bytes: expected"));
    assert!(error("short.msh", &whole[..10]).contains("begins with 16 bytes of counts"));
    let mut negative = whole.clone();
    negative[..4].copy_from_slice(&(-1_i32).to_le_bytes());
    assert!(error("negative.msh", &negative).contains("negative counts"));
    let mut huge = whole;
    huge[..16].copy_from_slice(&[i32::MAX.to_le_bytes(); 4].concat());
    assert!(error("huge.msh", &huge).contains("bytes: expected"));
}

#[test]
fn collada_that_doubles_itself_forty_times() {
    let twice = |i: usize| {
        format!("<node id=\"n{i}\"><instance_node url=\"#n{}\"/><instance_node url=\"#n{0}\"/></node>", i - 1)
    };
    let nodes: String = (1..=40).map(twice).collect();
    let text = format!(
        "<COLLADA><library_nodes><node id=\"n0\"/>{nodes}</library_nodes><library_visual_scenes><visual_scene id=\"s\">\
         <node><instance_node url=\"#n40\"/></node></visual_scene></library_visual_scenes></COLLADA>"
    );
    let error = error("doubled.dae", text.as_bytes());
    assert!(
        error.contains(&format!("more than {} elements", sapwood_formats::limits::MAX_COLLADA_ELEMENTS)),
        "{error}"
    );
}

#[test]
fn other_encodings_are_named() {
    let wide = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let obj = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    let stl = "solid a\nfacet normal 0 0 0\nouter loop\nvertex 0 0 0\n".repeat(9);
    for (name, text) in [("wide.obj", obj), ("wide.stl", &stl)] {
        for mark in ["", "\u{feff}"] {
            let message = error(name, &wide(&format!("{mark}{text}")));
            assert!(message.contains("is text in UTF-16"), "{message}");
        }
    }
}

#[test]
fn names_of_ascii_solids_may_have_any_letters() {
    let facet = "facet normal 0 0 0\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nendloop\nendfacet\n";
    for name in ["Gehäuse", "a\u{1b}[31m"] {
        let text = format!("solid {name}\n{}endsolid\n", facet.repeat(2));
        assert_eq!(read("named.stl", text.as_bytes()).unwrap().triangles.len(), 2, "{name}");
    }
}
