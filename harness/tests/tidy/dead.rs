//! What is public and nobody uses: the compiler does not say so, since someone outside might.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
};

use syn::visit::Visit;

use crate::sources::{self, CRATES};

/// Public for those who use a crate without the others, or its tests; each with the reason.
const FOR_OTHERS: [(&str, &str); 1] =
    [("set_clock_rate", "the kernel's clocks can drift, which its tests show; no fault asks for it yet")];

#[test]
fn nothing_is_public_that_nobody_uses() {
    let mut defined: Vec<(String, String)> = Vec::new();
    let mut used: BTreeMap<String, usize> = BTreeMap::new();
    for source in sources::all() {
        let mut items = Items::default();
        items.visit_file(&source.file);
        defined.extend(items.public.into_iter().map(|name| (name, source.path.clone())));
        items.names.into_iter().for_each(|name| *used.entry(name).or_default() += 1);
    }
    // Benches and examples are programs of their own.
    for room in CRATES {
        for folder in ["benches", "examples"] {
            let folder = sources::workspace().join(room.folder).join(folder);
            if folder.exists() {
                sources::visit(&folder, &mut |path| {
                    let text = fs::read_to_string(path).expect("a source");
                    words(&text).for_each(|name| *used.entry(name.to_string()).or_default() += 1);
                });
            }
        }
    }
    let mut definitions: BTreeMap<&str, usize> = BTreeMap::new();
    defined.iter().for_each(|(name, _)| *definitions.entry(name).or_default() += 1);
    let others: BTreeSet<&str> = FOR_OTHERS.iter().map(|(name, _)| *name).collect();
    let dead: Vec<String> = defined
        .iter()
        .filter(|(name, _)| used.get(name).copied().unwrap_or_default() <= definitions[name.as_str()])
        .filter(|(name, _)| !others.contains(name.as_str()))
        .map(|(name, path)| format!("{path}: {name}"))
        .collect();
    assert!(dead.is_empty(), "public and never used outside of tests:\n{}", dead.join("\n"));
}

/// Names of public items, and every name that is written, outside of unit tests.
#[derive(Default)]
struct Items {
    public: Vec<String>,
    names: Vec<String>,
}

impl<'ast> Visit<'ast> for Items {
    fn visit_ident(&mut self, ident: &'ast syn::Ident) {
        self.names.push(ident.to_string());
    }

    fn visit_macro(&mut self, called: &'ast syn::Macro) {
        self.visit_path(&called.path);
        let tokens = called.tokens.to_string();
        self.names.extend(words(&tokens).map(str::to_string));
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if let syn::Meta::List(list) = &attribute.meta {
            let tokens = list.tokens.to_string();
            self.names.extend(words(&tokens).map(str::to_string));
        }
    }

    fn visit_item_mod(&mut self, module: &'ast syn::ItemMod) {
        if !sources::is_test(&module.attrs) {
            syn::visit::visit_item_mod(self, module);
        }
    }

    fn visit_item(&mut self, item: &'ast syn::Item) {
        let public = match item {
            syn::Item::Fn(item) => Some((&item.vis, &item.sig.ident)),
            syn::Item::Struct(item) => Some((&item.vis, &item.ident)),
            syn::Item::Enum(item) => Some((&item.vis, &item.ident)),
            syn::Item::Const(item) => Some((&item.vis, &item.ident)),
            syn::Item::Static(item) => Some((&item.vis, &item.ident)),
            syn::Item::Trait(item) => Some((&item.vis, &item.ident)),
            syn::Item::Type(item) => Some((&item.vis, &item.ident)),
            _ => None,
        };
        self.public(public);
        syn::visit::visit_item(self, item);
    }

    fn visit_impl_item(&mut self, item: &'ast syn::ImplItem) {
        self.public(match item {
            syn::ImplItem::Fn(item) => Some((&item.vis, &item.sig.ident)),
            syn::ImplItem::Const(item) => Some((&item.vis, &item.ident)),
            _ => None,
        });
        syn::visit::visit_impl_item(self, item);
    }
}

impl Items {
    fn public(&mut self, item: Option<(&syn::Visibility, &syn::Ident)>) {
        if let Some((syn::Visibility::Public(_), name)) = item {
            self.public.push(name.to_string());
        }
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}
