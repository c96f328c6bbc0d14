//! Files of other kinds: errors that say what they are; and files that a caller gives.

use std::collections::BTreeMap;

use sapwood_formats::{LoadOptions, load, load_with_assets};

fn error_of(test: &str, bytes: &[u8]) -> String {
    let path = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("kind-{test}"));
    std::fs::write(&path, bytes).expect("a file to write");
    load(&path, &LoadOptions::default()).map(|_| ()).expect_err(test).to_string()
}

#[test]
fn files_of_other_kinds_are_named() {
    let utf16: Vec<u8> = "<mujoco/>".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let cases: [(&str, &[u8], &str); 9] = [
        ("utf16.xml", &utf16, "UTF-16"),
        ("mark.xml", &[&[0xff, 0xfe], &utf16[..]].concat(), "expected UTF-8"),
        ("model.zip", b"PK\x03\x04....", "ZIP archive"),
        ("model.mjb", b"\x31\xd4\0\0\x08\0\0\0", "mj_saveLastXML"),
        ("scene.usda", b"#usda 1.0\n", "USD scene"),
        ("scene.usdc", b"PXR-USDC\0", "USD scene"),
        ("world.xml", b"<gazebo version='1.0'><world/></gazebo>", "version 1.2"),
        (
            "robot.urdf.xacro",
            b"<robot name='r' xmlns:xacro='x'>\n<xacro:include filename='a'/></robot>",
            "`xacro FILE > robot.urdf`",
        ),
        ("mesh.dae", b"<COLLADA/>", "is a mesh"),
    ];
    for (file, bytes, expected) in cases {
        let error = error_of(file, bytes);
        assert!(error.contains(expected) && error.contains(file) && error.len() < 300, "{file}: {error}");
    }
}

#[test]
fn text_finds_the_files_that_are_given() {
    let text = r#"<mujoco><compiler meshdir="meshes"/><asset><mesh name="m" file="t.obj"/><model name="k" file="parts/kid.xml"/></asset>
        <include file="./parts/more.xml"/><worldbody><geom type="mesh" mesh="m"/><attach model="k" body="b" prefix="p"/></worldbody></mujoco>"#;
    let files = [
        ("meshes/t.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"),
        ("parts/kid.xml", r#"<mujoco><worldbody><body name="b"><joint/><geom size="1"/></body></worldbody></mujoco>"#),
        ("parts/more.xml", r#"<mujoco><option timestep="0.5"/></mujoco>"#),
    ];
    let assets: BTreeMap<String, Vec<u8>> =
        files.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect();
    let loaded = load_with_assets(text, assets.clone(), &LoadOptions::default()).expect("a model");
    assert_eq!((loaded.model.timestep, loaded.scene.geoms.len(), loaded.model.bodies[1].name.as_str()), (0.5, 2, "pb"));
    let mut fewer = assets;
    fewer.remove("parts/more.xml");
    let error = load_with_assets(text, fewer, &LoadOptions::default()).map(|_| ()).expect_err("a file").to_string();
    assert!(error.contains("not among the assets: meshes/t.obj"), "{error}");
    // The next model has none.
    let error = sapwood_formats::load_str(text, None, &LoadOptions::default()).map(|_| ()).expect_err("no files");
    assert!(error.to_string().contains("without a folder or assets"), "{error}");
    let urdf = r#"<robot name="r"><link name="l"><visual><geometry><mesh filename="package://p/meshes/t.obj"/></geometry></visual></link></robot>"#;
    let assets = BTreeMap::from([("t.obj".to_owned(), files[0].1.as_bytes().to_vec())]);
    assert_eq!(load_with_assets(urdf, assets, &LoadOptions::default()).expect("a robot").scene.geoms.len(), 1);
}
