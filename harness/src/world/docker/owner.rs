//! Which process a run's things belong to, and whether it still lives.

use std::fs;

/// `host/boot/pid/start` of this process.
pub fn this_process() -> String {
    let pid = std::process::id();
    format!("{}/{}/{pid}/{}", hostname(), boot_id(), start_time(pid).unwrap_or_default())
}

/// Whether the owner named by a label certainly is gone. One on another machine may live: not ours to say.
pub fn is_gone(owner: &str) -> bool {
    let mut parts = owner.split('/');
    let (Some(host), Some(boot), Some(pid), Some(start)) =
        (parts.next(), parts.next(), parts.next(), parts.next())
    else {
        return false;
    };
    let Ok(pid) = pid.parse::<u32>() else { return false };
    host == hostname() && (boot != boot_id() || start_time(pid).as_deref() != Some(start))
}

/// Changes with each boot of the kernel; containers of one machine share it.
pub fn boot_id() -> String {
    fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default().trim().to_string()
}

fn hostname() -> String {
    fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default().trim().to_string()
}

/// Clock ticks from boot to the process' start: field 22 of /proc/pid/stat (proc(5)); tells a reused pid apart.
fn start_time(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(19).map(str::to_string)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_process_lives_and_a_reused_pid_does_not() {
        let owner = this_process();
        assert!(!is_gone(&owner), "{owner}");
        let mut parts: Vec<&str> = owner.split('/').collect();
        parts[3] = "1";
        assert!(is_gone(&parts.join("/")));
    }

    #[test]
    fn an_owner_elsewhere_is_not_ours_to_judge() {
        assert!(!is_gone("another-host/boot/1/1"));
        assert!(!is_gone("nonsense"));
    }
}
