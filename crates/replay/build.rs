//! Embeds the player, where it has been built: the command and the Python package can also be built without Node.

use std::path::{Path, PathBuf};
use std::{env, fs};

fn main() {
    let web = Path::new("../../web");
    let page = web.join("dist/replay.html");
    let html = fs::read_to_string(&page).unwrap_or_default();
    // Without a page, the whole folder is watched: a path that does not exist would count as changed in every build.
    let watched = if html.is_empty() { web } else { &page };
    println!("cargo::rerun-if-changed={}", watched.display());

    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR")).join("replay.html");
    fs::write(&out, html).expect("the build folder can be written to");
}
