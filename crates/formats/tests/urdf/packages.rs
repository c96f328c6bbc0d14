use std::path::{Path, PathBuf};

use geometry::Shape;

use super::*;

/// A tetrahedron of volume 1.
const OBJ: &str = "v 0 0 0\nv 1 0 0\nv 0 2 0\nv 0 0 3\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n";

/// A folder of this test's own with the mesh at `path` in it.
fn folder(test: &str, path: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("urdf").join(test);
    let file = folder.join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, OBJ).unwrap();
    folder
}

fn robot(address: &str) -> String {
    let mesh = format!("<mesh filename=\"{address}\" scale=\"1 -1 2\"/>");
    format!("<robot name=\"r\"><link name=\"l\"><collision><geometry>{mesh}</geometry></collision></link></robot>")
}

/// Loads a file with this address in it from a folder.
fn load_from(folder: &Path, address: &str, options: &LoadOptions) -> Result<Loaded, LoadError> {
    std::fs::create_dir_all(folder).unwrap();
    let path = folder.join("robot.urdf");
    std::fs::write(&path, robot(address)).unwrap();
    sapwood_formats::load(&path, options)
}

fn finds(folder: &Path, address: &str, options: &LoadOptions) {
    let scene = load_from(folder, address, options).unwrap().scene;
    let Shape::Mesh(mesh) = &scene.geoms[0].shape else { panic!("no mesh") };
    assert!(mesh.hull().is_some());
}

#[test]
fn paths_are_relative_to_the_file() {
    let folder = folder("relative", "meshes/t.obj");
    finds(&folder.join("urdf"), "../meshes/t.obj", &LoadOptions::default());
    finds(&folder.join("urdf"), "file://../meshes/t.obj", &LoadOptions::default());
}

#[test]
fn full_paths() {
    let folder = folder("full", "t.obj");
    let path = folder.join("t.obj").display().to_string();
    finds(&folder.join("elsewhere"), &path, &LoadOptions::default());
    finds(&folder.join("elsewhere"), &format!("file://{path}"), &LoadOptions::default());
}

#[test]
fn packages_are_ancestors_of_the_file_or_beside_them() {
    let folder = folder("ancestors", "my_robot/meshes/t.obj");
    finds(&folder.join("my_robot/urdf"), "package://my_robot/meshes/t.obj", &LoadOptions::default());
    finds(&folder.join("other/urdf"), "package://my_robot/meshes/t.obj", &LoadOptions::default());
    finds(&folder.join("other/urdf"), "model://my_robot/meshes/t.obj", &LoadOptions::default());
}

#[test]
fn packages_are_in_the_package_path_or_are_its_folders() {
    let folder = folder("listed", "a/my_robot/t.obj");
    let here = folder.join("far/away");
    for listed in ["a", "a/my_robot"] {
        let options = LoadOptions { package_path: vec![folder.join(listed)], ..LoadOptions::default() };
        finds(&here, "package://my_robot/t.obj", &options);
    }
}

#[test]
fn the_package_path_comes_before_the_ancestors() {
    let folder = folder("order", "my_robot/t.obj");
    let first = folder.join("first/my_robot");
    std::fs::create_dir_all(&first).unwrap();
    std::fs::write(first.join("t.obj"), "broken").unwrap();
    let options = LoadOptions { package_path: vec![folder.join("first")], ..LoadOptions::default() };
    let error = load_from(&folder, "package://my_robot/t.obj", &options).unwrap_err();
    assert!(error.message().contains("first/my_robot/t.obj"), "{error}");
}

#[test]
fn a_mesh_that_is_not_there_is_an_error_with_the_places() {
    let folder = folder("missing", "t.obj");
    let error = load_from(&folder, "package://my_robot/none.obj", &LoadOptions::default()).unwrap_err();
    let place = folder.join("my_robot/none.obj").display().to_string();
    assert!(error.line() == 1 && error.element() == "mesh" && error.message().contains(&place), "{error}");
}

#[test]
fn text_from_memory_has_no_folder() {
    let error = error(&robot("t.obj"));
    assert!(error.message().contains("no such file"), "{error}");
}

#[test]
fn meshes_are_scaled_and_a_mirror_keeps_the_outside_out() {
    let folder = folder("scaled", "t.obj");
    let scene = load_from(&folder, "t.obj", &LoadOptions::default()).unwrap().scene;
    let Shape::Mesh(mesh) = &scene.geoms[0].shape else { panic!("no mesh") };
    let pyramid = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| mesh.vertices[i as usize]);
        a.dot(b.cross(c)) / 6.0
    };
    assert_eq!(mesh.triangles.iter().map(pyramid).sum::<f64>(), 2.0);
}

#[test]
fn meshes_are_looked_for_where_mujoco_does() {
    let folder = folder("meshdir", "parts/t.obj");
    for address in ["t.obj", "package://elsewhere/meshes/t.obj", "../away/t.obj"] {
        let path = folder.join("robot.urdf");
        let compiler = "<mujoco><compiler meshdir=\"parts\" discardvisual=\"false\"/></mujoco></robot>";
        std::fs::write(&path, robot(address).replace("</robot>", compiler)).unwrap();
        let loaded = sapwood_formats::load(&path, &LoadOptions::default()).unwrap();
        assert!(matches!(loaded.scene.geoms[0].shape, Shape::Mesh(_)));
        assert_eq!(loaded.model.warnings, [], "{address}");
    }
}
