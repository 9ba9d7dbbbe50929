use history::{History, names::SEMAPHORE};

use super::{Asked, Datum, Meaning, Reading, Unfit, convert, keys::Keys, names::Names, process};

use crate::{
    model::OpOf,
    models::{
        Keyed,
        semaphore::{Semaphore, SemaphoreAction, SemaphoreInput, SemaphoreOutput},
    },
};

/// A semaphore under each key.
pub type Semaphores = Keyed<Datum, Semaphore>;

/// Semaphores whose permits belong to processes, for [`Semaphore`](crate::models::Semaphore).
///
/// # Errors
/// The first operation that is none of a semaphore's, or a number of permits that is none.
pub fn semaphore(history: &History, reading: &Reading) -> Result<Vec<OpOf<Semaphores>>, Unfit> {
    let names = Names::of(history, &SEMAPHORE)?;
    let keys = Keys::of(history, &names, &[]);
    convert(history, &names, keys, |asked| {
        let permits = permits(asked)?;
        let action = match asked.f {
            "acquire" => SemaphoreAction::Acquire(permits),
            _ => SemaphoreAction::Release(permits),
        };
        let input = SemaphoreInput { owner: process(&asked.operation), action };
        let refused = reading.fail.answer(SemaphoreOutput::Refused);
        if asked.is_refused()? {
            return Ok(Meaning::refused(input, refused));
        }
        Meaning::of(&asked.operation, input, refused, |_| Ok(SemaphoreOutput::Done))
    })
}

fn permits(asked: &Asked<'_>) -> Result<u64, Unfit> {
    if asked.value.is_null() {
        return Ok(1);
    }
    let message = || format!("expected a number of permits, found {}", asked.value);
    asked.value.as_u64().ok_or_else(|| Unfit::new(asked.operation.invoke, message()))
}
