//! A case is made of its seed and its number alone.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, ensure};

/// What the program prints of a case.
fn outcome(case: u64, out: &Path) -> Result<String> {
    let output = Command::new(env!("CARGO_BIN_EXE_sapwood-attack"))
        .args(["--seed", "3", "--packages", "no packages", "--case", &case.to_string(), "--out"])
        .arg(out)
        .output()?;
    ensure!(output.status.success(), "case {case}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

#[test]
fn a_case_is_made_again_by_its_number() -> Result<()> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let outcomes = |name: &str| (0..12).map(|case| outcome(case, &folder.join(name))).collect::<Result<Vec<_>>>();
    let first = outcomes("first")?;
    assert_eq!(first, outcomes("second")?);
    for word in ["simulated\n", "refused\n"] {
        assert!(first.iter().any(|outcome| outcome == word), "none of {first:?} was {}", word.trim());
    }
    Ok(())
}
