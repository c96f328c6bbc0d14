use super::*;

fn is_the_tetrahedron(soup: &TriangleSoup) {
    assert_eq!((soup.vertices.len(), soup.triangles.len()), (4, 4));
    assert_eq!(volume(soup), 1.0);
    assert_eq!(bounds(soup), ([0.0; 3], [1.0, 2.0, 3.0]));
}

#[test]
fn binary_stl_shares_vertices() {
    is_the_tetrahedron(&read("t.stl", &binary_stl(b"a mesh", &tetrahedron())).unwrap());
}

#[test]
fn binary_stl_may_begin_like_an_ascii_one() {
    is_the_tetrahedron(&read("solid.stl", &binary_stl(b"solid made by an exporter\n", &tetrahedron())).unwrap());
}

#[test]
fn extensions_in_capitals() {
    is_the_tetrahedron(&read("T.STL", &binary_stl(b"", &tetrahedron())).unwrap());
}

#[test]
fn ascii_stl() {
    let mut text = String::from("solid t\n");
    for [a, b, c] in tetrahedron() {
        text += "facet normal 0 0 0\n outer loop\n";
        for [x, y, z] in [a, b, c] {
            text += &format!("  vertex {x} {y:e} {z:.3}\n");
        }
        text += " endloop\nendfacet\n";
    }
    text += "endsolid t\n";
    // As other systems write it: with a mark of the encoding, and other ends of lines.
    for (mark, end) in [("", "\n"), ("\u{feff}", "\r\n"), ("\u{feff}", "\r"), ("", "\r")] {
        let text = format!("{mark}{}", text.replace('\n', end));
        is_the_tetrahedron(&read("ascii.stl", text.as_bytes()).unwrap());
    }
}

#[test]
fn minus_zero_is_zero() {
    let mut triangles = tetrahedron();
    triangles[0][0] = [-0.0, 0.0, -0.0];
    is_the_tetrahedron(&read("zero.stl", &binary_stl(b"", &triangles)).unwrap());
}

#[test]
fn triangles_with_coinciding_corners_are_left_out() {
    let mut triangles = tetrahedron();
    triangles.insert(0, [[9.0; 3], [9.0; 3], [8.0; 3]]);
    is_the_tetrahedron(&read("flat.stl", &binary_stl(b"", &triangles)).unwrap());
}

#[test]
fn obj_with_polygons_groups_negative_indices_and_missing_materials() {
    let text = "mtllib nowhere.mtl\no thing\nv 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nvn 0 0 1\ng first\nf 1//1 3//1 2//1\n\
                usemtl red\nf 1 2 4\ng second\nf -4 -1 -2\nf 2 3 4\n";
    is_the_tetrahedron(&read("t.obj", text.as_bytes()).unwrap());
    is_the_tetrahedron(&read("cr.obj", format!("\u{feff}{}", text.replace('\n', "\r")).as_bytes()).unwrap());
    let square = "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nf 1 2 3 4\n";
    let square = read("square.obj", square.as_bytes()).unwrap();
    assert_eq!((square.vertices.len(), square.triangles), (4, vec![[0, 1, 2], [0, 2, 3]]));
}

#[test]
fn msh_skips_normals_and_texture_coordinates() {
    is_the_tetrahedron(&read("t.msh", &msh()).unwrap());
}

/// Every corner of a face may name what it likes besides its vertex, a face may continue on the next line, and indices may
/// count from the end.
#[test]
fn obj_with_mixed_faces() {
    let text = "# r\u{e9}sum\u{e9}\nmtllib no.mtl\no t\nv 0 0 0\nv 1 0 0 0.5 0.5 0.5\nv 0 2 0\nv 0 0 3\nvt 0 0\nvn 0 0 1\n\
                usemtl m\ns off\nf 1//1 3/1/1 2\nf 1/1 2//1 4/1/1\nf -4 \\\n-1/-1 3//\nf 2/1/1 3 4\n";
    let bytes: Vec<u8> = text.chars().map(|c| c as u8).collect();
    let mixed = read("mixed.obj", &bytes).unwrap();
    assert_eq!(mixed, read("mixed.msh", &msh()).unwrap());
}
