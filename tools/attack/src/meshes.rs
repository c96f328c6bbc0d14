//! Meshes and pictures of every format, and models that use them.

use support::SplitMix64;

/// A box, corners and outward faces.
const CORNERS: [[f32; 3]; 8] = [
    [0.0, 0.0, 0.0],
    [1.0, 0.0, 0.0],
    [0.0, 1.0, 0.0],
    [1.0, 1.0, 0.0],
    [0.0, 0.0, 1.0],
    [1.0, 0.0, 1.0],
    [0.0, 1.0, 1.0],
    [1.0, 1.0, 1.0],
];
const FACES: [[usize; 3]; 12] = [
    [0, 2, 3],
    [0, 3, 1],
    [4, 5, 7],
    [4, 7, 6],
    [0, 1, 5],
    [0, 5, 4],
    [2, 6, 7],
    [2, 7, 3],
    [0, 4, 6],
    [0, 6, 2],
    [1, 3, 7],
    [1, 7, 5],
];

/// A grey picture of 4 × 4 pixels.
const PNG: &[u8] = include_bytes!("../seeds/heights.png");

/// A tetrahedron with a triangle and a loose node in Gmsh's formats 2.2 and 4.1, and a tetrahedron with a line in VTK's versions 3 and 5.1.
const GMSH: [&str; 2] = [
    "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n5\n7 9 9 9\n1 0 0 0\n2 1 0 0\n4 0 1 0\n8 0 0 1\n$EndNodes\n\
     $Elements\n2\n1 2 2 0 1 1 2 7\n2 4 2 0 1 1 2 4 8\n$EndElements\n",
    "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n2 4 1 8\n0 1 0 1\n1\n0 0 0\n3 1 0 3\n2\n4\n8\n1 0 0\n0 1 0\n0 0 1\n\
     $EndNodes\n$Elements\n1 1 1 1\n3 1 4 1\n1 1 2 4 8\n$EndElements\n",
];
const VTK: [&str; 2] = [
    "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n0 0 0 1 0 0\n0 1 0 0 0 1\n\
     CELLS 2 8\n4 0 1 2 3\n2 0 1\nCELL_TYPES 2\n10\n3\n",
    "# vtk DataFile Version 5.1\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS 4 double\n0 0 0 1 0 0\n0 1 0 0 0 1\n\
     CELLS 3 6\nOFFSETS vtktypeint64\n0 4 6\nCONNECTIVITY vtktypeint64\n0 1 2 3 0 1\nCELL_TYPES 2\n10\n3\n",
];

/// The name and content of a file.
pub fn seed(random: &mut SplitMix64) -> (String, Vec<u8>) {
    let (name, bytes) = match random.below(9) {
        0 => ("mesh.stl", binary_stl()),
        1 => ("mesh.stl", ascii_stl().into_bytes()),
        2 => ("mesh.obj", obj().into_bytes()),
        3 => ("mesh.dae", include_str!("../seeds/box.dae").into()),
        4 => ("mesh.msh", msh()),
        5 => ("heights.png", PNG.to_vec()),
        6 => ("soft.msh", GMSH[random.below(2)].into()),
        7 => ("soft.vtk", VTK[random.below(2)].into()),
        _ => ("heights.bin", heights()),
    };
    (name.into(), bytes)
}

/// A model with this mesh or height field, and a box above it.
pub fn model(file: &str, random: &mut SplitMix64) -> String {
    let fitted = ["mesh", "mesh", "mesh", "box", "capsule", "ellipsoid"][random.below(6)];
    let inertia = ["legacy", "exact", "convex", "shell"][random.below(4)];
    let (asset, geom) = if file.starts_with("soft") {
        let soft = format!(
            "<body name=\"p\"><flexcomp name=\"m\" type=\"gmsh\" dim=\"3\" file=\"{file}\" mass=\"1\"><elasticity young=\"1e4\" \
             poisson=\".3\"/></flexcomp></body>"
        );
        (String::new(), soft)
    } else if file.starts_with("heights") {
        (
            format!("<hfield name=\"m\" file=\"{file}\" size=\"1 1 .5 .1\"/>"),
            "<geom type=\"hfield\" hfield=\"m\"/>".into(),
        )
    } else {
        let mesh = format!("<mesh name=\"m\" file=\"{file}\" inertia=\"{inertia}\"/>");
        (mesh, format!("<body pos=\"0 0 -1\"><freejoint/><geom type=\"{fitted}\" mesh=\"m\"/></body>"))
    };
    format!(
        "<mujoco><asset>{asset}</asset><worldbody><geom type=\"plane\" size=\"1 1 1\" pos=\"0 0 -1\"/>{geom}<body pos=\"0 0 .2\">\
         <freejoint/><geom type=\"box\" size=\".3 .2 .1\"/></body></worldbody></mujoco>"
    )
}

fn triangles() -> impl Iterator<Item = [[f32; 3]; 3]> {
    FACES.iter().map(|face| face.map(|i| CORNERS[i]))
}

fn binary_stl() -> Vec<u8> {
    let mut bytes = vec![0; 80];
    bytes.extend((FACES.len() as u32).to_le_bytes());
    for triangle in triangles() {
        bytes.extend([0; 12]);
        bytes.extend(triangle.iter().flatten().flat_map(|x| x.to_le_bytes()));
        bytes.extend([0; 2]);
    }
    bytes
}

fn ascii_stl() -> String {
    let vertex = |[x, y, z]: [f32; 3]| format!("vertex {x} {y} {z}\n");
    let facet = |triangle: [[f32; 3]; 3]| {
        format!("facet normal 0 0 0\nouter loop\n{}endloop\nendfacet\n", triangle.map(vertex).concat())
    };
    format!("solid box\n{}endsolid box\n", triangles().map(facet).collect::<String>())
}

fn obj() -> String {
    let vertices: String = CORNERS.iter().map(|[x, y, z]| format!("v {x} {y} {z}\n")).collect();
    let faces: String = FACES.iter().map(|[a, b, c]| format!("f {}//1 {}/1/1 {}\n", a + 1, b + 1, c + 1)).collect();
    format!("o box\n{vertices}vt 0 0\nvn 0 0 1\n{faces}f -1 -2 -3 -4\n")
}

fn msh() -> Vec<u8> {
    let counts = [CORNERS.len() as i32, 0, 0, FACES.len() as i32];
    let mut bytes: Vec<u8> = counts.iter().flat_map(|n| n.to_le_bytes()).collect();
    bytes.extend(CORNERS.iter().flatten().flat_map(|x| x.to_le_bytes()));
    bytes.extend(FACES.iter().flatten().flat_map(|&i| (i as i32).to_le_bytes()));
    bytes
}

/// MuJoCo's binary height field, 3 × 4.
fn heights() -> Vec<u8> {
    let mut bytes: Vec<u8> = [3_i32, 4].iter().flat_map(|n| n.to_le_bytes()).collect();
    bytes.extend((0..12).flat_map(|i| ((i * 7 % 5) as f32).to_le_bytes()));
    bytes
}
