use super::*;

fn text() -> String {
    format!("<?xml version=\"1.0\"?>\n{}", arm("continuous", ""))
}

#[test]
fn blanks_before_the_declaration() {
    let loaded = load(&format!("\n \n{}", text()));
    warns(&loaded, "<text>:1: xml: blanks before <?xml …?>: ignored");
}

#[test]
fn lines_keep_their_numbers() {
    let error = error(&format!("\n\n{}", text().replace("continuous", "hinge")));
    assert_eq!(error.line(), 7);
}

#[test]
fn a_trailing_nul() {
    warns(&load(&format!("{}\0", text())), "NUL");
}

#[test]
fn a_byte_order_mark() {
    assert!(load(&format!("\u{feff}{}", text())).model.warnings.is_empty());
}

#[test]
fn bytes_that_are_not_utf8_in_a_comment() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("urdf");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("latin.urdf");
    let mut bytes = text().into_bytes();
    bytes.extend(b"<!-- by Andr\xe9 -->");
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(sapwood_formats::load(&path, &LoadOptions::default()).unwrap().model.nv(), 1);
}

#[test]
fn axes_that_are_not_of_unit_length() {
    let loaded = load(&arm("continuous", "<axis xyz=\"0 0 2\"/>"));
    warns(&loaded, "axis: not of unit length: normalised");
    near((placement(&loaded.model, "arm", &[0.0]).pos).to_array(), [0.0; 3]);
    // Rounded digits are no reason to complain.
    assert!(load(&arm("continuous", "<axis xyz=\"0.7071 0.7071 0\"/>")).model.warnings.is_empty());
    warns(&load(&arm("continuous", "<axis xyz=\"0 0 0\"/>")), "axis: of zero length");
}

#[test]
fn limits_that_are_missing() {
    warns(&load(&arm("revolute", "")), "joint: no <limit>: the joint moves without limits");
    warns(&load(&arm("prismatic", "<limit effort=\"1\"/>")), "limit: neither lower nor upper");
    let one_sided = load(&arm("revolute", "<limit upper=\"1\"/>"));
    assert_eq!(one_sided.model.joints[0].range, Some((0.0, 1.0)));
}

#[test]
fn efforts_of_zero() {
    let loaded = load(&arm("continuous", "<limit effort=\"0\"/>"));
    warns(&loaded, "limit effort: not above 0: taken as no limit");
    assert_eq!(loaded.model.joints[0].effort_limit, None);
}
