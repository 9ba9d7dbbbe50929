//! Ctrl-C and SIGTERM.

use crate::{error::exit, run::Interrupts};

/// Outside of an asynchronous runtime: from now on the first of these signals says `told` and asks to stop; the second ends the process at once.
pub fn listen(told: &'static str) -> Interrupts {
    let interrupts = Interrupts::default();
    let heard = interrupts.clone();
    // Where no thread or runtime can be had the signals keep their usual meaning.
    let _ = std::thread::Builder::new().spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let take = || {
            if heard.request() > 1 {
                tell!("forced");
                std::process::exit(exit::INTERRUPTED.into());
            }
            tell!("{told}");
        };
        runtime.map(|runtime| runtime.block_on(hear(take)))
    });
    interrupts
}

/// Calls `heard` at each of these signals, without end.
pub async fn hear(mut heard: impl FnMut()) {
    use tokio::signal::unix::{SignalKind, signal};
    let (Ok(mut interrupt), Ok(mut terminate)) =
        (signal(SignalKind::interrupt()), signal(SignalKind::terminate()))
    else {
        return;
    };
    loop {
        tokio::select! {
            biased;
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        heard();
    }
}
