//! The images that we can build, and the layouts of images that we know: `images/catalog.toml`, embedded.

use std::sync::LazyLock;

use serde::Deserialize;

/// Everything the catalog says.
#[derive(Debug, Deserialize)]
pub struct Catalog {
    /// Version of its form.
    pub format: u32,
    /// Images that we build.
    #[serde(rename = "image")]
    pub images: Vec<Image>,
    /// Where images keep their programs.
    #[serde(rename = "layout")]
    pub layouts: Vec<LayoutEntry>,
}

/// An image that we build.
#[derive(Debug, Deserialize)]
pub struct Image {
    /// Whose it is: `redis`, `etcd`, …
    pub system: String,
    /// As a person types it.
    pub version: String,
    /// As the server reports it.
    pub full: String,
    /// Taken when no version is named.
    pub default: bool,
    /// Part of what continuous integration builds.
    pub ci: bool,
    /// Its name in the engine.
    pub tag: String,
    /// Below `images/`.
    pub dockerfile: String,
    /// What it is built from.
    pub base: String,
    /// Further build arguments, `NAME=value`.
    pub args: Vec<String>,
    /// Its layout by name.
    pub layout: String,
}

/// How an image is laid out.
#[derive(Clone, Debug, Deserialize)]
pub struct LayoutEntry {
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub system: String,
    /// A file that tells the layout; `*` stands for any characters but `/`. Absent: fits any image.
    pub when: Option<String>,
    /// Candidates for the server's binary, or for Java.
    pub program: Vec<String>,
    /// ZooKeeper: the classpath.
    #[serde(default)]
    pub classpath: String,
    /// ZooKeeper: Java's flags.
    #[serde(default)]
    pub flags: Vec<String>,
    /// ZooKeeper: the main class.
    #[serde(default)]
    pub main: String,
}

/// The catalog that this binary was built with.
pub static CATALOG: LazyLock<Catalog> = LazyLock::new(|| {
    toml::from_str(include_str!("../../images/catalog.toml")).expect("a test reads the embedded catalog")
});

/// Versions of a system's images, the default first.
pub fn versions(system: &str) -> Vec<&'static str> {
    let mut images: Vec<&Image> = CATALOG.images.iter().filter(|image| image.system == system).collect();
    images.sort_by_key(|image| !image.default);
    images.into_iter().map(|image| image.version.as_str()).collect()
}

/// The image of a version, or the default one.
pub fn image(system: &str, version: Option<&str>) -> Option<&'static Image> {
    CATALOG
        .images
        .iter()
        .filter(|image| image.system == system)
        .find(|image| version.map_or(image.default, |version| image.version == version))
}

/// A layout by name.
pub fn layout(name: &str) -> Option<&'static LayoutEntry> {
    CATALOG.layouts.iter().find(|layout| layout.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_catalog_is_whole() {
        assert_eq!(CATALOG.format, 1);
        for image in &CATALOG.images {
            assert!(
                layout(&image.layout).is_some_and(|layout| layout.system == image.system),
                "{}",
                image.tag
            );
            assert!(crate::images::build::dockerfile(&image.dockerfile).is_some(), "{}", image.dockerfile);
        }
    }
}
