//! The parser of JSON text into a [`Tree`].
//!
//! Most arguments are simple: strings without escapes, integers, literals. For them, this parser needs a third of the steps of
//! `serde_json` building a `Value`. It keeps the digits of integers beyond 64 bits, which `serde_json` rounds, and detects repeated
//! keys, of which `serde_json` keeps the last. Strings with escapes and all other numbers are left to `serde_json`.

use serde_json::{Number, Value};

use super::InvalidJson;
use super::build::TreeBuilder;
use super::error::{ParseError, inside, syntax};
use super::tree::{MAX_UNSORTED, Mark, Tree};

/// Parses a whole text. Repeated keys and nesting deeper than [`MAX_DEPTH`](super::MAX_DEPTH) are errors.
pub(super) fn parse(text: String) -> Result<Tree, InvalidJson> {
    let mut parser = Parser {
        text: &text,
        bytes: text.as_bytes(),
        builder: TreeBuilder::new(&text),
    };
    match parser.whole() {
        Ok(()) => {
            let mut tree = parser.builder.tree;
            tree.text = text;
            Ok(tree)
        }
        Err(error) => Err(match *error {
            InvalidJson::Syntax { .. } => InvalidJson::Syntax {
                // Only this slower parser knows line and column, and errors are rare.
                message: serde_json::from_str::<Value>(&text)
                    .map_or_else(|error| error.to_string(), |_| String::new()),
            },
            other => other,
        }),
    }
}

/// Each method takes a start offset and returns the end offset, so that offsets stay in registers.
struct Parser<'t> {
    text: &'t str,
    bytes: &'t [u8],
    builder: TreeBuilder<'t>,
}

