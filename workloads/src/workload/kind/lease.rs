//! Acquire, hold over several TTLs with renewals, writing regularly, release.

use history::Action;

use super::Info;
use crate::{error::OpResult, recipes::Primitive, workload::steps::Steps};

pub(super) const INFO: Info = Info {
    name: "lease",
    drives: &[Primitive::Lock, Primitive::Lease],
    usual_for: Some(Primitive::Lease),
    renews: true,
};

pub(super) async fn round(client: &mut impl Steps) -> OpResult<()> {
    let lock = client.pick();
    let Some(hold) = client.acquire(Action::Acquire, &lock).await? else { return Ok(()) };
    let work = client.long_work();
    client.use_up(hold, work, Action::Release).await
}
