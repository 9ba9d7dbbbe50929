//! Redlock: the lock of one server, held on a majority of independent ones.
//!
//! Source: redis.io, "Distributed Locks with Redis". All servers are asked at the same time.

use std::{collections::BTreeMap, time::Duration};

use async_trait::async_trait;
use futures_util::future::join_all;

use super::{link::Link, scripts};
use crate::{
    api::redis::Script,
    error::{OpError, OpResult},
    primitive::{Grant, Lock},
    recipes::Context,
};

/// Drift allowed for beside the share of the TTL: Redis' expiry has a resolution of 1 ms, and 1 ms for the client's.
const DRIFT_MIN: Duration = Duration::from_millis(2);

/// The lock on all servers.
pub(super) struct Redlock {
    context: Context,
    links: Vec<Link>,
    /// By name: our value.
    held: BTreeMap<String, String>,
}

/// What a request to every server came to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Votes {
    yes: usize,
    no: usize,
    unknown: usize,
}

impl Votes {
    fn count(answers: &[OpResult<bool>]) -> Votes {
        let count =
            |wanted: fn(&OpResult<bool>) -> bool| answers.iter().filter(|answer| wanted(answer)).count();
        Votes {
            yes: count(|answer| matches!(answer, Ok(true))),
            no: count(|answer| matches!(answer, Ok(false) | Err(OpError::Definite(_)))),
            unknown: count(|answer| matches!(answer, Err(OpError::Indeterminate(_)))),
        }
    }

    fn quorum(self) -> usize {
        (self.yes + self.no + self.unknown) / 2 + 1
    }
}

impl Redlock {
    pub(super) fn new(context: Context) -> Redlock {
        let limit = match context.millis("node_limit_ms") {
            Duration::ZERO => (context.ttl / 20).max(Duration::from_millis(20)),
            given => given,
        };
        let links = context.endpoints.iter().map(|to| Link::new(&context, to, limit)).collect();
        Redlock { context, links, held: BTreeMap::new() }
    }

    /// The TTL less what the clocks may drift apart in it.
    fn validity(&self) -> Duration {
        let drift = self.context.ttl * self.context.number("drift_percent") as u32 / 100 + DRIFT_MIN;
        self.context.ttl.saturating_sub(drift)
    }

    /// Whether what was asked at `asked` is still valid.
    fn valid(&self, asked: u64) -> bool {
        self.context.env.now() < asked + self.validity().as_nanos() as u64
    }

    /// Asks every server to set the lock. A connection that broke in an earlier round is explicitly opened anew.
    async fn set(&mut self, name: &str, value: &str) -> Votes {
        let (key, ttl) = (lock_key(name), self.context.ttl);
        let asked =
            self.links.iter_mut().map(async |link| link.get_anew().await?.set_nx_px(&key, value, ttl).await);
        Votes::count(&join_all(asked).await)
    }

    /// Runs a script on every server.
    async fn eval(&mut self, script: &'static Script, name: &str, args: &[&str]) -> Votes {
        let key = lock_key(name);
        let asked = self.links.iter_mut().map(async |link| {
            let answer = link.get_anew().await?.eval(script, &[&key], args).await?;
            Ok(answer.integer() == Some(1))
        });
        Votes::count(&join_all(asked).await)
    }

    /// One round: `Ok(None)` when it certainly failed and a majority was not, and will not be, ours.
    async fn attempt(&mut self, name: &str, value: &str) -> OpResult<Option<u64>> {
        let asked = self.context.env.now();
        let votes = self.set(name, value).await;
        if votes.yes >= votes.quorum() && self.valid(asked) {
            return Ok(Some(asked));
        }
        let released = self.eval(&scripts::RELEASE, name, &[value]).await;
        // A request without answer may be served after its release; a release without answer may not be served.
        let left = votes.unknown + votes.yes.saturating_sub(released.yes);
        match left >= votes.quorum() {
            true => Err(OpError::Indeterminate(format!("{left} servers may have granted it"))),
            false => Ok(None),
        }
    }

    fn grant(&self, asked: u64) -> Grant {
        self.context.grant(asked, self.validity())
    }

