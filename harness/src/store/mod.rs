//! Where runs are kept: `store/<experiment>/<time>/`, and `store/latest`.

mod claim;
mod latest;

use std::{
    fs::{self, Permissions},
    io::{self, ErrorKind, Write},
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    rc::Rc,
};

use sha2::{Digest, Sha256};

use self::claim::Claim;
pub use self::latest::LATEST;
use crate::{
    engine::hex,
    error::{Error, Result},
    input, owner,
};

/// What was run, in a run's folder.
pub const EXPERIMENT: &str = "experiment.toml";
/// Name of the history's file in a run's folder.
pub const HISTORY: &str = "history.jsonl";
/// Name of the resource's log in a run's folder.
pub const RESOURCE: &str = "resource.jsonl";
/// What was sent, beside the history.
pub const MESSAGES: &str = "messages.jsonl";
/// What a run tells of how it went.
pub const RUN: &str = "run.json";
/// What was said about it.
pub const VERDICT: &str = "verdict.json";

/// The folder of one run. Only the run itself, which made it, writes into it.
#[derive(Clone, Debug)]
pub struct RunFolder {
    path: PathBuf,
    /// Held by the run itself as long as it goes on.
    claim: Option<Rc<Claim>>,
}

impl RunFolder {
    /// Makes a fresh folder for a run of this name with its experiment in it, and points `latest` at it.
    ///
    /// # Errors
    /// It cannot be made; then nothing is left of it.
    pub fn create(store: &Path, name: &str, experiment: &str) -> Result<RunFolder> {
        let stamp = jiff::Timestamp::now().strftime("%Y%m%dT%H%M%S").to_string();
        let parent = store.join(name);
        fs::create_dir_all(&parent).map_err(|error| cannot_be_made(&parent, &error))?;
        for number in 1..1000 {
            let stamp = if number == 1 { stamp.clone() } else { format!("{stamp}-{number}") };
            let path = parent.join(&stamp);
            match fs::create_dir(&path) {
                Ok(()) => {
                    let folder = RunFolder { path, claim: None }.claimed(experiment)?;
                    latest::point(store, &Path::new(name).join(&stamp));
                    return Ok(folder);
                }
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(cannot_be_made(&path, &error)),
            }
        }
        Err(Error::Harness(format!("{} has too many runs of one second", parent.display())))
    }

    /// Writes the experiment, and holds the folder by it before there is a history: no reader sees the run unheld.
    fn claimed(mut self, experiment: &str) -> Result<RunFolder> {
        let written = self.write(EXPERIMENT, experiment).inspect_err(|_| {
            // A run that never was leaves no folder.
            let _ = fs::remove_dir(&self.path);
        })?;
        self.claim = Claim::hold(&written).map(Rc::new);
        Ok(self)
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

    /// A folder that a run left, or in which one goes on; `what` may also be a file in it.
    pub fn open(what: &str) -> Result<RunFolder> {
        let given = Path::new(what);
        let path = if given.is_file() { given.parent().unwrap_or(given) } else { given };
        let is_run = path.join(EXPERIMENT).is_file() && path.join(HISTORY).is_file();
        if is_run {
            return Ok(RunFolder { path: latest::followed(path), claim: None });
        }
        Err(Error::Data(format!(
            "{what} is no run: a run is a folder with experiment.toml and history.jsonl, such as store/latest"
        )))
    }

    /// Whether the run that writes into it goes on, in whatever process.
    pub fn is_running(&self) -> bool {
        Claim::is_held(&self.path.join(EXPERIMENT))
    }

    /// The folder, by a name that stays its own: never `latest`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A name that is free for one run, also at the same second, and in another PID namespace in which a process has our
    /// number: one engine serves them all.
    pub fn run_name(&self) -> String {
        let stamp = self.path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        let owner = hex(&Sha256::digest(owner::this_process()));
        format!("{stamp}-{}-{}", &owner[..6], std::process::id())
    }

    /// Writes a file of the run, whole or not at all, making folders below it.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> Result<PathBuf> {
        self.write_with(name, |file| file.write_all(content.as_ref()))
    }

    /// As [`write`](Self::write), for what is not all in memory.
    pub fn write_with(
        &self,
        name: &str,
        write: impl FnOnce(&mut fs::File) -> io::Result<()>,
    ) -> Result<PathBuf> {
        let path = self.path.join(name);
        let written = || {
            let folder = path.parent().unwrap_or(&self.path);
            fs::create_dir_all(folder)?;
            let mut beside = tempfile::Builder::new();
            // As any other file: what the user's mask leaves of it.
            beside.prefix(".").permissions(Permissions::from_mode(0o666));
            let mut file = beside.tempfile_in(folder)?;
            write(file.as_file_mut())?;
            file.persist(&path).map_err(|error| error.error).map(|_| ())
        };
        written().map_err(|error| cannot_be_written(&path, &error))?;
        Ok(path)
    }

    /// Reads a file of the run.
    pub fn read(&self, name: &str) -> Result<String> {
        let path = self.path.join(name);
        input::text_of_run(&path)
            .map_err(|error| Error::Data(format!("failed to read {}: {error}", path.display())))
    }
}

/// "failed to write store/…: No space left on device".
pub fn cannot_be_written(path: &Path, error: &io::Error) -> Error {
    Error::Harness(format!("failed to write {}: {error}", path.display()))
}

/// Another place helps against a path that is wrong, as the user may see; a full disk is nobody's mistake.
fn cannot_be_made(path: &Path, error: &io::Error) -> Error {
    let why = format!("the run's folder {} cannot be made: {error}", path.display());
    let elsewhere = "  --store or FENCEPOST_STORE names another place";
    match error.kind() {
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => Error::Harness(format!("{why}\n{elsewhere}")),
        _ => Error::Usage(format!("--store: {why}\n{elsewhere}")),
    }
}
