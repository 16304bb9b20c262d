//! Trees of text.
//!
//! Reading is where a call spends its time, and most arguments are plain: strings without escapes, integers, words. Those
//! are read here, in a third of the steps that a general reader takes. A string with escapes or any other number is
//! given to serde_json, and so is the whole text at the first thing that looks wrong: what JSON is, is decided there.

use serde_json::Number;

use super::build::Builder;
use super::node::{FEW, Mark};
use super::{Loan, Unfit};

/// Reads a whole text. What is refused here may still be JSON.
pub(super) fn read(text: String) -> Result<Loan, String> {
    let mut reader = Reader { text: &text, bytes: text.as_bytes(), at: 0, builder: Builder::new(&text) };
    match reader.whole() {
        Ok(()) => {
            let mut tree = reader.builder.finish();
            tree.text = text;
            Ok(Loan::new(tree))
        }
        Err(Unfit) => Err(text),
    }
}

struct Reader<'t> {
    text: &'t str,
    bytes: &'t [u8],
    at: usize,
    builder: Builder<'t>,
}

impl Reader<'_> {
    fn whole(&mut self) -> Result<(), Unfit> {
        self.value()?;
        self.blank();
        if self.at == self.bytes.len() { Ok(()) } else { Err(Unfit) }
    }

    /// Recurses no deeper than a tree may be.
    fn value(&mut self) -> Result<(), Unfit> {
        self.blank();
        match self.peek() {
            Some(b'"') => self.string().map(drop),
            Some(b'{') => self.object(),
            Some(b'[') => self.array(),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Mark::Bool(true)),
            Some(b'f') => self.word("false", Mark::Bool(false)),
            Some(b'n') => self.word("null", Mark::Null),
            _ => Err(Unfit),
        }
    }

    fn object(&mut self) -> Result<(), Unfit> {
        let place = self.builder.open()?;
        self.at += 1;
        let (mut len, mut looks, mut differ) = (0, [0; FEW], true);
        self.blank();
        if self.peek() != Some(b'}') {
            loop {
                self.blank();
                if self.peek() != Some(b'"') {
                    return Err(Unfit);
                }
                let start = self.at + 1;
                let has_escapes = self.string()?;
                if let Some((own, earlier)) = looks.get_mut(..=len).and_then(<[u32]>::split_last_mut) {
                    *own = look(&self.bytes[start..self.at - 1]);
                    differ &= !has_escapes && !earlier.contains(own);
                }
                self.blank();
                if self.peek() != Some(b':') {
                    return Err(Unfit);
                }
                self.at += 1;
                self.value()?;
                len += 1;
                if !self.goes_on(b'}')? {
                    break;
                }
            }
        }
        self.at += 1;
        self.builder.close_object(place, len, differ)
    }

    fn array(&mut self) -> Result<(), Unfit> {
        let place = self.builder.open()?;
        self.at += 1;
        let mut len = 0;
        self.blank();
        if self.peek() != Some(b']') {
            loop {
                self.value()?;
                len += 1;
                if !self.goes_on(b']')? {
                    break;
                }
            }
        }
        self.at += 1;
        self.builder.close_array(place, len)
    }

    /// Whether a comma stands here, and is passed, or the end, and is not.
    fn goes_on(&mut self, end: u8) -> Result<bool, Unfit> {
        self.blank();
        match self.peek() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == end => Ok(false),
            _ => Err(Unfit),
        }
    }

    /// Says whether the string has escapes.
    fn string(&mut self) -> Result<bool, Unfit> {
        let start = self.at + 1;
        self.at = start;
        let mut has_escapes = false;
        loop {
            self.at = plain_until(self.bytes, self.at);
            match self.peek() {
                Some(b'"') => break,
                Some(b'\\') => {
                    has_escapes = true;
                    self.at += 2;
                }
                _ => return Err(Unfit),
            }
        }
        let end = self.at;
        self.at += 1;
        if !has_escapes {
            self.builder.plain(start, end - start)?;
            return Ok(false);
        }
        let escaped = self.text.get(start..end).ok_or(Unfit)?;
        self.builder.other(|other| unescape(escaped, other))?;
        Ok(true)
    }

    fn number(&mut self) -> Result<(), Unfit> {
        let start = self.at;
        let is_negative = self.bytes[start] == b'-';
        self.at += usize::from(is_negative);
        let first = self.at;
        let mut sum = 0u64;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            // Whether it fits is looked at below.
            sum = sum.wrapping_mul(10).wrapping_add(u64::from(digit - b'0'));
            self.at += 1;
        }
        let digits = self.at - first;
        let is_odd = matches!(self.peek(), Some(b'.' | b'e' | b'E'));
        // 18 digits fit, and a zero at the front is for the number 0 alone.
        if is_odd || !(1..=18).contains(&digits) || (self.bytes[first] == b'0' && (digits > 1 || is_negative)) {
            return self.other_number(start);
        }
        self.builder.scalar(if is_negative { Mark::Negative(-(sum as i64)) } else { Mark::Unsigned(sum) });
        Ok(())
    }

    fn other_number(&mut self, start: usize) -> Result<(), Unfit> {
        let is_part = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
        self.at = start + self.bytes[start..].iter().take_while(|byte| is_part(byte)).count();
        let text = self.text.get(start..self.at).ok_or(Unfit)?;
        let number: Number = serde_json::from_str(text).map_err(|_| Unfit)?;
        self.builder.number(&number)
    }

    fn word(&mut self, word: &str, mark: Mark) -> Result<(), Unfit> {
        if !self.bytes[self.at..].starts_with(word.as_bytes()) {
            return Err(Unfit);
        }
        self.at += word.len();
        self.builder.scalar(mark);
        Ok(())
    }

    fn blank(&mut self) {
        while let Some(b' ' | b'\n' | b'\t' | b'\r') = self.peek() {
            self.at += 1;
        }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }
}

/// How a key looks: keys that look different are different.
fn look(key: &[u8]) -> u32 {
    let (first, last) = key.first().zip(key.last()).unwrap_or((&0, &0));
    // What a length loses here makes two keys look the same, and the keys themselves are compared then.
    (key.len() as u32) << 16 | u32::from(*first) << 8 | u32::from(*last)
}

/// Adds a string without its escapes.
fn unescape(mut escaped: &str, out: &mut String) -> Result<(), Unfit> {
    let start = out.len();
    let whole = escaped;
    while let Some((plain, rest)) = escaped.split_once('\\') {
        out.push_str(plain);
        let character = match rest.as_bytes().first() {
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(*byte),
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'n') => '\n',
            Some(b'r') => '\r',
            Some(b't') => '\t',
            // Code units, maybe in pairs.
            _ => {
                let string: String = serde_json::from_str(&format!("\"{whole}\"")).map_err(|_| Unfit)?;
                out.truncate(start);
                out.push_str(&string);
                return Ok(());
            }
        };
        out.push(character);
        escaped = &rest[1..];
    }
    out.push_str(escaped);
    Ok(())
}

/// The place of the first quote, backslash or control character from `at` on. Eight bytes at a time: a byte that is looked
/// for leaves its high bit, and borrows spoil only what comes after the first.
fn plain_until(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = u64::from_ne_bytes([1; 8]);
    const HIGH: u64 = ONES << 7;
    while let Some(chunk) = bytes.get(at..at + 8).and_then(|chunk| chunk.try_into().ok()) {
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
