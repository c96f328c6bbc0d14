//! No two files that lie beside each other import each other, not even through others. A file counts with the folder of its name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

/// A path of modules within a crate, `["narrow", "sphere"]`; its root is empty.
type Module = Vec<String>;

/// Crates with modules that import each other, these modules, and why they do.
const MUTUAL: [(&str, &[&str], &str); 4] = [
    (
        "cli",
        &["arguments", "completions", "scene"],
        "clap completes an argument by a function named at it, which reads the arguments",
    ),
    (
        "multibody",
        &["builder", "checks", "model", "tendon"],
        "a model has tendons, whose length is one of a model's configuration",
    ),
    (
        "python",
        &["model", "names", "quantities", "render", "replay", "simulation", "views"],
        "classes of Python return each other",
    ),
    (
        "spatial",
        &["lanes", "real", "three", "vec3"],
        "the scalar trait names the registers that implement it, and vectors that take one",
    ),
];

/// The modules of a crate and what each says, without comments and tests.
fn read(folder: &Path, at: &Module, modules: &mut BTreeMap<Module, String>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap();
        let module = match name {
            "lib" | "mod" => at.clone(),
            name => [&at[..], &[name.to_owned()]].concat(),
        };
        if path.is_dir() {
            read(&path, &module, modules);
        } else if path.extension().is_some_and(|ending| ending == "rs") && name != "tests" {
            let text = fs::read_to_string(&path).unwrap();
            let code = text.split("#[cfg(test)]\nmod tests").next().unwrap().lines();
            modules.insert(module, code.map(|line| line.split("//").next().unwrap()).collect::<Vec<_>>().join("\n"));
        }
    }
}

/// The paths of a tree of imports: `a::{b, c::{d, e}}` has three.
fn paths(tree: &str) -> Vec<String> {
    let Some((before, inner)) = tree.split_once('{') else {
        return vec![tree.split(" as ").next().unwrap().split_whitespace().collect()];
    };
    let inner = &inner[..inner.rfind('}').unwrap()];
    let (mut depth, mut start, mut all) = (0, 0, Vec::new());
    for (k, c) in inner.char_indices().chain([(inner.len(), ',')]) {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 0 => {
                // Nothing stands behind the last comma.
                let part = Some(inner[start..k].trim()).filter(|part| !part.is_empty());
                all.extend(part.into_iter().flat_map(|part| paths(&format!("{before}{part}"))));
                start = k + 1;
            }
            _ => {}
        }
    }
    all
}

/// What a module imports or names by its path. The modules below it can import from it all that it imports itself.
fn imports(code: &str) -> Vec<String> {
    let statements = code.split(['\n', ';']).scan(String::new(), |open, line| {
        let line = line.trim();
        if open.is_empty() && !(line.starts_with("use ") || line.starts_with("pub") && line.contains("use ")) {
            return Some(None);
        }
        open.push_str(line);
        let is_whole = open.matches('{').count() == open.matches('}').count();
        Some(is_whole.then(|| std::mem::take(open)))
    });
    let mut all = Vec::new();
    for statement in statements.flatten() {
        all.extend(paths(statement.split_once("use ").unwrap().1));
    }
    let is_of_path = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
    let words =
        code.split(|c| !is_of_path(c)).filter(|word| word.starts_with("crate::") || word.starts_with("super::"));
    all.extend(words.map(|word| word.trim_end_matches(':').to_owned()));
    all
}

/// The module in which a path that `from` has ends; none for what is of another crate.
fn resolve(path: &str, from: &Module, modules: &BTreeMap<Module, String>, depth: usize) -> Option<Module> {
    let mut at = from.clone();
    let mut names = path.split("::").peekable();
    match *names.peek()? {
        "crate" => at.clear(),
        "super" | "self" => {}
        name if modules.contains_key(&[&at[..], &[name.to_owned()]].concat()) => {}
        _ => return None,
    }
    while let Some(name) = names.next_if(|name| ["crate", "self", "super"].contains(name)) {
        if name == "super" {
            at.pop();
        }
    }
    while let Some(name) = names.peek() {
        let below = [&at[..], &[(*name).to_owned()]].concat();
        if !modules.contains_key(&below) {
            break;
        }
        at = below;
        names.next();
    }
    let Some(name) = names.next().filter(|_| depth > 0) else { return Some(at) };
    let handed_on = imports(modules.get(&at)?).into_iter().find(|path| path.rsplit("::").next() == Some(name));
    handed_on.and_then(|path| resolve(&path, &at, modules, depth - 1)).or(Some(at))
}

/// The modules in circles of modules that lie beside each other, each with those that lead back to it.
fn circles(source: &Path) -> Vec<(Module, Vec<Module>)> {
    let mut modules = BTreeMap::new();
    read(source, &Module::new(), &mut modules);
    // Of two modules the parts of their paths where these part.
    let mut edges: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
    for (module, code) in modules.iter().filter(|(module, _)| !module.is_empty()) {
        for target in imports(code).iter().filter_map(|path| resolve(path, module, &modules, 6)) {
            let common = module.iter().zip(&target).take_while(|(a, b)| a == b).count();
            if common < module.len().min(target.len()) {
                edges.entry(module[..=common].to_vec()).or_default().insert(target[..=common].to_vec());
            }
        }
    }
    let reachable = |from: &Module| {
        let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
        while let Some(module) = open.pop() {
            open.extend(edges.get(module).into_iter().flatten().filter(|next| seen.insert((*next).clone())));
        }
        seen
    };
    let in_circles = edges.keys().filter(|module| reachable(module).contains(*module));
    in_circles
        .map(|module| {
            let back = edges[module].iter().filter(|next| reachable(next).contains(module));
            (module.clone(), back.cloned().collect())
        })
        .collect()
}

#[test]
fn no_modules_import_each_other() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folders = ["crates", "tools"].iter().flat_map(|folder| fs::read_dir(root.join(folder)).unwrap());
    for folder in folders.map(|entry| entry.unwrap().path()) {
        let name = folder.file_name().unwrap().to_str().unwrap();
        let (known, why) =
            MUTUAL.iter().find(|(mutual, ..)| *mutual == name).map_or((&[][..], ""), |(_, known, why)| (*known, *why));
        let found = circles(&folder.join("src"));
        let modules: Vec<_> = found.iter().map(|(module, _)| module.join("::")).collect();
        assert_eq!(
            modules, known,
            "{name}: modules that import each other, and those that may ({why}); move what both need into a file of its own: {found:#?}"
        );
    }
}

#[test]
fn a_circle_is_found() {
    let folder = std::env::temp_dir().join(format!("sapwood-circles-{}", std::process::id()));
    fs::create_dir_all(folder.join("b")).unwrap();
    let files = [
        ("lib.rs", "mod a;\nmod b;\nuse b::inner::{\n    First, Second,\n};"),
        ("a.rs", "use std::fmt;\nuse crate::{Second as Other};"),
        ("b.rs", "mod inner; // use crate::a::A;\n"),
        ("b/inner.rs", "pub struct Second;\nfn f() -> crate::a::A {}"),
    ];
    files.iter().for_each(|(name, text)| fs::write(folder.join(name), text).unwrap());
    let found = circles(&folder);
    fs::write(folder.join("b/inner.rs"), "pub struct Second;").unwrap();
    let mended = circles(&folder);
    fs::remove_dir_all(&folder).unwrap();
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(mended.is_empty(), "{mended:?}");
}
