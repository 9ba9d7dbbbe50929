//! Which process a run's things belong to, and whether it still lives.

use std::{fs, str::FromStr};

use nix::{errno::Errno, sys::signal::kill, unistd::Pid};

use crate::agent;

/// `host/boot/pid/start/namespace` of this process.
pub fn this_process() -> String {
    let Stat { pid, start, .. } = Stat::of("self").unwrap_or_default();
    let namespace = own_namespace().unwrap_or_default();
    format!("{}/{}/{pid}/{start}/{namespace}", hostname(), agent::boot_id())
}

/// What a label says. Labels of older builds name no namespace.
struct Owner<'a> {
    host: &'a str,
    boot: &'a str,
    pid: u32,
    start: &'a str,
    namespace: Option<u64>,
}

impl<'a> Owner<'a> {
    fn of(label: &'a str) -> Option<Owner<'a>> {
        let mut parts = label.split('/');
        let (host, boot, pid) = (parts.next()?, parts.next()?, parts.next()?.parse().ok()?);
        let start = parts.next()?;
        Some(Owner { host, boot, pid, start, namespace: parts.next().and_then(|part| part.parse().ok()) })
    }

    fn is(&self, process: &Stat) -> bool {
        process.start == self.start && !process.is_dead
    }
}

/// Whether the owner that is named by the label of a thing made then, in seconds since 1970, certainly is gone. One on
/// another machine, or among processes that cannot be seen from here, may live: not ours to say.
pub fn is_gone(label: &str, made: Option<i64>) -> bool {
    let Some(owner) = Owner::of(label) else { return false };
    if owner.boot != agent::boot_id() {
        // Machines may have one name; what was made since ours was started is not of its life before.
        let is_older = made.is_none_or(|made| started().is_some_and(|started| made < started));
        return owner.host == hostname() && is_older;
    }
    match own_namespace() {
        Some(own) if owner.namespace == Some(own) => is_gone_from_here(&owner),
        // All processes of the machine are seen from there, under other numbers.
        Some(FIRST_NAMESPACE) => is_gone_everywhere(&owner),
        _ => false,
    }
}

/// Whether it cannot be told from here if the owner lives.
pub fn is_out_of_sight(label: &str, made: Option<i64>) -> bool {
    let own = own_namespace();
    let is_seen = |owner: Owner<'_>| {
        owner.boot == agent::boot_id()
            && own.is_some()
            && (owner.namespace == own || own == Some(FIRST_NAMESPACE))
    };
    !is_gone(label, made) && !Owner::of(label).is_some_and(is_seen)
}

/// When this machine was started, in seconds since 1970.
fn started() -> Option<i64> {
    let stat = fs::read_to_string("/proc/stat").ok()?;
    stat.lines().find_map(|line| line.strip_prefix("btime ")?.trim().parse().ok())
}

fn hostname() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_string()
}

/// The namespace that a kernel starts with (`PROC_PID_INIT_INO`): all others lie in it.
const FIRST_NAMESPACE: u64 = 0xEFFF_FFFC;

/// The number of our PID namespace; none where `/proc` shows another one's processes.
fn own_namespace() -> Option<u64> {
    // Without a mount of its own a new namespace sees its parent's processes, under numbers that mean nothing here.
    if Stat::of("self")?.pid != std::process::id() {
        return None;
    }
    let link = fs::read_link("/proc/self/ns/pid").ok()?;
    link.to_str()?.strip_prefix("pid:[")?.strip_suffix(']')?.parse().ok()
}

fn is_gone_from_here(owner: &Owner<'_>) -> bool {
    match Stat::of(&owner.pid.to_string()) {
        Some(process) => !owner.is(&process),
        // Others' processes may be hidden (`hidepid`); the kernel tells all the same whether there is one.
        None => i32::try_from(owner.pid)
            .ok()
            .filter(|pid| *pid > 0)
            .is_none_or(|pid| kill(Pid::from_raw(pid), None) == Err(Errno::ESRCH)),
    }
}

fn is_gone_everywhere(owner: &Owner<'_>) -> bool {
    // Where others' processes are hidden, what is not seen may live.
    let (Some(_), Ok(entries)) = (Stat::of("1"), fs::read_dir("/proc")) else { return false };
    let mut names = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok());
    !names.any(|name| {
        Stat::of(&name).is_some_and(|process| owner.is(&process)) && inner_pid(&name) == Some(owner.pid)
    })
}

