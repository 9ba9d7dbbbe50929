//! Ctrl-C and SIGTERM for commands that run outside of an asynchronous runtime.

use crate::{error::exit, run::Interrupts};

/// From now on the first of these signals says `told` and asks to stop; the second ends the process at once.
pub fn listen(told: &'static str) -> Interrupts {
    let interrupts = Interrupts::default();
    let heard = interrupts.clone();
    // Where no thread or runtime can be had the signals keep their usual meaning.
    let _ = std::thread::Builder::new().spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        runtime.map(|runtime| runtime.block_on(hear(&heard, told)))
    });
    interrupts
}

async fn hear(interrupts: &Interrupts, told: &str) {
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
        if interrupts.request() > 1 {
            tell!("forced");
            std::process::exit(exit::INTERRUPTED.into());
        }
        tell!("{told}");
    }
}
