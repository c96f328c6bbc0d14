//! Files made to exhaust memory or time: refused with an error at the line, and no later than real files are read.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use sapwood_formats::limits::{MAX_ATTRIBUTES_OF_ELEMENT, MAX_DEPTH, MAX_ELEMENTS, MAX_HEIGHT_SAMPLES};
use sapwood_formats::{LoadError, LoadOptions, Loaded, load};

use crate::try_load;

/// The error of a text, which must come within seconds: what hangs is a finding, too.
fn refused(text: &str) -> LoadError {
    let start = Instant::now();
    let error = try_load(text).expect_err("a limit");
    assert!(start.elapsed() < Duration::from_secs(20), "{error} after {:?}", start.elapsed());
    error
}

fn says(error: &LoadError, line: u32, expected: &str) {
    assert!(error.line() == line && error.message().contains(expected), "{error}\nline {line}: {expected}");
}

#[test]
fn elements_inside_each_other_have_a_limit() {
    let n = MAX_DEPTH + 1;
    let text = format!("<mujoco>\n{}{}</mujoco>", "<a>".repeat(n), "</a>".repeat(n));
    says(&refused(&text), 2, &format!("expected at most {MAX_DEPTH}"));
}

#[test]
fn elements_have_a_limit() {
    let text = format!("<mujoco>\n{}</mujoco>", "<a/>".repeat(MAX_ELEMENTS));
    says(&refused(&text), 2, &format!("expected at most {MAX_ELEMENTS}"));
}

#[test]
fn attributes_of_an_element_have_a_limit() {
    let attributes: String = (0..100_000).map(|i| format!(" a{i}=\"1\"")).collect();
    let expected = format!("expected at most {MAX_ATTRIBUTES_OF_ELEMENT} in one element");
    says(&refused(&format!("<mujoco>\n<option{attributes}/></mujoco>")), 2, &expected);
}

#[test]
fn entities_add_no_more_than_their_limit() {
    let long = "x".repeat(100_000);
    let flat = format!("<!DOCTYPE m [<!ENTITY a \"{long}\">]>\n<mujoco model=\"{}\"/>", "&a;".repeat(100_000));
    says(&refused(&flat), 2, "entities that add up to more than");
    let lol: String = (1..9).map(|i| format!("<!ENTITY a{i} \"{}\">", format!("&a{};", i - 1).repeat(10))).collect();
    let nested = format!("<!DOCTYPE m [<!ENTITY a0 \"lol\">{lol}]>\n<mujoco model=\"&a8;\"/>");
    says(&refused(&nested), 2, "entities that add up to more than");
    let ring = "<!DOCTYPE m [<!ENTITY a \"&b;\"><!ENTITY b \"&a;\">]>\n<mujoco model=\"&a;\"/>";
    says(&refused(ring), 2, "entities inside each other");
}

#[test]
fn default_classes_do_not_multiply() {
    let settings: String = (0..10_000).map(|i| format!("<x{i}/>")).collect();
    let classes: String = (0..10_000).map(|i| format!("<default class=\"c{i}\"/>")).collect();
    let text = format!("<mujoco><default>{settings}\n{classes}</default></mujoco>");
    says(&refused(&text), 2, "elements of default classes");
}

#[test]
fn height_fields_have_samples_for_the_whole_model() {
    let field = |i: usize| format!("<hfield name=\"h{i}\" nrow=\"2000\" ncol=\"2000\" size=\"1 1 1 1\"/>\n");
    let fields: String = (0..100).map(field).collect();
    let fits = MAX_HEIGHT_SAMPLES / 4_000_000;
    let expected = format!("expected at most {MAX_HEIGHT_SAMPLES}");
    says(&refused(&format!("<mujoco><asset>{fields}</asset></mujoco>")), fits as u32 + 1, &expected);
    let overflow =
        "<mujoco><asset><hfield name=\"h\" nrow=\"4294967296\" ncol=\"4294967296\" size=\"1 1 1 1\"/></asset></mujoco>";
    says(&refused(overflow), 1, &expected);
}

#[test]
fn replicas_have_a_limit() {
    let (open, close) = ("<replicate count=\"10\">".repeat(9), "</replicate>".repeat(9));
    let text = format!("<mujoco><worldbody>\n{open}<geom size=\"1\"/>{close}</worldbody></mujoco>");
    says(&refused(&text), 2, "copied elements in a model");
    says(&refused("<mujoco><worldbody><replicate count=\"99999999999\"/></worldbody></mujoco>"), 1, "copied elements");
}

