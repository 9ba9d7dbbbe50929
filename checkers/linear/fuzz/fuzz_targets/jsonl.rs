//! What the JSON Lines reader takes is the same after it was written and read again.
#![no_main]

use history::{ReadOptions, jsonl};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let options = ReadOptions { memory_max: None, threads: 1 };
    let Ok(history) = jsonl::read(input, &options) else { return };
    let mut text = Vec::new();
    jsonl::write(&mut text, history.events()).expect("a vector takes all");
    let again = jsonl::read(&text[..], &options).expect("what was written is read");
    assert!(history.events().eq(again.events()));
});
