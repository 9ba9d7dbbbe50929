//! Random changes of texts.

/// Bytes of the longest input.
const LENGTH_MAX: usize = 1 << 20;

/// Words of the formats, numbers at their edges, and what terminals and parsers mind.
const WORDS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "[[",
    "]]",
    "\"",
    "'''",
    "\\",
    "\\u0000",
    "\\ud800",
    "#",
    "#_",
    "##NaN",
    ":",
    "=",
    ",",
    ".",
    "..",
    "\n",
    "\r\n",
    "\t",
    " ",
    "\0",
    "\u{feff}",
    "é",
    "😀",
    "\u{1b}[2J",
    "\u{9b}2J",
    "\u{202e}",
    "\u{200b}",
    "\u{fffe}",
    "null",
    "nil",
    "true",
    "-",
    "-1",
    "0",
    "01",
    "1e999",
    "NaN",
    "1.5",
    "4294967296",
    "9223372036854775808",
    "18446744073709551616",
    "0s",
    "1ms",
    "366h",
    "±3s",
    "-3s..3s",
    "5s..2s",
    "pause",
    "kill",
    "partition",
    "clock",
    "stutter",
    "groups",
    "halves",
    "minority",
    "holder",
    "s1",
    "c101",
    "redis/set-nx",
    "etcd/election",
    "zookeeper/lock",
    "redis/sentinel",
    "[faults.pause]\n",
    "[[schedule]]\n",
    "[system]\n",
    "[settings]\n",
    "[rates]\n",
    "[sim]\n",
    "think_ms = [1, 2, 3]\n",
    "clients = 100\n",
    "ttl = \"1h\"\n",
    "\"value\":",
    "\"time\":",
    "\"type\":\"ok\"",
    "\"process\":",
    "\"lock\":",
    "\"token\":",
    "\"ttl_ms\":",
    "\"deadline_ns\":",
    "\"nemesis\"",
    "acquire",
    "release",
    "renew",
    "campaign",
    "lapse",
    ":type",
    ":value",
    ":process",
    ":invoke",
    ":ok",
    "invoke",
    "ok",
    "fail",
    "info",
];

/// Xorshift: anything that is the same on every machine will do.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// From 0, below this.
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound.max(1)
    }

    pub fn one_of<'a, T>(&mut self, items: &'a [T]) -> &'a T {
        &items[self.below(items.len())]
    }

    /// The text after a few changes; none at all now and then.
    pub fn changed(&mut self, text: &[u8]) -> Vec<u8> {
        let mut input = text.to_vec();
        for _ in 0..self.below(7) {
            self.change(&mut input);
        }
        input.truncate(LENGTH_MAX);
        input
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.below(input.len() + 1);
        let end = (at + self.below(24)).min(input.len());
        match self.below(10) {
            0 if at < input.len() => input[at] ^= 1 << self.below(8),
            1 if at < input.len() => input[at] = self.below(256) as u8,
            2 | 3 => drop(input.splice(at..at, self.one_of(WORDS).bytes())),
            4 => drop(input.splice(at..end, self.one_of(WORDS).bytes())),
            5 => drop(input.drain(at..end)),
            6 => {
                let copy = input[at..end].to_vec();
                let to = self.below(input.len() + 1);
                drop(input.splice(to..to, copy));
            }
            7 => self.change_digits(input, at),
            8 if self.below(64) == 0 => {
                let repeated = self.one_of(WORDS).repeat(1 + self.below(20_000));
                drop(input.splice(at..at, repeated.bytes()));
            }
            9 => self.swap_lines(input),
            _ => {}
        }
    }

    /// The next number becomes another.
    fn change_digits(&mut self, input: &mut Vec<u8>, at: usize) {
        let Some(start) = input[at..].iter().position(u8::is_ascii_digit).map(|offset| at + offset) else {
            return;
        };
        let length = input[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = match self.below(3) {
            0 => u64::MAX >> self.below(64),
            1 => self.below(100) as u64,
            _ => 10_u64.pow(self.below(19) as u32),
        };
        drop(input.splice(start..start + length, number.to_string().bytes()));
    }

    fn swap_lines(&mut self, input: &mut Vec<u8>) {
        let mut lines: Vec<&[u8]> = input.split_inclusive(|byte| *byte == b'\n').collect();
        if !lines.is_empty() {
            let (one, other) = (self.below(lines.len()), self.below(lines.len()));
            lines.swap(one, other);
            *input = lines.concat();
        }
    }
}
