//! Outside of the workspace (and of folders below it, where its configuration holds):
//! a crate that depends on this one by path and is configured for any x86-64 processor does not build, and says what to add.
#![cfg(target_arch = "x86_64")]

use std::process::Command;
use std::{env, fs};

/// What `cargo check` of a crate that depends on this one says, with `.cargo/config.toml` of the given text; whether it succeeded.
fn check(name: &str, config: &str) -> (bool, String) {
    let folder = env::temp_dir().join(format!("sapwood-outside-{}-{name}", std::process::id()));
    for part in [".cargo", "src"] {
        fs::create_dir_all(folder.join(part)).unwrap();
    }
    let manifest = format!(
        "[package]\nname = \"outside\"\nedition = \"2024\"\n[workspace]\n[dependencies]\nsapwood-spatial = {{ path = {:?} }}\n",
        env!("CARGO_MANIFEST_DIR")
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("src/lib.rs"), "pub use sapwood_spatial::Vec3;\n").unwrap();
    fs::write(folder.join(".cargo/config.toml"), config).unwrap();
    let mut cargo = Command::new(env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
    let cargo = cargo.args(["check", "--offline", "--target-dir", "target"]).current_dir(&folder);
    let output = cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS").output().unwrap();
    fs::remove_dir_all(&folder).unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

#[test]
fn the_line_to_add_is_said() {
    let (succeeded, text) = check("bare", "");
    let line = r#"rustflags = ["-C", "target-cpu=x86-64-v3"]"#;
    assert!(!succeeded && text.contains(line), "{text}");
    let (succeeded, text) = check("configured", &format!("[target.'cfg(target_arch = \"x86_64\")']\n{line}\n"));
    assert!(succeeded, "{text}");
}
