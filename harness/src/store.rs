//! Where runs are kept: `store/<experiment>/<time>/`, and `store/latest`.

use std::{
    fs,
    path::{Path, PathBuf},
};

use crate::error::{Error, Result};

/// The link to the latest run, in the store.
pub const LATEST: &str = "latest";

/// The folder of one run.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
}

impl RunFolder {
    /// Makes a fresh folder for a run of this name, and points `latest` at it.
    pub fn create(store: &Path, experiment: &str) -> Result<RunFolder> {
        let stamp = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S").to_string();
        let parent = store.join(experiment);
        fs::create_dir_all(&parent).map_err(|error| cannot_be_made(&parent, &error))?;
        for number in 1..1000 {
            let name = if number == 1 { stamp.clone() } else { format!("{stamp}-{number}") };
            let path = parent.join(&name);
            match fs::create_dir(&path) {
                Ok(()) => {
                    point_latest(store, &Path::new(experiment).join(&name));
                    return Ok(RunFolder { path });
                }
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                Err(error) => return Err(cannot_be_made(&path, &error)),
            }
        }
        Err(Error::Harness(format!("{} has too many runs of one second", parent.display())))
    }

    /// Fails where no run could be kept: to be found out before work is done that would be lost.
    pub fn can_be_made(store: &Path) -> Result<()> {
        let probe = store.join(format!(".probe-{}", std::process::id()));
        let is_new = !store.exists();
        let made = fs::create_dir_all(&probe).and_then(|()| fs::remove_dir(&probe));
        if is_new {
            // Left there only if somebody has used it meanwhile.
            let _ = fs::remove_dir(store);
        }
        made.map_err(|error| cannot_be_made(&probe, &error))
    }

    /// A folder that a run left; `what` may also be a file in it.
    pub fn open(what: &str) -> Result<RunFolder> {
        let given = Path::new(what);
        let path = if given.is_file() { given.parent().unwrap_or(given) } else { given };
        let is_run = path.join("experiment.toml").is_file() && path.join(crate::recorder::HISTORY).is_file();
        if is_run {
            return Ok(RunFolder { path: path.to_path_buf() });
        }
        Err(Error::Data(format!(
            "{what} is no run: a run is a folder with experiment.toml and history.jsonl, such as store/latest"
        )))
    }

    /// The folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A name that is free for one run, also at the same second: the last two parts of its path, without odd letters.
    pub fn run_name(&self) -> String {
        let stamp = self.path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        format!("{stamp}-{}", std::process::id())
    }

    /// Writes a file of the run, making folders below it.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<PathBuf> {
        let path = self.path.join(name);
        let failed =
            |error: std::io::Error| Error::Harness(format!("failed to write {}: {error}", path.display()));
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(failed)?;
        }
        fs::write(&path, content).map_err(failed)?;
        Ok(path)
    }

    /// Reads a file of the run.
    pub fn read(&self, name: &str) -> Result<String> {
        let path = self.path.join(name);
        fs::read_to_string(&path)
            .map_err(|error| Error::Data(format!("failed to read {}: {error}", path.display())))
    }
}

fn cannot_be_made(path: &Path, error: &std::io::Error) -> Error {
    Error::Usage(format!(
        "--store: the run's folder {} cannot be made: {error}\n  --store or FENCEPOST_STORE names another place",
        path.display()
    ))
}

/// A convenience: when it cannot be made, nothing is lost.
fn point_latest(store: &Path, run: &Path) {
    let latest = store.join(LATEST);
    let _ = fs::remove_file(&latest);
    let _ = std::os::unix::fs::symlink(run, &latest);
}