    fn held(&self, name: &str) -> OpResult<String> {
        self.held.get(name).cloned().ok_or_else(|| OpError::Definite("not held".into()))
    }
}

#[async_trait(?Send)]
impl Lock for Redlock {
    async fn acquire(&mut self, name: &str, wait: Duration) -> OpResult<Grant> {
        let env = self.context.env.clone();
        let until = env.now() + wait.as_nanos() as u64;
        let retry = self.context.millis("retry_ms");
        loop {
            // A value of its own for each round: a late request of an earlier one must not count for this one.
            let value = self.context.unique();
            if let Some(asked) = self.attempt(name, &value).await? {
                self.held.insert(name.to_string(), value);
                return Ok(self.grant(asked));
            }
            let pause = env.random_between(retry / 2, retry * 3 / 2);
            if env.now() + pause.as_nanos() as u64 > until {
                return Err(OpError::Definite("no majority".into()));
            }
            env.sleep(pause).await;
        }
    }

    async fn renew(&mut self, name: &str) -> OpResult<Grant> {
        let value = self.held(name)?;
        let asked = self.context.env.now();
        let ttl_ms = self.context.ttl.as_millis().to_string();
        let votes = self.eval(&scripts::RENEW, name, &[&value, &ttl_ms]).await;
        decide(votes)?;
        match self.valid(asked) {
            true => Ok(self.grant(asked)),
            false => Err(OpError::Indeterminate("extended, but too late to rely on".into())),
        }
    }

    async fn release(&mut self, name: &str) -> OpResult<()> {
        let value = self.held(name)?;
        self.held.remove(name);
        released(self.eval(&scripts::RELEASE, name, &[&value]).await)
    }

    /// Each round opens anew what broke.
    fn usable(&self) -> bool {
        true
    }
}

/// Whether the lock is free. A minority that deleted it has undone a part: only what none of them did is certainly not done.
fn released(votes: Votes) -> OpResult<()> {
    if votes.yes >= votes.quorum() {
        Ok(())
    } else if votes.yes + votes.unknown == 0 {
        Err(OpError::Definite("no longer ours on any server".into()))
    } else {
        let Votes { yes, no, unknown } = votes;
        Err(OpError::Indeterminate(format!(
            "released on {yes} servers, not on {no}, and {unknown} did not answer"
        )))
    }
}

/// Whether a majority extended it.
fn decide(votes: Votes) -> OpResult<()> {
    if votes.yes >= votes.quorum() {
        Ok(())
    } else if votes.yes + votes.unknown < votes.quorum() {
        Err(OpError::Definite(format!("no longer ours on {} servers", votes.no)))
    } else {
        Err(OpError::Indeterminate(format!("{} servers did not answer", votes.unknown)))
    }
}

fn lock_key(name: &str) -> String {
    format!("lock:{name}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_majority_decides() {
        let votes = |yes, no, unknown| Votes { yes, no, unknown };
        assert_eq!(decide(votes(3, 2, 0)), Ok(()));
        assert_eq!(decide(votes(3, 0, 2)), Ok(()));
        assert!(matches!(decide(votes(2, 3, 0)), Err(OpError::Definite(_))));
        assert!(matches!(decide(votes(2, 0, 3)), Err(OpError::Indeterminate(_))));
        assert!(matches!(decide(votes(1, 3, 1)), Err(OpError::Definite(_))));
        assert_eq!(votes(4, 0, 0).quorum(), 3);
    }

    #[test]
    fn a_release_failed_only_if_no_server_deleted_anything() {
        let votes = |yes, no, unknown| released(Votes { yes, no, unknown });
        assert_eq!(votes(3, 2, 0), Ok(()));
        assert_eq!(votes(3, 0, 2), Ok(()));
        assert!(matches!(votes(0, 5, 0), Err(OpError::Definite(_))));
        assert!(matches!(votes(2, 3, 0), Err(OpError::Indeterminate(_))), "two servers deleted it");
        assert!(matches!(votes(1, 4, 0), Err(OpError::Indeterminate(_))));
        assert!(matches!(votes(0, 4, 1), Err(OpError::Indeterminate(_))), "one may have");
        assert!(matches!(votes(2, 0, 3), Err(OpError::Indeterminate(_))));
    }
}
