//! [`Token`]: the parts of a name that the escaped form tells apart.

use super::NameGrammar;

/// A character that stays, or a [`Symbol`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// A character of a word.
    Literal(char),
    Symbol(Symbol),
}

/// A part of a name that is not a character of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Symbol {
    Underscore,
    Hyphen,
    Dot,
    Slash,
    Colon,
    /// `%20`
    Space,
    /// A `%` that escapes nothing.
    Percent,
    /// Any other escaped byte, and a byte that the wire does not allow where it stands.
    Byte(u8),
}

/// Returns the tokens of a name. Characters that no [`ToolName`](crate::ToolName) has are bytes.
pub(super) fn tokens(grammar: NameGrammar, name: &str) -> Vec<Token> {
    let mut tokens = Vec::with_capacity(name.len());
    let mut bytes = name.as_bytes().iter();
    while let Some(&byte) = bytes.next() {
        let c = char::from(byte);
        tokens.push(match c {
            _ if grammar.is_word(c) => Token::Literal(c),
            '_' => Token::Symbol(Symbol::Underscore),
            '-' => Token::Symbol(Symbol::Hyphen),
            '.' => Token::Symbol(Symbol::Dot),
            '/' => Token::Symbol(Symbol::Slash),
            ':' => Token::Symbol(Symbol::Colon),
            '%' => Token::Symbol(match read_escape(bytes.as_slice()) {
                Some(byte) => {
                    bytes.nth(1);
                    if byte == b' ' {
                        Symbol::Space
                    } else {
                        Symbol::Byte(byte)
                    }
                }
                None => Symbol::Percent,
            }),
            _ => Token::Symbol(Symbol::Byte(byte)),
        });
    }
    tokens
}

impl Symbol {
    /// Returns the byte of the symbol.
    pub(super) fn byte(self) -> u8 {
        match self {
            Self::Underscore => b'_',
            Self::Hyphen => b'-',
            Self::Dot => b'.',
            Self::Slash => b'/',
            Self::Colon => b':',
            Self::Space => b' ',
            Self::Percent => b'%',
            Self::Byte(byte) => byte,
        }
    }

    /// Appends the symbol to a name.
    pub(super) fn write(self, name: &mut String) {
        match self.byte() {
            _ if self == Self::Percent => name.push('%'),
            byte if is_unescaped(byte) => name.push(char::from(byte)),
            byte => name.push_str(&format!("%{byte:02X}")),
        }
    }
}

/// Returns the byte of the two hexadecimal digits at the start, as [`ToolName::from_foreign`](crate::ToolName::from_foreign) writes
/// them.
fn read_escape(digits: &[u8]) -> Option<u8> {
    let digits = digits.get(..2).filter(|digits| {
        let mut digits = digits.iter();
        digits.all(|digit| matches!(digit, b'0'..=b'9' | b'A'..=b'F'))
    })?;
    let byte = u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok()?;
    (!is_unescaped(byte)).then_some(byte)
}

/// Returns true for the bytes that `from_foreign` leaves as they are.
fn is_unescaped(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"_.:/-".contains(&byte)
}