/// What is deep in a `<replicate>` is copied as often as the rest, and long names and separators take as much memory as elements.
#[test]
fn copies_count_with_all_that_is_in_them_and_with_their_names() {
    let name = "x".repeat(100_000);
    for replicate in [
        format!("<replicate count=\"100000\"><body name=\"{name}\"/></replicate>"),
        format!(
            "<replicate count=\"1000\" sep=\"{name}\"><replicate count=\"1000\"><body name=\"b\"/></replicate></replicate>"
        ),
        format!("<replicate count=\"900000\"><body><frame>{}</frame></body></replicate>", "<site/>".repeat(20)),
        format!("<replicate count=\"30000\"><frame><frame><site name=\"{name}\"/></frame></frame></replicate>"),
    ] {
        says(
            &refused(&format!("<mujoco><worldbody>\n{replicate}</worldbody></mujoco>")),
            2,
            "copied elements in a model",
        );
    }
}

/// Models that attach each other: `copies` of the next in each file but the last.
fn chain(name: &str, depth: usize, copies: usize, prefix: &str) -> PathBuf {
    let file = |level: usize| format!("{name}{level}.xml");
    for level in (0..depth).rev() {
        let attach = |k: usize| format!("<attach model=\"next\" body=\"b\" prefix=\"{prefix}{k}_\"/>");
        let (asset, inner) = if level + 1 == depth {
            (String::new(), "<geom size=\".1\" name=\"g\"/>".into())
        } else {
            let asset = format!("<asset><model name=\"next\" file=\"{}\"/></asset>", file(level + 1));
            (asset, (0..copies).map(attach).collect::<String>())
        };
        let text = format!("<mujoco>{asset}<worldbody>\n<body name=\"b\">{inner}</body></worldbody></mujoco>");
        write(&file(level), text.as_bytes());
    }
    write(
        &file(0),
        &std::fs::read(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("limits").join(file(0))).expect("a file"),
    )
}

/// What is attached to what is attached counts together; each file is read once.
#[test]
fn attached_models_have_limits_together() {
    let loaded = load_file(&chain("pairs", 8, 2, "p")).expect("a model");
    assert_eq!(loaded.model.bodies.len(), 256);
    for (name, depth, copies, prefix) in
        [("ten", 14, 10, "p"), ("hundred", 6, 100, "p"), ("long", 8, 4, &*"x".repeat(100_000))]
    {
        let error = load_file(&chain(name, depth, copies, prefix)).expect_err(name).to_string();
        assert!(error.contains("copied elements in a model"), "{name}: {}", &error[..200]);
    }
}

/// Pairs of what lies at one place are not all looked at: 100,000 geoms have 5·10⁹.
#[test]
fn many_geoms_at_one_place_load_at_once() {
    let geoms = "<geom size=\".1\"/>".repeat(50_000);
    let inertia = "<inertial pos=\"0 0 0\" mass=\"1\" diaginertia=\"1 1 1\"/>";
    let bodies = format!("<replicate count=\"20000\"><body><freejoint/>{}</body></replicate>", "<geom size=\".1\"/>");
    for content in [
        format!("{geoms}<body><freejoint/><geom size=\".1\"/></body>"),
        format!("<body><freejoint/>{inertia}{geoms}</body>"),
        bodies,
    ] {
        let start = Instant::now();
        try_load(&format!("<mujoco><worldbody>{content}</worldbody></mujoco>")).expect("a model");
        assert!(start.elapsed() < Duration::from_secs(30), "{:?}", start.elapsed());
    }
}

