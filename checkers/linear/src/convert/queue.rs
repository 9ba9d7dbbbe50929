use history::{History, names::QUEUE};

use super::{Datum, Meaning, Reading, Unfit, convert, keys::Keys, names::Names};

use crate::{
    model::OpOf,
    models::{
        Keyed,
        queue::{FifoQueue, QueueInput, QueueOutput},
    },
};

/// A queue under each key.
pub type Queues = Keyed<Datum, FifoQueue<Datum>>;

/// Queues, for [`FifoQueue`](crate::models::FifoQueue).
///
/// # Errors
/// The first operation that is none of a queue's.
pub fn queue(history: &History, reading: &Reading) -> Result<Vec<OpOf<Queues>>, Unfit> {
    let names = Names::of(history, &QUEUE)?;
    let keys = Keys::of(history, &names, &["dequeue"]);
    convert(history, &names, keys, |asked| {
        if asked.f == "enqueue" {
            let input = QueueInput::Enqueue(asked.value.into());
            if asked.value.as_bool().is_none() && asked.is_refused()? {
                return Ok(Meaning::Nothing);
            }
            return Meaning::of(&asked.operation, input, None, |_| Ok(QueueOutput::Done));
        }
        let failed = reading.fail.answer(QueueOutput::Empty);
        Meaning::of(&asked.operation, QueueInput::Dequeue, failed, |completion| {
            Ok(match Datum::from(asked.answer(completion)?) {
                Datum::Nil => QueueOutput::Empty,
                element => QueueOutput::Value(element),
            })
        })
    })
}
