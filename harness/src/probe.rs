//! Asks one server, from its own node, whether it really serves, who it is and what it runs.

use std::{
    net::SocketAddr,
    time::{Duration, Instant},
};

use crate::{
    error::{Error, Result},
    systems::System,
};

/// Pause between two tries.
const AGAIN: Duration = Duration::from_millis(20);

/// Tries until the system's server has been used successfully or `wait` is over, and prints what it said as JSON. Where
/// there is time to wait, it also waits for the rest of the service.
pub fn main(system: &str, address: SocketAddr, wait: Duration) -> Result<()> {
    let system = System::named(system).ok_or_else(|| Error::Usage(format!("no probe for `{system}`")))?;
    let until = Instant::now() + wait;
    loop {
        match (system.probe)(address) {
            Ok(probe) if probe.complete || wait.is_zero() => {
                println!("{}", serde_json::to_string(&probe).unwrap_or_default());
                return Ok(());
            }
            Ok(_) if Instant::now() >= until => {
                return Err(Error::Unavailable("the other servers are missing".into()));
            }
            Err(why) if Instant::now() >= until => return Err(Error::Unavailable(why.to_string())),
            Ok(_) | Err(_) => std::thread::sleep(AGAIN),
        }
    }
}
