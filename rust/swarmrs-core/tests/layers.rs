//! The architecture as a test: imports go down the layers, folders stay small, no two public types share a name.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders of `src`, lowest layer first. A file imports its own layer and those before it.
const LAYERS: [&str; 11] = [
    "base",
    "simd",
    "filter",
    "data",
    "evaluate",
    "problem",
    "search",
    "operators",
    "swarms",
    "algorithms",
    "run",
];

/// Entries of a folder, at most.
const MOST_ENTRIES: usize = 13;
/// Folders that list methods one by one and may have more.
const LONG_FOLDERS: [&str; 2] = ["algorithms", "operators"];
/// Public types that share a name with another one.
const SHARED_NAMES: [&str; 3] = ["Learner", "ExemplarSwarm", "Variant"];

/// A source file: its path below `src`, and its lines outside of comments and test modules.
struct Source {
    path: PathBuf,
    lines: Vec<(usize, String)>,
}

impl Source {
    /// The layer it belongs to; none for the root and for what only tests use.
    fn layer(&self) -> Option<usize> {
        rank(self.path.iter().next()?.to_str()?)
    }
}

fn rank(folder: &str) -> Option<usize> {
    LAYERS.iter().position(|&layer| layer == folder)
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("src")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let mut entries: Vec<PathBuf> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    entries
}

/// Every folder below and including `src`.
fn folders(folder: &Path) -> Vec<PathBuf> {
    let inner = entries(folder).into_iter().filter(|path| path.is_dir());
    let inner: Vec<PathBuf> = inner.flat_map(|path| folders(&path)).collect();
    [vec![folder.to_owned()], inner].concat()
}

/// Every source file but those that hold nothing but tests.
fn sources() -> Vec<Source> {
    let files = folders(&root()).into_iter().flat_map(|folder| entries(&folder));
    let files = files.filter(|path| path.extension().is_some_and(|kind| kind == "rs"));
    let files = files.filter(|path| path.file_stem().is_some_and(|stem| stem != "tests"));
    files
        .map(|path| Source {
            lines: code(&fs::read_to_string(&path).unwrap()),
            path: path.strip_prefix(root()).unwrap().to_owned(),
        })
        .collect()
}

/// The numbered lines of a file up to its test module, comments left out.
fn code(text: &str) -> Vec<(usize, String)> {
    let lines: Vec<&str> = text.lines().collect();
    let is_test = |at: usize| {
        lines[at].trim() == "#[cfg(test)]"
            && lines.get(at + 1).is_some_and(|next| next.trim_start().starts_with("mod tests"))
    };
    let end = (0..lines.len()).find(|&at| is_test(at)).unwrap_or(lines.len());
    let numbered = (1..).zip(&lines[..end]);
    let numbered = numbered.filter(|(_, line)| !line.trim_start().starts_with("//"));
    numbered.map(|(number, line)| (number, (*line).to_owned())).collect()
}

/// The names that follow `crate::` in a line; those of `crate::{a::b, c}` one by one.
fn imports(line: &str) -> Vec<&str> {
    let is_name = |symbol: char| symbol.is_alphanumeric() || symbol == '_';
    let name = |text: &'_ str| text.find(|symbol| !is_name(symbol)).unwrap_or(text.len());
    let mut found = Vec::new();
    for (at, matched) in line.match_indices("crate::") {
        let rest = &line[at + matched.len()..];
        match rest.strip_prefix('{') {
            Some(list) => found.extend(list.split(',').map(|item| {
                let item = item.trim_start();
                &item[..name(item)]
            })),
            None => found.push(&rest[..name(rest)]),
        }
    }
    found
}

#[test]
fn imports_go_down_the_layers() {
    let mut upward = Vec::new();
    for source in sources() {
        let Some(layer) = source.layer() else { continue };
        for (number, line) in &source.lines {
            for name in imports(line) {
                if rank(name).is_some_and(|imported| imported > layer) {
                    let (path, own) = (source.path.display(), LAYERS[layer]);
                    upward.push(format!("src/{path}:{number}: {own} imports {name}"));
                }
            }
        }
    }
    assert!(
        upward.is_empty(),
        "a layer imports only those before it ({}):\n{}",
        LAYERS.join(", "),
        upward.join("\n")
    );
}

#[test]
fn every_folder_is_a_layer() {
    let folders = entries(&root()).into_iter().filter(|path| path.is_dir());
    for folder in folders {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap();
        assert!(rank(name).is_some(), "src/{name} is not in the list of layers of tests/layers.rs");
    }
}

#[test]
fn folders_stay_small() {
    for folder in folders(&root()) {
        let count = entries(&folder).len();
        let name = folder.strip_prefix(root()).unwrap().display().to_string();
        assert!(
            count <= MOST_ENTRIES || LONG_FOLDERS.contains(&name.as_str()),
            "src/{name} has {count} entries, expected {MOST_ENTRIES} at most: give some of them a folder"
        );
    }
}

#[test]
fn no_two_public_types_share_a_name() {
    let mut places: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for source in sources() {
        for (number, line) in &source.lines {
            let words: Vec<&str> = line.split_whitespace().collect();
            let is_type = |word: &str| matches!(word, "struct" | "enum" | "trait" | "type");
            if let [visibility, kind, name, ..] = words[..]
                && visibility.starts_with("pub")
                && is_type(kind)
                // A macro names its types where it is used.
                && !name.starts_with('$')
            {
                let end = name.find(|symbol: char| !symbol.is_alphanumeric()).unwrap_or(name.len());
                let place = format!("src/{}:{number}", source.path.display());
                places.entry(name[..end].to_owned()).or_default().push(place);
            }
        }
    }
    places.retain(|name, places| places.len() > 1 && !SHARED_NAMES.contains(&name.as_str()));
    let shared: Vec<String> =
        places.iter().map(|(name, places)| format!("{name}: {}", places.join(", "))).collect();
    assert!(shared.is_empty(), "public types share a name:\n{}", shared.join("\n"));
}

#[test]
fn imports_are_found_in_every_form() {
    assert_eq!(imports("use crate::base::subset::Subset;"), ["base"]);
    assert_eq!(imports("use crate::{base::subset, simd};"), ["base", "simd"]);
    assert_eq!(imports("let x: crate::run::Spec = crate::data::read();"), ["run", "data"]);
    assert!(imports("use super::Subset;").is_empty());
}
