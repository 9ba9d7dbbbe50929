//! A node's log, of which no more is kept than one can read.

use std::{borrow::Cow, collections::VecDeque};

/// So many bytes are kept of its beginning, and so many of its end.
const KEPT: usize = 2 << 20;

/// So many characters of a line are shown in a message.
const SHOWN: usize = 300;

/// Its beginning and its end.
#[derive(Default)]
pub struct Log {
    head: Vec<u8>,
    tail: VecDeque<u8>,
    /// Bytes in between that are gone.
    clipped: u64,
}

impl Log {
    /// Adds a line, given without its end.
    pub fn push(&mut self, line: &[u8]) {
        let line = line.iter().copied().chain([b'\n']);
        if self.tail.is_empty() && self.head.len() < KEPT {
            return self.head.extend(line);
        }
        self.tail.extend(line);
        let over = self.tail.len().saturating_sub(KEPT);
        if over > 0 {
            // Whole lines, so that what is left begins with one.
            let end = self.tail.iter().skip(over - 1).position(|byte| *byte == b'\n');
            let over = end.map_or(over, |end| over + end);
            self.tail.drain(..over);
            self.clipped += over as u64;
        }
    }

    /// What was kept, with a line that tells what was not.
    pub fn text(&self) -> Vec<u8> {
        let mut text = self.head.clone();
        if self.clipped > 0 {
            text.extend(format!("[{} bytes of the log are left out here]\n", self.clipped).into_bytes());
        }
        text.extend(&self.tail);
        text
    }

    /// Its last lines, in so far as they are kept and fit into a message.
    pub fn last_lines(&self, count: usize) -> Vec<String> {
        let end: Cow<'_, [u8]> = match self.tail.is_empty() {
            true => Cow::from(&self.head),
            false => Cow::from(self.text()),
        };
        let end = String::from_utf8_lossy(&end);
        let lines: Vec<&str> = end.lines().collect();
        let last = lines[lines.len().saturating_sub(count)..].iter();
        last.map(|line| line.chars().take(SHOWN).collect()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_log_is_kept_whole() {
        let mut log = Log::default();
        ["one", "", "three"].iter().for_each(|line| log.push(line.as_bytes()));
        assert_eq!(log.text(), b"one\n\nthree\n");
        assert_eq!(log.last_lines(2), ["", "three"]);
    }

    #[test]
    fn of_a_long_log_beginning_and_end_are_kept() {
        let mut log = Log::default();
        let line = |number: u32| format!("line {number:09} {}", "x".repeat(80));
        let count = 200_000;
        (0..count).for_each(|number| log.push(line(number).as_bytes()));
        let text = String::from_utf8(log.text()).unwrap();
        assert!(text.len() <= 2 * KEPT + 200, "{}", text.len());
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!((lines[0], *lines.last().unwrap()), (&*line(0), &*line(count - 1)));
        let notes: Vec<&&str> = lines.iter().filter(|line| !line.starts_with("line ")).collect();
        let left_out: u64 = notes[0].split(['[', ' ']).nth(1).unwrap().parse().unwrap();
        let all = u64::from(count) * (line(0).len() as u64 + 1);
        assert_eq!((notes.len(), left_out), (1, all - (text.len() - notes[0].len() - 1) as u64));
        assert!(lines.iter().all(|found| found.len() == line(0).len() || found == notes[0]), "whole lines");
        assert_eq!(log.last_lines(1), [line(count - 1)]);
    }

    #[test]
    fn one_endless_line_does_no_harm() {
        let mut log = Log::default();
        for _ in 0..3 {
            log.push(&vec![b'x'; 2 * KEPT]);
        }
        assert!(log.text().len() <= 4 * KEPT, "{}", log.text().len());
        log.push(b"end");
        assert_eq!(log.last_lines(1), ["end"]);
        let mut short = Log::default();
        short.push(&[b'x'; 1 << 16]);
        assert_eq!(short.last_lines(1), ["x".repeat(SHOWN)]);
    }
}
