//! The vDSO of a process: where it is, and what is in it. See vdso(7).

use std::{
    fs::{self, File, OpenOptions},
    io,
    os::unix::fs::FileExt,
};

use nix::libc;
use object::{Object, ObjectSymbol};

use super::ClockError;

/// A process' memory, and its vDSO.
pub struct Image {
    memory: File,
    /// Address of the vDSO.
    base: u64,
    /// Its bytes.
    bytes: Vec<u8>,
}

impl Image {
    /// Opens the memory of `pid`, for which the caller needs CAP_SYS_PTRACE, and reads its vDSO.
    pub fn open(pid: i32) -> Result<Image, ClockError> {
        let refused = |error: io::Error| match error.raw_os_error() {
            Some(libc::ENOENT | libc::ESRCH) => ClockError::Gone(pid),
            Some(libc::EACCES | libc::EPERM) => ClockError::NotAllowed(pid),
            _ => ClockError::Io(error),
        };
        let memory =
            OpenOptions::new().read(true).write(true).open(format!("/proc/{pid}/mem")).map_err(refused)?;
        let maps = fs::read_to_string(format!("/proc/{pid}/maps")).map_err(refused)?;
        let (base, end) = maps.lines().find_map(range_of_vdso).ok_or(ClockError::NoVdso(pid))?;
        let mut bytes = vec![0; (end - base) as usize];
        memory.read_exact_at(&mut bytes, base)?;
        if object::FileKind::parse(&*bytes).ok() != Some(object::FileKind::Elf64) {
            return Err(ClockError::Architecture("a 32-bit process"));
        }
        Ok(Image { memory, base, bytes })
    }

    /// Address of a function; `None` when this kernel's vDSO lacks it.
    pub fn function(&self, name: &str) -> Result<Option<u64>, ClockError> {
        let file =
            object::File::parse(&*self.bytes).map_err(|_| ClockError::StrangeVdso("it is no ELF file"))?;
        let address =
            file.dynamic_symbols().find(|symbol| symbol.name() == Ok(name)).map(|symbol| symbol.address());
        Ok(address.map(|address| self.base.wrapping_add(address)))
    }

    /// Address of an instruction `syscall`: the vDSO falls back on it where it cannot tell the time by itself.
    pub fn syscall_instruction(&self) -> Result<u64, ClockError> {
        let at = self.bytes.windows(2).position(|code| code == [0x0f, 0x05]);
        at.map(|at| self.base + at as u64).ok_or(ClockError::StrangeVdso("it makes no system call"))
    }

    /// Reads memory.
    pub fn read<const N: usize>(&self, address: u64) -> io::Result<[u8; N]> {
        let mut bytes = [0; N];
        self.memory.read_exact_at(&mut bytes, address)?;
        Ok(bytes)
    }

    /// Writes memory that the process itself may write.
    pub fn write(&self, address: u64, bytes: &[u8]) -> io::Result<()> {
        self.memory.write_all_at(bytes, address)
    }
}

fn range_of_vdso(line: &str) -> Option<(u64, u64)> {
    let (from, to) = line.strip_suffix("[vdso]")?.split(' ').next()?.split_once('-')?;
    Some((u64::from_str_radix(from, 16).ok()?, u64::from_str_radix(to, 16).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_functions_of_this_process() {
        let image = Image::open(std::process::id() as i32).unwrap();
        let address = image.function("__vdso_clock_gettime").unwrap().unwrap();
        assert!((image.base..image.base + image.bytes.len() as u64).contains(&address));
        assert_eq!(image.function("__vdso_brew_coffee").unwrap(), None);
        assert_eq!(image.read(image.syscall_instruction().unwrap()).unwrap(), [0x0f, 0x05]);
    }

    #[test]
    fn reads_lines_of_maps() {
        let line = "7ffd5a1f3000-7ffd5a1f5000 r-xp 00000000 00:00 0                          [vdso]";
        assert_eq!(range_of_vdso(line), Some((0x7ffd_5a1f_3000, 0x7ffd_5a1f_5000)));
        assert_eq!(range_of_vdso(&line.replace("vdso", "vvar")), None);
    }
}
