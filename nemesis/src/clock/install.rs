//! Moving a clock, reading it back, setting it right.

use std::{
    io,
    os::unix::process::CommandExt,
    process::{Child, Command},
};

use nix::{
    errno::Errno,
    libc,
    sys::ptrace,
    time::{ClockId, clock_gettime},
};

use super::{
    ClockError, Observed,
    payload::{self, JUMP, MARK, MARK_AT, OFFSET_AT, PAGE, RESULT_AT, STACK_AT},
    tracee::Tracee,
    vdso::Image,
    verified,
};

/// Readings taken at most for one observation.
const READINGS_MAX: u32 = 10;
/// An uncertainty that needs no further reading.
const GOOD_NS: i64 = 200_000;

/// Moves the wall clock of `pid` by `offset_ns` nanoseconds from the true time. All its threads are held for some
/// milliseconds the first time, none later. Children that it forks inherit the offset of that moment.
pub fn install(pid: i32, offset_ns: i64) -> Result<(), ClockError> {
    // A first look, which stops nobody. Whatever it meets, such as a process that is about to execute another program,
    // a second look at the process held still will say.
    if let Ok(()) = set(pid, offset_ns) {
        return Ok(());
    }
    let tracee = Tracee::hold_all(pid)?;
    let image = Image::open(pid)?;
    match installed(&image)? {
        Some(pages) => Ok(write_offset(&image, pages, offset_ns)?),
        None => patch(&image, &tracee, pid, offset_ns),
    }
}

/// Changes the offset of a process that [`install`] has moved, without stopping it.
pub fn set(pid: i32, offset_ns: i64) -> Result<(), ClockError> {
    let image = Image::open(pid)?;
    let pages = installed(&image)?.ok_or(ClockError::StrangeVdso("this process' clock was never moved"))?;
    Ok(write_offset(&image, pages, offset_ns)?)
}

/// How far the wall clock of `pid` is from the true one, by letting one of its threads call its own `clock_gettime`.
/// That thread is held for less than a millisecond. Works whether or not the clock was moved.
pub fn read_back(pid: i32) -> Result<Observed, ClockError> {
    let tracee = Tracee::hold_one(pid)?;
    let image = Image::open(pid)?;
    match installed(&image)? {
        Some(pages) => observe(&image, &tracee, pid, pages),
        None => {
            let pages = map_pages(&image, &tracee, pid)?;
            let observed = observe(&image, &tracee, pid, pages);
            let arguments = [pages, 2 * PAGE, 0, 0, 0, 0];
            system_call(&image, &tracee, pid, "unmap pages", libc::SYS_munmap, arguments)?;
            observed
        }
    }
}

/// Sets the wall clock of `pid` right, and returns what it then reads; fails unless that is the true time.
///
/// The functions keep jumping to our code, with an offset of 0: taking that back would mean to hold all threads again,
/// for nothing that the process could notice.
pub fn remove(pid: i32) -> Result<Observed, ClockError> {
    let image = Image::open(pid)?;
    if let Some(pages) = installed(&image)? {
        write_offset(&image, pages, 0)?;
    }
    verified(pid, 0)
}

/// Starts a program whose wall clock is moved before its first instruction. If that fails, it is killed and reaped.
pub fn spawn(mut command: Command, offset_ns: i64) -> Result<Child, ClockError> {
    // SAFETY: between fork and exec this makes one system call.
    unsafe { command.pre_exec(|| ptrace::traceme().map_err(io::Error::from)) };
    let mut child = command.spawn()?;
    let pid = child.id() as i32;
    let patched = Tracee::adopt(pid).and_then(|tracee| patch(&Image::open(pid)?, &tracee, pid, offset_ns));
    if let Err(error) = patched {
        // Both fail only where it has ended by itself and somebody else has reaped it.
        let _ = child.kill().and_then(|()| child.wait());
        return Err(error);
    }
    Ok(child)
}

/// The two pages that an earlier [`install`] left in a process: found by the jump at the beginning of `clock_gettime`.
fn installed(image: &Image) -> Result<Option<u64>, ClockError> {
    let (name, at) = payload::replacements()[0];
    let entry = image.function(name)?.ok_or(ClockError::StrangeVdso("it has no clock_gettime"))?;
    let Some(target) = payload::jump_target(image.read(entry)?) else {
        return Ok(None);
    };
    let pages = target.wrapping_sub(at);
    match image.read(pages.wrapping_add(MARK_AT)) {
        Ok(mark) if mark == MARK => Ok(Some(pages)),
        _ => Err(ClockError::StrangeVdso("something else has changed it already")),
    }
}

