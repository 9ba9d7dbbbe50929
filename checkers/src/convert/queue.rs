use super::{Datum, Meaning, Reading, Unfit, convert};
use crate::{
    history::History,
    model::OpOf,
    models::queue::{FifoQueue, QueueInput, QueueOutput},
};

/// A queue, for [`FifoQueue`](crate::models::FifoQueue).
///
/// # Errors
/// The first operation that is none of a queue's.
pub fn queue(history: &History, reading: &Reading) -> Result<Vec<OpOf<FifoQueue<Datum>>>, Unfit> {
    convert(history, |operation| match operation.invoke.f() {
        "enqueue" => {
            let input = QueueInput::Enqueue(operation.invoke.value().into());
            Meaning::of(operation, input, None, |_| Ok(QueueOutput::Done))
        }
        "dequeue" => {
            let failed = reading.fail.answer(QueueOutput::Empty);
            Meaning::of(operation, QueueInput::Dequeue, failed, |completion| {
                Ok(match Datum::from(completion.value()) {
                    Datum::Nil => QueueOutput::Empty,
                    element => QueueOutput::Value(element),
                })
            })
        }
        _ => Err(Unfit::unknown(operation.invoke, "queue", "enqueue, dequeue")),
    })
}
