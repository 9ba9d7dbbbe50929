//! The binary that somebody gives for the nodes, looked at before anything is made.

use std::{
    ffi::OsString,
    fs,
    path::{Path, PathBuf},
};

use object::{
    Architecture, Endianness, Object,
    elf::PT_INTERP,
    read::elf::{ElfFile64, ProgramHeader},
};

use crate::error::{Error, Result};

/// Instead of the running one.
const VARIABLE: &str = "FENCEPOST_NODE_BINARY";

/// What is given, if anything is.
pub fn given() -> Option<OsString> {
    std::env::var_os(VARIABLE)
}

/// A binary that some node can run.
#[derive(Debug)]
pub struct NodeBinary {
    path: PathBuf,
    architecture: Architecture,
}

impl NodeBinary {
    /// Looks at what is given.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn look() -> Result<Option<NodeBinary>> {
        let Some(path) = given().map(PathBuf::from) else { return Ok(None) };
        match architecture(&path) {
            Ok(architecture) => Ok(Some(NodeBinary { path, architecture })),
            Err(why) => Err(wrong(&path, &why)),
        }
    }

    /// Fails where the engine's machine, as it calls itself, is of another kind. One that is not known may be right.
    ///
    /// # Errors
    /// Of which kind both are.
    pub fn runs_on(&self, machine: &str) -> Result<()> {
        let wanted = match machine {
            "x86_64" | "amd64" => Architecture::X86_64,
            "aarch64" | "arm64" => Architecture::Aarch64,
            _ => return Ok(()),
        };
        if self.architecture == wanted {
            return Ok(());
        }
        let own = format!("{:?}", self.architecture).to_lowercase();
        Err(wrong(&self.path, &format!("is a program for {own}, and the engine runs on {machine}")))
    }
}

fn wrong(path: &Path, why: &str) -> Error {
    Error::Unavailable(format!(
        "{VARIABLE}: {} {why}\n  it names a `fencepost` that is linked statically; without it the running one is put into the nodes",
        path.display()
    ))
}

/// Of a program that starts where nothing else is.
fn architecture(path: &Path) -> Result<Architecture, String> {
    let bytes = fs::read(path).map_err(|error| format!("cannot be read: {error}"))?;
    let Ok(file) = ElfFile64::<Endianness>::parse(&*bytes) else {
        return Err("is no program for Linux of 64 bits".into());
    };
    let headers = file.elf_program_headers();
    if headers.iter().any(|header| header.p_type(file.endian()) == PT_INTERP) {
        return Err("is linked dynamically: it does not start where its libraries are not".into());
    }
    Ok(file.architecture())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_binary_that_no_node_can_run_is_told() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let script = folder.path().join("script");
        fs::write(&script, "#!/bin/sh\n").expect("it is written");
        let said = |path: &Path| architecture(path).expect_err("it fits no node");
        assert!(said(&folder.path().join("nothing")).starts_with("cannot be read: No such file"));
        assert!(said(folder.path()).starts_with("cannot be read: Is a directory"));
        assert_eq!(said(&script), "is no program for Linux of 64 bits");
        let shell = Path::new("/bin/sh");
        if fs::read(shell).is_ok_and(|bytes| bytes.windows(8).any(|word| word == b"ld-linux")) {
            assert!(said(shell).starts_with("is linked dynamically"), "{}", said(shell));
        }
    }

    #[test]
    fn it_is_one_for_the_machine_of_the_engine() {
        let path = PathBuf::from("/proc/self/exe");
        let own = NodeBinary { architecture: architecture(&path).expect("we are static"), path };
        own.runs_on(std::env::consts::ARCH).expect("we run here");
        let other = if own.architecture == Architecture::X86_64 { "arm64" } else { "amd64" };
        let said = own.runs_on(other).expect_err("it is another").to_string();
        assert!(said.contains("is a program for ") && said.contains(&format!("runs on {other}\n")), "{said}");
    }
}
