//! Names of assets, and of their files.

use super::free_name;

/// A name that every file system takes.
pub(super) fn file_name(stem: &str, of: &str, ending: &str) -> String {
    let safe: String = of.chars().map(|c| if c.is_alphanumeric() || "-.".contains(c) { c } else { '_' }).collect();
    format!("{stem}_{safe}.{ending}")
}

/// A name that no other asset has.
pub(super) fn asset_name(names: &mut Vec<String>, name: &str, kind: &str) -> String {
    let wanted = if name.is_empty() { kind } else { name };
    let found = if names.iter().any(|n| n == wanted) {
        (2..).map(|k| format!("{wanted}_{k}")).find(|n| !names.contains(n)).unwrap_or_default()
    } else {
        free_name(names, wanted)
    };
    names.push(found.clone());
    found
}
