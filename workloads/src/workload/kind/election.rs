//! Look who leads; or campaign, work while leading, resign.

use history::Action;

use super::Info;
use crate::{error::OpResult, recipes::Primitive, workload::steps::Steps};

/// In one round of this many, a client only looks who leads.
const OBSERVE_ONE_IN: u64 = 4;

pub(super) const INFO: Info = Info {
    name: "election",
    drives: &[Primitive::Election],
    usual_for: Some(Primitive::Election),
    renews: true,
};

pub(super) async fn round(client: &mut impl Steps) -> OpResult<()> {
    let name = client.pick();
    if client.draw().is_multiple_of(OBSERVE_ONE_IN) {
        return client.observe(&name).await;
    }
    let Some(hold) = client.acquire(Action::Campaign, &name).await? else { return Ok(()) };
    let work = client.long_work();
    client.use_up(hold, work, Action::Resign).await
}
