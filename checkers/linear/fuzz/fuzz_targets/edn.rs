//! What the EDN reader takes is the same after it was written and read again.
#![no_main]

use history::{ReadOptions, edn};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let options = ReadOptions { memory_max: None, threads: 1 };
    let Ok(history) = edn::read(input, &options) else { return };
    let mut text = Vec::new();
    edn::write(&mut text, &history).expect("a vector takes all");
    let again = edn::read(&text[..], &options).expect("what was written is read");
    assert!(history.events().eq(again.events()));
});
