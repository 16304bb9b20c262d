//! The escaped form of a name.
//!
//! A row is a longest sequence of `_` and `-`. A row of one is itself, a row of two is one symbol of [`SINGLE`], and a longer row is
//! a sequence of codes, of which none is the beginning of another: the [`CODES`], and [`OTHER`] with five more separators for a
//! character of [`PUNCTUATION`]. A row that ends with [`OTHER`] precedes bytes: pairs of hexadecimal digits, and `z`.

use super::token::{Symbol, Token, tokens};
use super::{NameGrammar, is_lower_hex, is_separator};

/// The rows of two.
const SINGLE: [(Symbol, &str); 4] = [
    (Symbol::Dot, "__"),
    (Symbol::Slash, "--"),
    (Symbol::Colon, "-_"),
    (Symbol::Space, "_-"),
];

/// The codes in longer rows.
const CODES: [(Symbol, &str); 7] = [
    (Symbol::Underscore, "__"),
    (Symbol::Hyphen, "--"),
    (Symbol::Dot, "_-_"),
    (Symbol::Percent, "_---"),
    (Symbol::Slash, "-__"),
    (Symbol::Colon, "-_-_"),
    (Symbol::Space, "-_--"),
];

/// The beginning of all other codes. Begins with `_`, so that it can begin a name.
const OTHER: &str = "_--_";

/// The characters with a code of [`OTHER`] and their index in binary, with `_` as 0 and `-` as 1.
const PUNCTUATION: &[u8; 31] = b"!\"#$%&'()*+,;<=>?@[\\]^`{|}~-/: ";

/// The number of binary digits of an index.
const INDEX_BITS: usize = 5;

/// The end of bytes.
const END: char = 'z';

/// Returns the escaped form of a name, which may be too long for the wire.
pub(super) fn escape(grammar: NameGrammar, name: &str) -> String {
    let mut tokens = tokens(grammar, name);
    let escaped = rows(&tokens);
    // A first character that cannot begin a wire name has a code that can.
    let first = escaped.chars().next();
    if let (Some(first), Some(token)) = (first, tokens.first_mut())
        && !grammar.allows(first.encode_utf8(&mut [0; 4]))
    {
        let byte = match *token {
            Token::Literal(c) => c as u8,
            Token::Symbol(symbol) => symbol.byte(),
        };
        *token = Token::Symbol(Symbol::Byte(byte));
        return rows(&tokens);
    }
    escaped
}

/// Returns the name with this escaped form. The caller checks that the name has this form and no other.
pub(super) fn unescape(grammar: NameGrammar, wire: &str) -> Option<String> {
    let mut name = String::with_capacity(wire.len());
    let mut rest = wire;
    while !rest.is_empty() {
        let end = rest.find(is_separator).unwrap_or(rest.len());
        let (word, from_row) = rest.split_at(end);
        if !word.chars().all(|c| grammar.is_word(c)) {
            return None;
        }
        name.push_str(word);
        let end = from_row
            .find(|c| !is_separator(c))
            .unwrap_or(from_row.len());
        let row;
        (row, rest) = from_row.split_at(end);
        match row.len() {
            0 | 1 => name.push_str(row),
            2 => SINGLE
                .iter()
                .find(|(_, code)| *code == row)?
                .0
                .write(&mut name),
            _ if decode_row(row, &mut name)? => rest = bytes(rest, &mut name)?,
            _ => {}
        }
    }
    Some(name)
}

fn rows(tokens: &[Token]) -> String {
    let mut escaped = String::with_capacity(2 * tokens.len());
    let mut tokens = tokens.iter().peekable();
    let mut row = Vec::new();
    while let Some(token) = tokens.next() {
        match token {
            Token::Literal(c) => escaped.push(*c),
            // One end for a sequence of bytes keeps names in other scripts short.
            Token::Symbol(Symbol::Byte(byte)) if index(*byte).is_none() => {
                row.drain(..).for_each(|symbol| code(symbol, &mut escaped));
                escaped.push_str(OTHER);
                escaped.push_str(&format!("{byte:02x}"));
                while let Some(Token::Symbol(Symbol::Byte(byte))) = tokens.peek()
                    && index(*byte).is_none()
                {
                    escaped.push_str(&format!("{byte:02x}"));
                    tokens.next();
                }
                escaped.push(END);
            }
            Token::Symbol(symbol) => {
                row.push(*symbol);
                if matches!(tokens.peek(), Some(Token::Symbol(_))) {
                    continue;
                }
                match row[..] {
                    [Symbol::Underscore] => escaped.push('_'),
                    [Symbol::Hyphen] => escaped.push('-'),
                    [symbol]
                        if let Some((_, code)) =
                            SINGLE.iter().find(|(single, _)| *single == symbol) =>
                    {
                        escaped.push_str(code);
                    }
                    _ => row.iter().for_each(|symbol| code(*symbol, &mut escaped)),
                }
                row.clear();
            }
        }
    }
    escaped
}

/// Returns the index of a byte in [`PUNCTUATION`].
fn index(byte: u8) -> Option<usize> {
    PUNCTUATION.iter().position(|other| *other == byte)
}

/// Appends the code of a symbol in a longer row.
fn code(symbol: Symbol, escaped: &mut String) {
    if let Some((_, code)) = CODES.iter().find(|(coded, _)| *coded == symbol) {
        return escaped.push_str(code);
    }
    escaped.push_str(OTHER);
    if let Some(index) = index(symbol.byte()) {
        let bit = |bit: usize| if index >> bit & 1 == 0 { '_' } else { '-' };
        escaped.extend((0..INDEX_BITS).rev().map(bit));
    }
}

/// Appends the symbols of a row. Returns true if bytes follow, and `None` if the row is not a sequence of codes.
fn decode_row(mut row: &str, name: &mut String) -> Option<bool> {
    while !row.is_empty() {
        if let Some(rest) = row.strip_prefix(OTHER) {
            if rest.is_empty() {
                return Some(true);
            }
            let digits = rest.get(..INDEX_BITS)?;
            let index = digits
                .bytes()
                .fold(0, |index, digit| 2 * index + usize::from(digit == b'-'));
            Symbol::Byte(*PUNCTUATION.get(index)?).write(name);
            row = &rest[INDEX_BITS..];
        } else {
            let (symbol, code) = CODES.iter().find(|(_, code)| row.starts_with(code))?;
            symbol.write(name);
            row = &row[code.len()..];
        }
    }
    Some(false)
}

/// Appends bytes and returns the text after them. Returns `None` if there are none.
fn bytes<'a>(text: &'a str, name: &mut String) -> Option<&'a str> {
    let (digits, rest) = text.split_once(END)?;
    if digits.is_empty() || digits.len() % 2 != 0 || !is_lower_hex(digits) {
        return None;
    }
    for pair in digits.as_bytes().chunks_exact(2) {
        let byte = u8::from_str_radix(str::from_utf8(pair).ok()?, 16).ok()?;
        Symbol::Byte(byte).write(name);
    }
    Some(rest)
}