/// The number that a process has in its own namespace: the last of `NSpid` (proc_pid_status(5)).
fn inner_pid(name: &str) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{name}/status")).ok()?;
    let pids = status.lines().find_map(|line| line.strip_prefix("NSpid:"))?;
    pids.split_whitespace().last()?.parse().ok()
}

/// What `/proc` tells of a process.
#[derive(Default)]
struct Stat {
    pid: u32,
    /// It has ended, though nobody has asked how: a zombie.
    is_dead: bool,
    /// Clock ticks from boot to its start: tells a reused pid apart.
    start: String,
}

impl Stat {
    fn of(name: &str) -> Option<Stat> {
        fs::read_to_string(format!("/proc/{name}/stat")).ok()?.parse().ok()
    }
}

impl FromStr for Stat {
    type Err = ();

    /// Fields 1, 3 and 22 of /proc/pid/stat (proc_pid_stat(5)); the name in between may hold anything.
    fn from_str(text: &str) -> Result<Stat, ()> {
        let (before, after) = text.rsplit_once(')').ok_or(())?;
        let pid = before.split(' ').next().and_then(|pid| pid.parse().ok()).ok_or(())?;
        let mut fields = after.split_whitespace();
        let is_dead = matches!(fields.next().ok_or(())?, "Z" | "X" | "x");
        Ok(Stat { pid, is_dead, start: fields.nth(18).ok_or(())?.to_string() })
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use super::*;

    /// The label of this process with one part replaced.
    fn with(index: usize, part: &str) -> String {
        let owner = this_process();
        let mut parts: Vec<&str> = owner.split('/').collect();
        parts[index] = part;
        parts.join("/")
    }

    #[test]
    fn this_process_lives_and_a_reused_pid_does_not() {
        let owner = this_process();
        assert!(!is_gone(&owner, None) && !is_out_of_sight(&owner, None), "{owner}");
        assert!(is_gone(&with(3, "1"), None));
    }

    #[test]
    fn an_owner_elsewhere_is_not_ours_to_judge() {
        for label in ["another-host/boot/1/1", "another-host/boot/1/1/1", "nonsense", ""] {
            assert!(!is_gone(label, None) && is_out_of_sight(label, None), "{label}");
        }
    }

    #[test]
    fn before_this_machine_was_started_nobody_lived_on_it() {
        let (label, started) = (with(1, "before"), started().unwrap());
        assert!(is_gone(&label, None) && is_gone(&label, Some(started - 60)));
        let since = Some(started + 60);
        assert!(!is_gone(&label, since) && is_out_of_sight(&label, since), "another machine of this name");
    }

    #[test]
    fn labels_of_older_builds_are_understood() {
        let label = this_process();
        let (old, _) = label.rsplit_once('/').unwrap();
        assert!(!is_gone(old, None), "{old}");
        let gone = with(3, "1");
        let (gone, _) = gone.rsplit_once('/').unwrap();
        // Whether it was one of ours can be told only where all are seen.
        assert_eq!(is_gone(gone, None), own_namespace() == Some(FIRST_NAMESPACE));
    }

    #[test]
    fn what_another_namespace_owns_is_judged_only_where_its_processes_are_seen() {
        let elsewhere = with(3, "1");
        let (elsewhere, _) = elsewhere.rsplit_once('/').unwrap();
        let all_are_seen = own_namespace() == Some(FIRST_NAMESPACE);
        let label = format!("{elsewhere}/4026530000");
        assert_eq!((is_gone(&label, None), is_out_of_sight(&label, None)), (all_are_seen, !all_are_seen));
    }

    #[test]
    fn a_zombie_is_gone() {
        let mut child = Command::new("true").spawn().unwrap();
        let stat = || Stat::of(&child.id().to_string()).unwrap();
        while !stat().is_dead {
            std::thread::yield_now();
        }
        let (pid, start) = (child.id().to_string(), stat().start);
        let own = this_process();
        let parts: Vec<&str> = own.split('/').collect();
        assert!(is_gone(&[parts[0], parts[1], &pid, &start, parts[4]].join("/"), None));
        child.wait().unwrap();
    }

    #[test]
    fn a_name_may_hold_anything() {
        let stat: Stat = format!("7 (a) Z (b)) S {} 99 0", vec!["0"; 18].join(" ")).parse().unwrap();
        assert_eq!((stat.pid, stat.is_dead, stat.start.as_str()), (7, false, "99"));
        assert!("".parse::<Stat>().is_err() && "7 (a) S 1".parse::<Stat>().is_err());
    }
}
