//! Feeds broken histories to every parser, for as long as you like.
//!
//! `fuzz_parsers [SECONDS] [SEED] [jsonl|edn|jepsen-log|lock-lines|resource|any]…`
//!
//! Inputs are the samples below after random changes: bytes, words of the formats, copies, cuts, deep nesting. A parser
//! must neither panic nor overflow its stack, must end within seconds, and must not use more memory than a small
//! multiple of its input. What JSON Lines and EDN readers take must be the same after it was written and read again.
//! The first failure is saved to `fuzz-failure.bin` and ends the run.

use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::catch_unwind;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::time::{Duration, Instant};

use history::{History, ReadError, ReadOptions, edn, jepsen_log, jsonl, lock_lines, read};

/// Bytes that a parser may use whatever its input, for buffers.
const MEMORY_BASE: usize = 4 << 20;
/// Bytes that a parser may use for each byte of its input.
const MEMORY_FACTOR: usize = 100;
/// Bytes of the longest input.
const LENGTH_MAX: usize = 1 << 20;
/// Enough even where many others share the machine.
const TIME_MAX: Duration = Duration::from_secs(5);

const SAMPLES: &[&str] = &[
    "{\"index\":0,\"time\":1,\"process\":3,\"node\":\"c3\",\"type\":\"invoke\",\"f\":\"acquire\",\"value\":{\"lock\":\"a\"}}\n\
     {\"index\":1,\"time\":2,\"process\":3,\"type\":\"info\",\"f\":\"acquire\",\"value\":[1,-2.5e3,\"\\u00e4\",null],\"error\":\"late\"}\n\
     {\"index\":2,\"time\":2,\"process\":\"nemesis\",\"type\":\"info\",\"f\":\"start-pause\",\"value\":{\"fault\":1}}\n",
    "{:process 0, :type :invoke, :f :append, :key \"0\", :value \"x 0 0 y\"}\n{:process 0, :type :ok, :f :append, :key \"0\"}\n",
    "; comment\n[#jepsen.history.Op{:index 0, :time 12, :type :invoke, :process 4, :f :cas, :value [1/2 ##NaN \\a #{:b} (c)]}\n \
     {:type :info :process :nemesis :f :stop :value #inst \"2020\" :error [:x {\"k\" 1N}] #_ 7 :node \"n1\"}]\n",
    "INFO  jepsen.util - 4\t:invoke\t:cas\t[1 2]\nINFO  jepsen.util - 4\t:info\t:cas\t:timed-out\n0 :ok :read nil\n",
    "12 invoke acquire \n12 ok acquire 7\n3 info release\n",
    "{\"seq\":42,\"time\":15,\"lock\":\"a\",\"op\":\"write\",\"process\":3,\"id\":\"3-4\",\"token\":7,\"unfenced_base\":\"0-3\",\
     \"unfenced\":true,\"fenced_base\":null,\"fenced\":true}\n",
];

const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "#{",
    "#_",
    "##NaN",
    "##Inf",
    "#a ",
    "#:n{",
    "\"",
    "\\",
    "\\u",
    "\\ud800",
    "\\newline",
    ":",
    ":type",
    ":value",
    ":process",
    ":f",
    ":time",
    ":key",
    ":error",
    ":invoke",
    ":ok",
    ":info",
    "nil",
    "null",
    "true",
    "-",
    "+",
    "0",
    "-0",
    "01",
    "0x",
    "1/0",
    "1/2",
    "1e999",
    "1.5M",
    "9223372036854775808",
    "-9223372036854775809",
    "18446744073709551616N",
    "4294967296",
    "1e",
    ".",
    ",",
    ";",
    "\n",
    "\r\n",
    "\t",
    " ",
    "\0",
    "\u{feff}",
    "é",
    "😀",
    "\"value\":",
    "\"time\":",
    "\"type\":\"ok\"",
    "\"process\":",
    "\"index\":7,",
    "invoke",
    "acquire",
];

#[global_allocator]
static MEMORY: Counting = Counting;
static USED: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

/// Counts what is allocated.
struct Counting;

// SAFETY: everything is handed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let used = USED.fetch_add(layout.size(), Relaxed) + layout.size();
        PEAK.fetch_max(used, Relaxed);
        // SAFETY: the caller keeps the contract of the system's allocator.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        USED.fetch_sub(layout.size(), Relaxed);
        // SAFETY: the caller keeps the contract of the system's allocator.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// Parses an input and says whether it took it; panics where a promise is broken.
type Target = fn(&[u8]) -> bool;