impl Parser<'_> {
    fn whole(&mut self) -> Result<(), ParseError> {
        let end = self.value(0)?;
        if self.blank(end) == self.bytes.len() {
            Ok(())
        } else {
            Err(syntax())
        }
    }

    /// Parses one value. The recursion is bounded by [`MAX_DEPTH`](super::MAX_DEPTH).
    fn value(&mut self, at: usize) -> Result<usize, ParseError> {
        let at = self.blank(at);
        match self.peek(at) {
            b'"' => self.string(at).map(|(end, _)| end),
            b'-' | b'0'..=b'9' => self.number(at),
            b'{' => self.object(at),
            b'[' => self.array(at),
            b't' => self.word(at, "true", Mark::Bool(true)),
            b'f' => self.word(at, "false", Mark::Bool(false)),
            b'n' => self.word(at, "null", Mark::Null),
            _ => Err(syntax()),
        }
    }

    fn object(&mut self, at: usize) -> Result<usize, ParseError> {
        let place = self.builder.open()?;
        let mut len = 0;
        let mut hashes = [0; MAX_UNSORTED];
        let mut distinct = true;
        let mut at = self.blank(at + 1);
        if self.peek(at) != b'}' {
            loop {
                at = self.blank(at);
                if self.peek(at) != b'"' {
                    return Err(syntax());
                }
                let key = self.builder.tree.marks.len();
                let (end, has_escapes) = self.string(at)?;
                if let Some((own, earlier)) =
                    hashes.get_mut(..=len).and_then(<[u32]>::split_last_mut)
                {
                    *own = key_hash(&self.bytes[at + 1..end - 1]);
                    distinct &= !has_escapes && !earlier.contains(own);
                }
                at = self.blank(end);
                if self.peek(at) != b':' {
                    return Err(syntax());
                }
                at = self
                    .value(at + 1)
                    .map_err(|error| inside(error, self.builder.string_at(key)))?;
                len += 1;
                at = self.blank(at);
                match self.peek(at) {
                    b',' => at += 1,
                    b'}' => break,
                    _ => return Err(syntax()),
                }
            }
        }
        self.builder.close_object(place, len, distinct)?;
        Ok(at + 1)
    }

    fn array(&mut self, at: usize) -> Result<usize, ParseError> {
        let place = self.builder.open()?;
        let mut len = 0;
        let mut at = self.blank(at + 1);
        if self.peek(at) != b']' {
            loop {
                at = self
                    .value(at)
                    .map_err(|error| inside(error, &len.to_string()))?;
                len += 1;
                at = self.blank(at);
                match self.peek(at) {
                    b',' => at += 1,
                    b']' => break,
                    _ => return Err(syntax()),
                }
            }
        }
        self.builder.close_array(place, len)?;
        Ok(at + 1)
    }

    /// Parses a string. Returns its end, and true if it has escapes.
    fn string(&mut self, at: usize) -> Result<(usize, bool), ParseError> {
        let start = at + 1;
        let mut end = plain_until(self.bytes, start);
        if self.peek(end) == b'"' {
            self.builder.plain(start, end - start)?;
            return Ok((end + 1, false));
        }
        while self.peek(end) == b'\\' {
            end = plain_until(self.bytes, end + 2);
        }
        if self.peek(end) != b'"' {
            return Err(syntax());
        }
        let string: String = serde_json::from_str(&self.text[at..=end]).map_err(|_| syntax())?;
        self.builder.push_unescaped(&string)?;
        Ok((end + 1, true))
    }

    #[inline]
    fn number(&mut self, start: usize) -> Result<usize, ParseError> {
        let is_negative = self.bytes[start] == b'-';
        let first = start + usize::from(is_negative);
        let mut at = first;
        let mut sum = 0u64;
        while let digit @ b'0'..=b'9' = self.peek(at) {
            // The number of digits, checked below, excludes overflow.
            sum = sum.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            at += 1;
        }
        let digits = at - first;
        let is_float = matches!(self.peek(at), b'.' | b'e' | b'E');
        // 18 digits always fit into 64 bits. A leading zero is valid only in the number 0.
        if is_float
            || !(1..=18).contains(&digits)
            || (self.bytes[first] == b'0' && (digits > 1 || is_negative))
        {
            return self.other_number(start);
        }
        self.builder.scalar(if is_negative {
            Mark::Negative(-(sum as i64))
        } else {
            Mark::Unsigned(sum)
        });
        Ok(at)
    }

    fn other_number(&mut self, start: usize) -> Result<usize, ParseError> {
        let bytes = self.bytes[start..]
            .iter()
            .take_while(|byte| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E'));
        let end = start + bytes.count();
        let text = self.text.get(start..end).ok_or_else(syntax)?;
        let number: Number = serde_json::from_str(text).map_err(|_| syntax())?;
        self.builder.number(&number, text)?;
        Ok(end)
    }

    fn word(&mut self, at: usize, word: &str, mark: Mark) -> Result<usize, ParseError> {
        if !self.bytes[at..].starts_with(word.as_bytes()) {
            return Err(syntax());
        }
        self.builder.scalar(mark);
        Ok(at + word.len())
    }

    #[inline]
    fn blank(&self, mut at: usize) -> usize {
        while let b' ' | b'\n' | b'\t' | b'\r' = self.peek(at) {
            at += 1;
        }
        at
    }

    /// Returns the byte at an offset. Returns 0, which JSON never contains, after the end.
    #[inline]
    fn peek(&self, at: usize) -> u8 {
        self.bytes.get(at).copied().unwrap_or(0)
    }
}

/// Returns a cheap hash of a key: its length, first byte and last byte.
fn key_hash(key: &[u8]) -> u32 {
    let (first, last) = key.first().zip(key.last()).unwrap_or((&0, &0));
    // Keys with equal hashes are compared in full, so the truncated bits of the length do no harm.
    (key.len() as u32) << 16 | u32::from(*first) << 8 | u32::from(*last)
}

/// Returns the offset of the first quote, backslash or control character from `at` on.
///
/// Eight bytes are tested at once: a match sets the high bit of its byte, and borrows affect only bytes after the first match.
fn plain_until(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    while let Some(chunk) = bytes
        .get(at..at + 8)
        .and_then(|chunk| chunk.try_into().ok())
    {
        let word = u64::from_le_bytes(chunk);
        let zero = |word: u64| word.wrapping_sub(ONES) & !word;
        let control = word.wrapping_sub(ONES * 0x20) & !word;
        let found = (zero(word ^ (ONES * 0x22)) | zero(word ^ (ONES * 0x5c)) | control) & HIGH;
        if found != 0 {
            return at + found.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    while let Some(byte) = bytes.get(at) {
        if matches!(byte, b'"' | b'\\' | ..0x20) {
            break;
        }
        at += 1;
    }
    at
}
