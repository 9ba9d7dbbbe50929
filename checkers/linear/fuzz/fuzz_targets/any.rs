//! Every format, by content; and the operations that models make of it.
#![no_main]

use linear::convert::{Reading, counter, locks, queue, registers, semaphore, set, texts, transactions, values};
use history::{ReadOptions, jsonl, read};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    let _ = jsonl::read_resource(input);
    let Ok((_, history)) = read(input, &ReadOptions { memory_max: None, threads: 1 }) else { return };
    let _ = history.check_vocabulary();
    let reading = Reading::default();
    let _ = locks(&history, &reading);
    let _ = registers(&history, &reading);
    let _ = (counter(&history), set(&history), texts(&history), values(&history), transactions(&history));
    let _ = (queue(&history, &reading), semaphore(&history, &reading));
});
