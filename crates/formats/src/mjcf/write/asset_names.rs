//! Names of assets, and of their files.

use super::free_name;

/// A part of a file's name that every file system takes, and that no other file has, written in capitals or not.
pub(super) fn file_part(known: &mut Vec<String>, name: &str, kind: &str) -> String {
    let name = if name.is_empty() { kind } else { name };
    let safe: String = name.chars().map(|c| if c.is_alphanumeric() || "-.".contains(c) { c } else { '_' }).collect();
    let mut found = safe.clone();
    for k in 2.. {
        if !known.iter().any(|other| other.to_lowercase() == found.to_lowercase()) {
            break;
        }
        found = format!("{safe}_{k}");
    }
    known.push(found.clone());
    found
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_differ_on_every_file_system() {
        let mut known = Vec::new();
        let parts = ["wood 1", "wood_1", "Wood_1", "", "mesh"].map(|name| file_part(&mut known, name, "mesh"));
        assert_eq!(parts, ["wood_1", "wood_1_2", "Wood_1_3", "mesh", "mesh_2"]);
    }
}
