//! What stands on a server's node, and how its programs are started.

use std::net::Ipv4Addr;

use crate::{agent::protocol::Program, catalog::LayoutEntry};

/// One server of a run, before it exists.
#[derive(Clone, Debug)]
pub struct Member {
    /// `s1`, `s2`, …
    pub node: String,
    /// Its fixed address.
    pub address: Ipv4Addr,
}

/// What to put on a server's node and what to start there.
#[derive(Clone, Debug)]
pub struct ServerPlan {
    /// Path and content.
    pub files: Vec<(String, String)>,
    /// The node's programs, the server first. Of each, ways to start it; the first that fits the image is taken.
    pub programs: Vec<Vec<Program>>,
}

/// Where servers keep their data: memory of the container, so that nothing is left and disks do not slow a run.
pub const DATA: &str = "/fencepost-data";

/// A program for each layout: its binary and, for Java, its classpath, flags and main class before `args`.
pub(super) fn programs(layouts: &[LayoutEntry], args: &[String]) -> Vec<Program> {
    let program = |layout: &LayoutEntry| {
        let java = layout.flags.iter().chain((!layout.main.is_empty()).then_some(&layout.main));
        Program {
            when: layout.when.clone(),
            candidates: layout.program.clone(),
            classpath: (!layout.classpath.is_empty()).then(|| layout.classpath.clone()),
            args: java.chain(args).cloned().collect(),
            cwd: Some(DATA.into()),
            ..Program::default()
        }
    };
    layouts.iter().map(program).collect()
}
