//! `store/latest`, the link to the latest run: a convenience. When it cannot be made, nothing is lost.

use std::{
    fs,
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

/// The link to the latest run, in the store.
pub const LATEST: &str = "latest";

/// Points the link at a run's folder, named from the store. What is not ours under that name stays, with a note.
pub fn point(store: &Path, run: &Path) {
    let latest = store.join(LATEST);
    match fs::symlink_metadata(&latest) {
        Ok(_) if !is_ours(&latest) => {
            tell!("note: {} is not Fencepost's and stays as it is", latest.display());
        }
        _ => {
            // Made beside and moved: nobody finds no link, also where several runs begin at once.
            let beside = store.join(format!(".{LATEST}-{}", std::process::id()));
            let pointed = symlink(run, &beside).and_then(|()| fs::rename(&beside, &latest));
            if pointed.is_err() {
                let _ = fs::remove_file(&beside);
            }
        }
    }
}

/// The path itself, or what it leads to where it is a link such as `latest`: that leads elsewhere tomorrow.
pub fn followed(path: &Path) -> PathBuf {
    // A slash at the end would follow the link before it is looked at.
    let path: PathBuf = path.components().collect();
    match fs::read_link(&path) {
        Ok(target) => path.parent().unwrap_or(Path::new("")).join(target),
        Err(_) => path,
    }
}

/// A link to `<experiment>/<time>`, within the store.
fn is_ours(latest: &Path) -> bool {
    fs::read_link(latest).is_ok_and(|target| {
        let is_within = target.components().all(|part| matches!(part, std::path::Component::Normal(_)));
        is_within && target.file_name().is_some_and(|name| is_stamp(&name.to_string_lossy()))
    })
}

/// `20261201T201955`, or `20261201T201955-2`.
fn is_stamp(name: &str) -> bool {
    let shape: String = name.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
    let (time, number) = shape.split_once('-').unwrap_or((&shape, "0"));
    time == "00000000T000000" && !number.is_empty() && number.bytes().all(|digit| digit == b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stamp_is_told_from_other_names() {
        assert!(is_stamp("20261201T201955") && is_stamp("20261201T201955-12"));
        assert!(
            ["latest", "20261201", "20261201T20195", "20261201T201955-", "20261201T201955-x"]
                .iter()
                .all(|name| !is_stamp(name))
        );
    }
}
