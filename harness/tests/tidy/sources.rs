//! The crates' sources, parsed.

use std::{
    fs,
    path::{Path, PathBuf},
};

use syn::visit::Visit;

/// A crate of the workspace.
#[derive(Debug)]
pub struct Room {
    /// As others import it.
    pub name: &'static str,
    /// Where it lies in the workspace.
    pub folder: &'static str,
    /// Which of our crates it may import, besides `history`.
    pub imports: &'static [&'static str],
}

/// All of them, from the ground up.
pub const CRATES: [Room; 8] = [
    Room { name: "history", folder: "history", imports: &[] },
    Room { name: "linear", folder: "checkers/linear", imports: &[] },
    Room { name: "checkers", folder: "checkers", imports: &["linear"] },
    Room { name: "nemesis", folder: "nemesis", imports: &[] },
    Room { name: "workloads", folder: "workloads", imports: &[] },
    Room { name: "simulation", folder: "simulation", imports: &["workloads"] },
    Room { name: "reports", folder: "reports", imports: &[] },
    Room {
        name: "harness",
        folder: "harness",
        imports: &["linear", "checkers", "nemesis", "workloads", "simulation", "reports"],
    },
];

/// One file of a crate's sources.
pub struct Source {
    /// In the workspace.
    pub path: String,
    /// Its module: `["world", "docker", "node"]`.
    pub module: Vec<String>,
    /// How long it is.
    pub lines: usize,
    /// What it says.
    pub text: String,
    /// The same, parsed.
    pub file: syn::File,
    /// Whether it is a unit test's, in a file of its own.
    pub is_test: bool,
}

pub fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

pub fn all() -> Vec<Source> {
    CRATES.iter().flat_map(of).collect()
}

pub fn of(room: &Room) -> Vec<Source> {
    let src = workspace().join(room.folder).join("src");
    let mut found = Vec::new();
    visit(&src, &mut |path| {
        let text = fs::read_to_string(path).expect("a source");
        let file = syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let within = path.strip_prefix(&src).expect("it is below");
        found.push(Source {
            path: format!("{}/src/{}", room.folder, within.display()),
            module: module(within),
            lines: text.lines().count(),
            text,
            file,
            is_test: false,
        });
    });
    let tests: Vec<Vec<String>> = found.iter().flat_map(tests_of).collect();
    for source in &mut found {
        source.is_test = tests.iter().any(|test| source.module.starts_with(test));
    }
    found
}

/// The modules of a file that are for tests alone.
fn tests_of(source: &Source) -> Vec<Vec<String>> {
    let modules = source.file.items.iter().filter_map(|item| match item {
        syn::Item::Mod(module) if is_test(&module.attrs) => Some(module.ident.to_string()),
        _ => None,
    });
    modules.map(|name| [source.module.clone(), vec![name]].concat()).collect()
}

/// Rust files below a folder, in order.
pub fn visit(folder: &Path, look: &mut impl FnMut(&Path)) {
    let entries = fs::read_dir(folder).expect("a folder of sources");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            visit(&path, look);
        } else if path.extension().is_some_and(|end| end == "rs") {
            look(&path);
        }
    }
}

fn module(path: &Path) -> Vec<String> {
    let mut names: Vec<_> =
        path.with_extension("").iter().map(|name| name.to_string_lossy().into()).collect();
    if names.last().is_some_and(|last: &String| ["mod", "lib", "main"].contains(&last.as_str())) {
        names.pop();
    }
    names
}

/// Whether what bears these attributes is for tests alone.
pub fn is_test(attributes: &[syn::Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}

/// Every path that a file names outside of unit tests, with `use` trees taken apart: `crate`, `world`, `World`.
pub fn paths(source: &Source) -> Vec<Vec<String>> {
    let mut paths = Paths::default();
    if !source.is_test {
        paths.visit_file(&source.file);
    }
    paths.found
}

#[derive(Default)]
struct Paths {
    found: Vec<Vec<String>>,
}

impl<'ast> Visit<'ast> for Paths {
    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !is_test(&module.attrs) {
            syn::visit::visit_item_mod(self, module);
        }
    }

    fn visit_item_use(&mut self, item: &'ast syn::ItemUse) {
        self.tree(&item.tree, Vec::new());
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        self.found.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        syn::visit::visit_path(self, path);
    }
}

impl Paths {
    fn tree(&mut self, tree: &syn::UseTree, mut before: Vec<String>) {
        match tree {
            syn::UseTree::Path(path) => {
                before.push(path.ident.to_string());
                self.tree(&path.tree, before);
            }
            syn::UseTree::Group(group) => {
                group.items.iter().for_each(|item| self.tree(item, before.clone()));
            }
            syn::UseTree::Name(syn::UseName { ident })
            | syn::UseTree::Rename(syn::UseRename { ident, .. }) => {
                before.push(ident.to_string());
                self.found.push(before);
            }
            syn::UseTree::Glob(_) => self.found.push(before),
        }
    }
}
