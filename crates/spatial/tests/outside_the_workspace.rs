//! Outside of the workspace (and of folders below it, where its configuration holds): a crate that depends on this one and is compiled for
//! any processor computes the same bits.

use std::process::Command;
use std::{env, fs};

use sapwood_spatial::Real;

/// Prints bits of operations that are one instruction here and may be calls there.
const PROGRAM: &str = r#"
use sapwood_spatial::{F64x4, Real};
fn main() {
    let (x, y) = (0.1_f64, -2.5_f64);
    let (sin, cos) = Real::sin_cos(7.25_f64);
    let lanes = Real::mul_add(F64x4::splat(x), F64x4::splat(y), F64x4::splat(0.25));
    println!("{:x} {:x} {:x} {:x}", Real::mul_add(x, y, 0.25).to_bits(), sin.to_bits(), cos.to_bits(), lanes.lane(3).to_bits());
}
"#;

#[test]
fn a_program_without_flags_gives_the_same_bits() {
    let folder = env::temp_dir().join(format!("sapwood-outside-{}", std::process::id()));
    fs::create_dir_all(folder.join("src")).unwrap();
    let manifest = format!(
        "[package]\nname = \"outside\"\nedition = \"2024\"\n[workspace]\n[dependencies]\nsapwood-spatial = {{ path = {:?} }}\n",
        env!("CARGO_MANIFEST_DIR")
    );
    fs::write(folder.join("Cargo.toml"), manifest).unwrap();
    fs::write(folder.join("src/main.rs"), PROGRAM).unwrap();
    let mut cargo = Command::new(env::var("CARGO").unwrap_or_else(|_| "cargo".into()));
    let cargo = cargo.args(["run", "--quiet", "--offline", "--target-dir", "target"]).current_dir(&folder);
    let output = cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS").output().unwrap();
    fs::remove_dir_all(&folder).unwrap();
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let product = Real::mul_add(0.1_f64, -2.5, 0.25);
    let (sin, cos) = Real::sin_cos(7.25_f64);
    let expected = [product, sin, cos, product].map(|x| format!("{:x}", x.to_bits())).join(" ");
    assert_eq!(said.trim(), expected);
    assert_ne!(product, 0.1 * -2.5 + 0.25, "the numbers tell one rounding from two");
}