/// Maps the two pages and turns the functions to them. All threads of the process are held.
fn patch(image: &Image, tracee: &Tracee, pid: i32, offset_ns: i64) -> Result<(), ClockError> {
    let pages = map_pages(image, tracee, pid)?;
    image.write(pages, payload::code())?;
    image.write(pages + MARK_AT, &MARK)?;
    write_offset(image, pages, offset_ns)?;
    let arguments = [pages, PAGE, (libc::PROT_READ | libc::PROT_EXEC) as u64, 0, 0, 0];
    system_call(image, tracee, pid, "make code executable", libc::SYS_mprotect, arguments)?;

    let mut entries = Vec::new();
    for (name, at) in payload::replacements() {
        let Some(entry) = image.function(name)? else { continue };
        // Functions begin at multiples of 16, so that a jump of 12 bytes stays clear of the next one.
        if entry % 16 != 0 {
            return Err(ClockError::StrangeVdso("its functions are not aligned"));
        }
        entries.push((entry, pages + at));
    }
    tracee.step_out_of(&entries.iter().map(|(entry, _)| (*entry, entry + JUMP)).collect::<Vec<_>>())?;
    entries.iter().try_for_each(|(entry, target)| tracee.poke(*entry, &payload::jump(*target)))
}

/// Makes the process map two pages that it may read and write.
fn map_pages(image: &Image, tracee: &Tracee, pid: i32) -> Result<u64, ClockError> {
    let access = (libc::PROT_READ | libc::PROT_WRITE) as u64;
    let flags = (libc::MAP_PRIVATE | libc::MAP_ANONYMOUS) as u64;
    system_call(image, tracee, pid, "map pages", libc::SYS_mmap, [0, 2 * PAGE, access, flags, u64::MAX, 0])
}

fn system_call(
    image: &Image,
    tracee: &Tracee,
    pid: i32,
    what: &'static str,
    number: i64,
    arguments: [u64; 6],
) -> Result<u64, ClockError> {
    let result = tracee.system_call(image.syscall_instruction()?, number, arguments)?;
    // System calls return errors as -4095..=-1.
    if (-4095..0).contains(&result) {
        return Err(ClockError::Call { pid, what, errno: Errno::from_raw(-result as i32) });
    }
    Ok(result.cast_unsigned())
}

/// The best of a few readings: on a busy machine one of them may be interrupted.
fn observe(image: &Image, tracee: &Tracee, pid: i32, pages: u64) -> Result<Observed, ClockError> {
    let mut best = observe_once(image, tracee, pid, pages)?;
    for _ in 1..READINGS_MAX {
        if best.uncertainty_ns < GOOD_NS {
            break;
        }
        let next = observe_once(image, tracee, pid, pages)?;
        best = if next.uncertainty_ns < best.uncertainty_ns { next } else { best };
    }
    Ok(best)
}

/// Lets a held thread call its own `clock_gettime`, and compares with the true time before and after.
fn observe_once(image: &Image, tracee: &Tracee, pid: i32, pages: u64) -> Result<Observed, ClockError> {
    let function = image.function(payload::replacements()[0].0)?;
    let function = function.ok_or(ClockError::StrangeVdso("it has no clock_gettime"))?;
    let before_ns = true_time_ns()?;
    let result = tracee.call(function, [libc::CLOCK_REALTIME as u64, pages + RESULT_AT], pages + STACK_AT)?;
    let after_ns = true_time_ns()?;
    if result as i32 != 0 {
        return Err(ClockError::Call { pid, what: "read its clock", errno: Errno::from_raw(-result as i32) });
    }
    let number = |at: u64| image.read(pages + RESULT_AT + at).map(i64::from_ne_bytes);
    let read_ns = number(0)? * 1_000_000_000 + number(8)?;
    let uncertainty_ns = (after_ns - before_ns) / 2;
    Ok(Observed { offset_ns: read_ns - before_ns - uncertainty_ns, uncertainty_ns })
}

fn write_offset(image: &Image, pages: u64, offset_ns: i64) -> io::Result<()> {
    image.write(pages + OFFSET_AT, &offset_ns.to_ne_bytes())
}

fn true_time_ns() -> Result<i64, ClockError> {
    let time = clock_gettime(ClockId::CLOCK_REALTIME)?;
    Ok(time.tv_sec() * 1_000_000_000 + time.tv_nsec())
}