/// Bytes that are no text are named, and read where they do no harm.
#[test]
fn bytes_that_are_no_text_are_named() {
    let model = |name: &[u8]| [b"<mujoco><worldbody>\n<body name=\"", name, b"\"/></worldbody></mujoco>"].concat();
    let loaded = load_file(&write("latin1.xml", &model(b"h\xe9risson"))).expect("a model");
    let warning = loaded.model.warnings.iter().find(|w| w.message.contains("not UTF-8")).expect("a warning");
    assert_eq!(warning.line, 2);
    let comment = [b"<!-- h\xe9risson -->", &*model(b"h")].concat();
    assert!(load_file(&write("comment.xml", &comment)).expect("a model").model.warnings.is_empty());
    let error = load_file(&write("nul.xml", &model(b"h\0h"))).expect_err("a NUL").to_string();
    assert!(error.contains("nul.xml:2") && error.contains("a NUL byte in the attribute `name`"), "{error}");
    let between = load_file(&write("between.xml", b"<mujoco>\n\0<worldbody/></mujoco>")).expect("a model").model;
    let warning = between.warnings.iter().find(|w| w.message.contains("NUL byte between elements"));
    assert_eq!(warning.map(|w| w.line), Some(2));
}

/// The pixels of a picture are counted before there is memory for them.
#[test]
fn a_small_picture_with_a_huge_header_is_refused() {
    let mut png = b"\x89PNG\r\n\x1a\n\0\0\0\x0dIHDR\0\x01\x86\xa0\0\x01\x86\xa0\x08\0\0\0\0".to_vec();
    // The checksum of this header of 100 000 × 100 000 grey pixels.
    png.extend(crc32(&png[12..]).to_be_bytes());
    let file = write("huge.png", &png);
    let text =
        format!("<mujoco><asset>\n<hfield name=\"h\" file=\"{}\" size=\"1 1 1 1\"/></asset></mujoco>", file.display());
    says(&refused(&text), 2, &format!("expected at most {MAX_HEIGHT_SAMPLES}"));
}

/// The checksum of PNG, bit by bit.
fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(!0, |crc, &byte| (0..8).fold(crc ^ u32::from(byte), step))
}

fn load_file(path: &Path) -> Result<Loaded, LoadError> {
    load(path, &LoadOptions::default())
}

fn write(name: &str, bytes: &[u8]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("limits");
    std::fs::create_dir_all(&folder).expect("a folder to write to");
    let path = folder.join(name);
    std::fs::write(&path, bytes).expect("a file to write");
    path
}

/// Files without an end, and files that never answer.
#[test]
#[cfg(unix)]
fn devices_pipes_and_folders_are_no_files() {
    let folder = write("x", b"").parent().expect("a folder").to_path_buf();
    let pipe = folder.join("pipe.stl");
    if !pipe.exists() {
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().expect("mkfifo");
        assert!(made.success());
    }
    let link = folder.join("zero.stl");
    if !link.exists() {
        std::os::unix::fs::symlink("/dev/zero", &link).expect("a link");
    }
    let load =
        |text: &str| sapwood_formats::load_str(text, Some(&folder), &LoadOptions::default()).expect_err("no file");
    for name in ["/dev/zero", "pipe.stl", "zero.stl"] {
        says(&load(&format!("<mujoco>\n<include file=\"{name}\"/></mujoco>")), 2, "not a regular file");
        let field = format!("<hfield name=\"h\" size=\"1 1 1 1\" file=\"{name}\"/>");
        says(&load(&format!("<mujoco><asset>\n{field}</asset></mujoco>")), 2, "not a regular file");
    }
    for name in ["pipe.stl", "zero.stl"] {
        let mesh = format!("<mesh name=\"m\" file=\"{name}\"/>");
        says(&load(&format!("<mujoco><asset>\n{mesh}</asset></mujoco>")), 2, "not a regular file");
    }
    says(&load("<mujoco>\n<include file=\".\"/></mujoco>"), 2, "a folder, not a regular file");
    let error = sapwood_formats::load("/dev/zero".as_ref(), &LoadOptions::default()).expect_err("no file");
    assert!(error.message().contains("not a regular file"), "{error}");
}

/// Of a thousand large textures those beyond the limit take no time.
#[test]
fn textures_beyond_the_limit_are_not_drawn() {
    let one = r#"<texture type="cube" builtin="gradient" width="2048" height="2048"/>"#;
    let started = Instant::now();
    let text = format!("<mujoco><asset>{}</asset></mujoco>", one.replace("cube\"", "cube\" name=\"t\"").repeat(1000));
    let loaded = crate::load(&text);
    assert!(
        loaded.model.warnings.iter().any(|w| w.message.contains("pixels in the textures")),
        "{:?}",
        loaded.model.warnings
    );
    assert!(started.elapsed().as_secs() < 20, "{:?}", started.elapsed());
}
