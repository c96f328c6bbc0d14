//! What is not well-formed and MuJoCo takes all the same: read, and named with its line.

use crate::{load, try_load};

fn body(attributes: &str) -> String {
    format!("<mujoco>\n<worldbody><body {attributes}><geom size=\"1\"/></body></worldbody></mujoco>")
}

#[test]
fn faults_that_change_nothing_are_warnings() {
    for (text, line, expected) in [
        ("<!-- a -- b --->\n".to_string() + &body("name=\"a\""), 1, "`--` in a comment"),
        ("hello\n".to_string() + &body("name=\"a\""), 1, "text before the root element"),
        (body("name=\"a\"") + "\n<foo/>", 3, "an element after the root element"),
        (body("name=\"a\"") + "\n</mujoco>", 3, "an end tag after the root element"),
        (body("name=\"a\"pos=\"0 0 0\""), 2, "no blank before an attribute"),
    ] {
        let model = load(&text).model;
        assert_eq!(model.bodies[1].name, "a");
        let warnings: Vec<String> = model.warnings.iter().map(ToString::to_string).collect();
        let starts = format!("<text>:{line}: xml: ");
        assert!(matches!(&warnings[..], [one] if one.starts_with(&starts) && one.contains(expected)), "{warnings:?}");
    }
}

#[test]
fn attributes_keep_what_begins_no_reference() {
    for (name, expected) in [("a & b", "a & b"), ("a &foo; b", "a &foo; b"), ("a < b", "a < b"), ("a &lt; b", "a < b")]
    {
        let model = load(&body(&format!("name=\"{name}\""))).model;
        assert_eq!(model.bodies[1].name, expected);
        assert_eq!(model.warnings.len(), usize::from(!name.contains("lt;")), "{:?}", model.warnings);
    }
    assert_eq!(load(&body("name='&#65;&#x42;&quot;&amp;'")).model.bodies[1].name, "AB\"&");
    let entity = format!("<!DOCTYPE mujoco [<!ENTITY e \"x&amp;y\">]>{}", body("name='&e;'"));
    assert_eq!(load(&entity).model.bodies[1].name, "x&y");
}

#[test]
fn what_mujoco_refuses_is_an_error_at_its_line() {
    for (text, line, expected) in [
        (body("name=\"a\" name=\"b\""), 2, "a second attribute `name`"),
        (body("name=a"), 2, "attribute `name` without a value in quotes"),
        (body("name"), 2, "attribute `name` without a value in quotes"),
        (body("name=\"a"), 2, "`"),
        (body("name=\"a\"") + "\nhello", 3, "text after the root element"),
        (body("").replace("</body>", "</bdy>"), 2, "</bdy>: expected </body>, which line 2 opens"),
        (body("").replace("</mujoco>", ""), 1, "is not closed"),
        ("<mujoco>\n< /></mujoco>".into(), 2, "`<` that begins no element"),
        ("</mujoco>\n<mujoco/>".into(), 1, "</mujoco> closes nothing"),
        ("<mujoco>\n<!-- </mujoco>".into(), 2, "<!-- without -->"),
        (String::new(), 1, "no element"),
    ] {
        let error = try_load(&text).expect_err(&text);
        assert!(error.line() == line && error.message().contains(expected), "{error}\n{line}: {expected}");
    }
}

#[test]
fn text_cut_anywhere_is_read_or_refused() {
    let text =
        format!("\u{feff}<?xml version='1.0'?><!DOCTYPE m [<!ENTITY e 'ä'>]><!-- ü -->\n{}", body("name='&e;ß'"));
    assert!(try_load(&text).is_ok());
    for end in (0..text.len()).filter(|&end| text.is_char_boundary(end)) {
        assert!(try_load(&text[..end]).is_err());
        let _ = try_load(&text[end..]);
    }
}
