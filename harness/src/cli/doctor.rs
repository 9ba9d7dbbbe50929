//! `fencepost doctor`

use std::path::Path;

use history::exit::ExitCode;

use super::{output, runtime};
use crate::{
    catalog::CATALOG,
    engine::Engine,
    error::Result,
    images::build::{self, State},
    world::docker::clean,
};

/// One thing that was looked at.
struct Finding {
    good: bool,
    what: String,
    advice: String,
}

/// Looks at everything that runs need; 0 when all is well, 69 when they cannot work.
pub fn main() -> Result<ExitCode> {
    let findings = runtime::block_on(async { Ok(look().await) })?;
    for finding in &findings {
        output::say(&format!("{}  {}", if finding.good { "ok     " } else { "PROBLEM" }, finding.what));
        if !finding.good {
            output::say(&format!("         {}", finding.advice));
        }
    }
    let sound = findings.iter().all(|finding| finding.good);
    Ok(if sound { ExitCode::Ok } else { ExitCode::Unavailable })
}

async fn look() -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut say =
        |good: bool, what: String, advice: &str| findings.push(Finding { good, what, advice: advice.into() });
    match Engine::connect().await {
        Err(error) => {
            let text = error.to_string();
            let (what, advice) = text.split_once('\n').unwrap_or((&text, "only --on sim works without"));
            say(false, what.to_string(), advice.trim());
        }
        Ok(engine) => {
            let facts = &engine.facts;
            say(
                true,
                format!(
                    "Docker engine {} at {} (API {}, {})",
                    facts.engine, engine.meant, facts.api, facts.storage
                ),
                "",
            );
            say(
                matches!(facts.architecture.as_str(), "x86_64" | "amd64"),
                format!("kernel {} on {}", facts.kernel, facts.architecture),
                "clock faults are known to work on x86_64 only; the others work everywhere",
            );
            let looked = async {
                leftovers(&engine, &mut say).await;
                images(&engine, &mut say).await;
            };
            if let Err(error) = engine.attended(looked).await {
                say(false, error.to_string(), "look at the engine's own log");
            }
        }
    }
    let filter = Path::new("/proc/net/netfilter").exists() || Path::new("/sys/module/nf_tables").exists();
    say(filter, "netfilter in the kernel, for partitions".into(), "load nf_tables: modprobe nf_tables");
    let queues = Path::new("/proc/net/netfilter/nfnetlink_queue").exists();
    say(
        queues,
        "packet queues in the kernel, for delays".into(),
        "load nfnetlink_queue: modprobe nfnetlink_queue",
    );
    if let Some(free) = free_gib(Path::new(".")) {
        say(
            free >= 2.0,
            format!("{free:.1} GiB free here"),
            "runs need little, images some 200 MB each: free some space",
        );
    }
    findings
}

async fn leftovers(engine: &Engine, say: &mut impl FnMut(bool, String, &str)) {
    match clean::find_abandoned(engine).await {
        Ok(found) => {
            let count = found.containers.len() + found.networks.len();
            say(count == 0, format!("{count} thing(s) left by dead runs"), "fencepost clean");
        }
        Err(error) => say(false, error.to_string(), "look at the engine's own log"),
    }
}

async fn images(engine: &Engine, say: &mut impl FnMut(bool, String, &str)) {
    for image in CATALOG.images.iter().filter(|image| image.default) {
        let here = matches!(build::state(engine, image).await, Ok(State::Current));
        let what = if here {
            format!("image {}", image.tag)
        } else {
            format!("image {} is built by the first run that needs it", image.tag)
        };
        say(true, what, "");
    }
}

fn free_gib(path: &Path) -> Option<f64> {
    let stat = nix::sys::statvfs::statvfs(path).ok()?;
    Some(stat.blocks_available() as f64 * stat.fragment_size() as f64 / f64::from(1 << 30))
}