const TARGETS: &[(&str, Target)] = &[
    ("jsonl", |input| {
        round_trip(jsonl::read(input, &options()), |history, text| {
            jsonl::write(text, history.events()).unwrap();
            jsonl::read(&text[..], &options())
        })
    }),
    ("edn", |input| {
        round_trip(edn::read(input, &options()), |history, text| {
            edn::write(text, history).unwrap();
            edn::read(&text[..], &options())
        })
    }),
    ("jepsen-log", |input| judged(jepsen_log::read(input, &options()))),
    ("lock-lines", |input| judged(lock_lines::read(input, &options()))),
    ("resource", |input| jsonl::read_resource(input).is_ok()),
    ("any", |input| read(input, &options()).is_ok()),
];

fn options() -> ReadOptions {
    ReadOptions { memory_max: None, threads: 1 }
}

fn judged(history: Result<History, ReadError>) -> bool {
    history.is_ok_and(|mut history| {
        let _ = history.check_form();
        let _ = history.check_vocabulary();
        history.sort();
        history.operations().iter().for_each(|operation| assert!(operation.invoke.line() > 0));
        history.events().for_each(drop);
        true
    })
}

fn round_trip(
    history: Result<History, ReadError>,
    again: impl Fn(&History, &mut Vec<u8>) -> Result<History, ReadError>,
) -> bool {
    let Ok(history) = history else { return false };
    let second = again(&history, &mut Vec::new()).unwrap_or_else(|error| panic!("not read again: {error}"));
    assert!(history.events().eq(second.events()), "not the same when written and read again");
    judged(Ok(history))
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let number =
        |position: usize, default: u64| arguments.get(position).map_or(default, |text| text.parse().unwrap());
    let (seconds, seed) = (number(0, 60), number(1, 1));
    let wanted = arguments.get(2..).unwrap_or_default();
    let mut random = Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1);
    for (name, target) in TARGETS {
        if wanted.is_empty() || wanted.iter().any(|wanted| wanted == name) {
            fuzz(name, *target, Duration::from_secs(seconds), &mut random);
        }
    }
}

fn fuzz(name: &str, target: Target, time: Duration, random: &mut Random) {
    let (start, mut runs, mut taken, mut bytes) = (Instant::now(), 0u64, 0u64, 0u64);
    let (mut slowest, mut factor) = (Duration::ZERO, 0);
    while start.elapsed() < time {
        let input = random.input();
        let (begin, before) = (Instant::now(), USED.load(Relaxed));
        PEAK.store(before, Relaxed);
        let outcome = catch_unwind(|| target(&input));
        let (took, memory) = (begin.elapsed(), PEAK.load(Relaxed) - before);
        let allowed = MEMORY_BASE + MEMORY_FACTOR * input.len();
        if outcome.is_err() || took > TIME_MAX || memory > allowed {
            std::fs::write("fuzz-failure.bin", &input).expect("the failing input must be kept");
            let length = input.len();
            eprintln!("{name}: {length} bytes took {took:?} and {memory} bytes of memory: fuzz-failure.bin");
            std::process::exit(1);
        }
        runs += 1;
        taken += u64::from(outcome.is_ok_and(|taken| taken));
        bytes += input.len() as u64;
        slowest = slowest.max(took);
        factor = factor.max(memory.saturating_sub(MEMORY_BASE) / input.len().max(1));
    }
    println!(
        "{name}: {runs} inputs, {bytes} bytes, {taken} taken, slowest {slowest:?}, memory beyond buffers ×{factor}"
    );
}

/// Xorshift: anything that is the same on every machine will do.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }

    fn input(&mut self) -> Vec<u8> {
        let mut input = SAMPLES[self.below(SAMPLES.len())].as_bytes().to_vec();
        if self.below(4) == 0 {
            input.extend_from_slice(SAMPLES[self.below(SAMPLES.len())].as_bytes());
        }
        for _ in 0..=self.below(6) {
            self.change(&mut input);
        }
        input.truncate(LENGTH_MAX);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.below(input.len() + 1);
        let end = (at + self.below(24)).min(input.len());
        match self.below(9) {
            0 if at < input.len() => input[at] ^= 1 << self.below(8),
            1 if at < input.len() => input[at] = self.below(256) as u8,
            2 | 3 => drop(input.splice(at..at, WORDS[self.below(WORDS.len())].bytes())),
            4 => drop(input.splice(at..end, WORDS[self.below(WORDS.len())].bytes())),
            5 => drop(input.drain(at..end)),
            6 => {
                let copy = input[at..end].to_vec();
                let to = self.below(input.len() + 1);
                drop(input.splice(to..to, copy));
            }
            7 if self.below(64) == 0 => {
                let repeated = WORDS[self.below(WORDS.len())].repeat(1 + self.below(20_000));
                drop(input.splice(at..at, repeated.bytes()));
            }
            8 if self.below(64) == 0 => {
                // A few of these on end would outgrow any memory.
                let copies_max = 1 + LENGTH_MAX / input.len().max(1);
                let copies = input.repeat((1 + self.below(2000)).min(copies_max));
                *input = copies;
            }
            _ => input.truncate(at.max(1)),
        }
    }
}
