//! Whether the kernel killed somebody here because the node's memory was used up: its process did not end by itself then.

use std::fs;

/// Where the two versions of control groups count that, as a container sees its own.
const COUNTS: [&str; 2] = ["/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"];

/// How many processes of this node were killed so far; none where that is not told.
pub fn kills() -> u64 {
    let told = COUNTS.iter().find_map(|path| fs::read_to_string(path).ok());
    told.as_deref().map_or(0, counted)
}

fn counted(text: &str) -> u64 {
    let count = text.lines().find_map(|line| line.strip_prefix("oom_kill "));
    count.and_then(|count| count.trim().parse().ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_versions_are_read() {
        assert_eq!(counted("oom_kill_disable 0\nunder_oom 0\noom_kill 3\n"), 3);
        assert_eq!(counted("low 0\nhigh 0\nmax 1\noom 2\noom_kill 4\noom_group_kill 5\n"), 4);
        assert_eq!(counted("oom_kill_disable 0\nunder_oom 0\n"), 0);
    }
}
