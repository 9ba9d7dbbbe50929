use crate::Malformed;

/// Why no form could be read.
#[derive(Debug)]
pub(super) enum Stop {
    /// The text ends too early; more of it may help.
    Short,
    /// No further text can help.
    Bad(Malformed),
}

/// A position in EDN text, with its line and column. A copy marks the place, to point at it later.
#[derive(Clone, Copy)]
pub(super) struct Scanner<'a> {
    text: &'a [u8],
    pub(super) at: usize,
    pub(super) line: u64,
    /// Where the line began; before the text if part of the line is no longer there.
    line_start: isize,
    /// Whether the text ends where its source ends.
    last: bool,
}

const NOT_UTF8: &str = "this is not UTF-8";

/// Bytes that end a token, such as a number or a keyword.
const DELIMITER: [bool; 256] = {
    let mut table = [false; 256];
    let bytes = b" \t\r\n\x0b\x0c,;\"()[]{}\\";
    let mut i = 0;
    while i < bytes.len() {
        table[bytes[i] as usize] = true;
        i += 1;
    }
    table
};

impl<'a> Scanner<'a> {
    /// `column` is that of the text's first byte, from 1.
    pub(super) fn new(text: &'a [u8], line: u64, column: u64, last: bool) -> Self {
        Self { text, at: 0, line, line_start: 1 - column as isize, last }
    }

    /// From 1, in bytes.
    pub(super) fn column(&self) -> u64 {
        (self.at as isize - self.line_start) as u64 + 1
    }

    pub(super) fn bad<T>(&self, message: impl Into<String>) -> Result<T, Stop> {
        Err(Stop::Bad(Malformed { line: self.line, column: self.column(), message: message.into() }))
    }

    /// The next byte; at the end of the source `None`.
    pub(super) fn peek(&self) -> Result<Option<u8>, Stop> {
        match self.text.get(self.at) {
            Some(&byte) => Ok(Some(byte)),
            None if self.last => Ok(None),
            None => Err(Stop::Short),
        }
    }

    /// The next byte, which must be there.
    pub(super) fn need(&self, open: &str) -> Result<u8, Stop> {
        match self.peek()? {
            Some(byte) => Ok(byte),
            None => self.bad(format!("the text ends within {open}")),
        }
    }

    /// Goes past spaces, commas and comments.
    pub(super) fn skip_space(&mut self) {
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'\n' => {
                    self.at += 1;
                    self.new_line();
                }
                b' ' | b',' | b'\t' | b'\r' | 0x0b | 0x0c => self.at += 1,
                b';' => {
                    let rest = &self.text[self.at..];
                    self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                }
                _ => return,
            }
        }
    }

    /// The bytes up to the next delimiter; may be empty.
    pub(super) fn token(&mut self) -> Result<&'a [u8], Stop> {
        let rest = &self.text[self.at..];
        let length = rest.iter().position(|&byte| DELIMITER[usize::from(byte)]);
        if length.is_none() && !self.last {
            return Err(Stop::Short);
        }
        let token = &rest[..length.unwrap_or(rest.len())];
        self.at += token.len();
        Ok(token)
    }

    /// The text up to, not including, the first of these two; the scanner stands on it.
    pub(super) fn until(&mut self, a: u8, b: u8, open: &str) -> Result<&'a str, Stop> {
        let rest = &self.text[self.at..];
        let Some(length) = memchr::memchr2(a, b, rest) else {
            return if self.last {
                self.bad(format!("the text ends within {open}"))
            } else {
                Err(Stop::Short)
            };
        };
        let bytes = &rest[..length];
        match std::str::from_utf8(bytes) {
            Ok(text) => {
                self.pass(bytes);
                Ok(text)
            }
            Err(error) => {
                self.pass(&bytes[..error.valid_up_to()]);
                self.bad(NOT_UTF8)
            }
        }
    }

    /// The next character, whatever it is.
    pub(super) fn char(&mut self, open: &str) -> Result<char, Stop> {
        self.need(open)?;
        let rest = &self.text[self.at..];
        let first = &rest[..rest.len().min(4)];
        let valid = match std::str::from_utf8(first) {
            Ok(text) => text,
            Err(error) => std::str::from_utf8(&first[..error.valid_up_to()]).unwrap_or_default(),
        };
        match valid.chars().next() {
            Some(c) => {
                self.pass(&rest[..c.len_utf8()]);
                Ok(c)
            }
            None if first.len() < 4 && !self.last => Err(Stop::Short),
            None => self.bad(NOT_UTF8),
        }
    }

    /// The token that begins here, as text.
    pub(super) fn name(&mut self) -> Result<&'a str, Stop> {
        let start = *self;
        let token = self.token()?;
        std::str::from_utf8(token).or_else(|_| start.bad(NOT_UTF8))
    }

    fn pass(&mut self, bytes: &[u8]) {
        for end in memchr::memchr_iter(b'\n', bytes) {
            self.line += 1;
            self.line_start = (self.at + end + 1) as isize;
        }
        self.at += bytes.len();
    }

    fn new_line(&mut self) {
        self.line += 1;
        self.line_start = self.at as isize;
    }
}
