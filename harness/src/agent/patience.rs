//! A limit that a machine which stands still does not use up.

use std::{
    sync::mpsc::{Receiver, RecvTimeoutError},
    time::Duration,
};

/// A limit is waited for in slices like this.
const SLICE: Duration = Duration::from_millis(50);

/// What comes within the limit. It is waited for in short slices, each of which counts as one however long it took: who
/// stood still meanwhile, whoever was to answer with him, has lost one slice.
pub fn receive<T>(receiver: &Receiver<T>, limit: Duration) -> Result<T, RecvTimeoutError> {
    for _ in 0..limit.as_millis().div_ceil(SLICE.as_millis()) {
        match receiver.recv_timeout(SLICE) {
            Err(RecvTimeoutError::Timeout) => {}
            ended => return ended,
        }
    }
    Err(RecvTimeoutError::Timeout)
}

#[cfg(test)]
mod tests {
    use std::{sync::mpsc::channel, thread, time::Instant};

    use super::*;

    #[test]
    fn what_comes_in_time_is_taken_and_the_limit_passes() {
        let (sender, receiver) = channel();
        let begun = Instant::now();
        assert_eq!(receive::<u8>(&receiver, Duration::from_millis(200)), Err(RecvTimeoutError::Timeout));
        assert!(begun.elapsed() >= Duration::from_millis(200), "after {:?}", begun.elapsed());
        let late = sender.clone();
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(120));
            late.send(7).unwrap();
        });
        assert_eq!(receive(&receiver, Duration::from_secs(20)), Ok(7));
        drop(sender);
        assert_eq!(receive(&receiver, Duration::from_secs(20)), Err(RecvTimeoutError::Disconnected));
    }
}
