//! The keepalive of a held lock: beside the worker, as client libraries have it.

use std::{rc::Rc, time::Duration};

use futures_util::future::join;

use super::{
    ClientConfig,
    hold::{Belief, Hold},
    journal::Journal,
};
use crate::{
    env::Env,
    error::OpError,
    primitive::{Grant, Lost},
    recipes::{Instance, RecipeInfo},
};

/// Renews what a client holds while its worker works.
pub(super) struct Keepalive {
    env: Env,
    journal: Rc<Journal>,
    /// A client that looks at its clock gives up at a renewal that is refused or has no answer. As published, its worker
    /// is not told, and the keepalive tries again when the next one is due.
    aware: bool,
    ttl: Duration,
    /// After which share of the TTL, percent; `None` where nobody renews.
    share: Option<u64>,
}

impl Keepalive {
    /// Leases and leaderships are renewed as the rates say; locks only where their libraries do that.
    pub(super) fn new(
        env: &Env,
        config: &ClientConfig,
        info: &RecipeInfo,
        journal: &Rc<Journal>,
    ) -> Keepalive {
        let share = match config.workload.renews() {
            true => Some(config.rates.renew_at_percent),
            false => info.keepalive_percent,
        };
        Keepalive { env: env.clone(), journal: journal.clone(), aware: info.aware, ttl: config.ttl(), share }
    }

    /// Does the work and renews beside it. Both are parts of one task, and the work looks first. A renewal under way at
    /// the work's end is waited for, as a release sent after it on the same connection would; every call has its limit.
    pub(super) async fn beside<T>(
        &self,
        instance: &mut Instance,
        hold: &Hold,
        work: impl Future<Output = T>,
    ) -> T {
        let Some(share) = self.share else { return work.await };
        let worked = Lost::default();
        let work = async {
            let outcome = work.await;
            worked.raise();
            outcome
        };
        join(work, self.keep(instance, hold, share, &worked)).await.0
    }

    async fn keep(&self, instance: &mut Instance, hold: &Hold, share: u64, worked: &Lost) {
        let mut due = self.after(&hold.grant(), share);
        loop {
            tokio::select! {
                biased;
                () = worked.raised() => return,
                () = hold.ended() => return,
                () = self.env.sleep(Duration::from_nanos(due.saturating_sub(self.env.now()))) => {}
            }
            if self.journal.look(hold) == Belief::Lapsed {
                return;
            }
            let outcome = instance.renew(&hold.lock).await;
            if self.journal.look(hold) == Belief::Lapsed {
                return;
            }
            due = match outcome {
                Ok(grant) => {
                    let due = self.after(&grant, share);
                    self.journal.renewed(hold, grant);
                    due
                }
                Err(failure) if self.aware => {
                    let refused = matches!(failure, OpError::Definite(_));
                    self.journal.lapse(hold, if refused { "refused" } else { "unclear" });
                    return;
                }
                Err(_) => self.env.now() + (self.ttl * share as u32 / 100).as_nanos() as u64,
            };
        }
    }

    /// When the next renewal is due after this grant, on the run's clock.
    fn after(&self, grant: &Grant, share: u64) -> u64 {
        let asked = grant.asked.unwrap_or_else(|| self.env.now());
        asked + (grant.ttl.unwrap_or(self.ttl) * share as u32 / 100).as_nanos() as u64
    }
}
