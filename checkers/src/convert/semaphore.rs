use super::{Meaning, Reading, Unfit, convert, process};
use crate::{
    history::{History, Row},
    model::OpOf,
    models::semaphore::{Semaphore, SemaphoreAction, SemaphoreInput, SemaphoreOutput},
};

/// A semaphore whose permits belong to processes, for [`Semaphore`](crate::models::Semaphore).
///
/// # Errors
/// The first operation that is none of a semaphore's, or a number of permits that is none.
pub fn semaphore(history: &History, reading: &Reading) -> Result<Vec<OpOf<Semaphore>>, Unfit> {
    convert(history, |operation| {
        let action = match operation.invoke.f() {
            "acquire" => SemaphoreAction::Acquire(permits(operation.invoke)?),
            "release" => SemaphoreAction::Release(permits(operation.invoke)?),
            _ => return Err(Unfit::unknown(operation.invoke, "semaphore", "acquire, release")),
        };
        let input = SemaphoreInput { owner: process(operation), action };
        let refused = reading.fail.answer(SemaphoreOutput::Refused);
        Meaning::of(operation, input, refused, |_| Ok(SemaphoreOutput::Done))
    })
}

fn permits(invoke: Row<'_>) -> Result<u64, Unfit> {
    let value = invoke.value();
    if value.is_null() {
        return Ok(1);
    }
    value.as_u64().ok_or_else(|| Unfit::new(invoke, format!("expected a number of permits, found {value}")))
}
