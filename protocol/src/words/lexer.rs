//! [`lex`]: reads words as a POSIX shell does, without expanding them.

use super::{Word, Words};
use crate::invisible::is_invisible;

pub(super) const NUL: &str =
    "a word has a NUL, which no argument of a program can have; leave it out";
pub(super) const DIGEST: &str = "words follow a digest; write the digest last";
const UNCLOSED: &str = "a quote is not closed; close it, or put a `\\` before it";
const OPERATOR: &str = "it has an operator of the shell, one of `; & | < > ( )`, outside quotes; write one command, or quote the character";
const SUBSTITUTION: &str =
    "it has a substitution other than `$x` or `${x}`; write a plain variable, or quote it with `'`";
const GLOB: &str = "it has a `*`, `?`, `[` or `{` that is not quoted; quote it with `'`";
const STARS: &str = "`**` is only part of a word; write `*`, or `**` as a word of its own";
const TILDE: &str = "a `~` outside quotes is a home folder; write the folder, or quote it with `'`";
const COMMENT: &str = "a word begins with `#`, which is a comment; quote it with `'`";
const INVISIBLE: &str =
    "a line break or an invisible character is outside quotes; write a space, or quote it with `'`";
const BACKSLASH: &str = "a `\\` has no character to quote; write `\\\\` for a backslash";
const ESCAPE: &str =
    "an escape in `$'…'` is unknown; write one such as `\\n`, `\\'`, `\\x1b` or `\\u202e`";
const NOT_UTF8: &str = "a word is not UTF-8; leave out the bytes that are not";

/// A word of a value or a pattern.
pub(super) struct Lexed {
    pub(super) word: Word,
    /// The offsets of wildcards in a known word, sorted. Of the word `**`, both are 0.
    pub(super) stars: Vec<usize>,
}

impl Lexed {
    fn plain(word: Word) -> Self {
        let stars = Vec::new();
        Self { word, stars }
    }
}

/// Reads the words of a text. Unquoted `*` are wildcards if `wildcards` is true, and otherwise errors.
pub(super) fn lex(text: &str, wildcards: bool) -> Result<Vec<Lexed>, &'static str> {
    let mut words = Vec::new();
    let mut rest = text.trim_start_matches(is_blank);
    while !rest.is_empty() {
        if let Some(digest) = rest.strip_prefix(Words::DIGEST) {
            let digest = digest
                .trim_end_matches(is_blank)
                .parse()
                .map_err(|_| COMMENT)?;
            words.push(Lexed::plain(Word::Digest(digest)));
            return Ok(words);
        }
        let mut lexer = Lexer {
            rest,
            wildcards,
            bytes: Vec::new(),
            stars: Vec::new(),
            unknown: None,
        };
        lexer.word()?;
        rest = lexer.rest.trim_start_matches(is_blank);
        words.push(lexer.finish()?);
    }
    Ok(words)
}

/// Returns the variable after a `$`: `x`, `{x}`, or a special parameter such as `?`. Returns `None` if there is no plain variable.
pub(super) fn variable(rest: &str) -> Option<&str> {
    let name = rest.strip_prefix('{').unwrap_or(rest);
    let after = name.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || c == '_');
    let length = match rest.as_bytes().first()? {
        b'*' | b'@' | b'#' | b'?' | b'-' | b'$' | b'!' => 1,
        _ if after.len() == name.len() => return None,
        b'{' => rest.len() - after.strip_prefix('}')?.len(),
        _ => rest.len() - after.len(),
    };
    Some(&rest[..length])
}

fn is_blank(c: char) -> bool {
    matches!(c, ' ' | '\t')
}

/// The number of words that an unknown word can be, the greater one last.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Count {
    One,
    Any,
}

/// The state within a word.
struct Lexer<'a> {
    rest: &'a str,
    wildcards: bool,
    /// The word without its quotes, as bytes, because `$'\xc3\xa9'` is one character.
    bytes: Vec<u8>,
    stars: Vec<usize>,
    unknown: Option<Count>,
}

impl Lexer<'_> {
    /// Reads up to the end of the word.
    fn word(&mut self) -> Result<(), &'static str> {
        let start = self.rest;
        while let Some(c) = self.next() {
            let is_first = start.len() == self.rest.len() + c.len_utf8();
            match c {
                ' ' | '\t' => break,
                '\'' => self.single_quotes()?,
                '"' => self.double_quotes()?,
                '\\' => match self.next() {
                    // Behind a `\` at its end, a line goes on.
                    None | Some('\n') => return Err(BACKSLASH),
                    Some(c) => self.push(c),
                },
                '$' => match self.rest.strip_prefix('\'') {
                    Some(rest) => {
                        self.rest = rest;
                        self.escapes()?;
                    }
                    None => self.variable(Count::Any)?,
                },
                '`' => return Err(SUBSTITUTION),
                ';' | '&' | '|' | '<' | '>' | '(' | ')' => return Err(OPERATOR),
                '*' if self.wildcards => self.star(is_first)?,
                '*' | '?' | '[' | '{' => return Err(GLOB),
                // Shells expand it in words that look like assignments, too.
                '~' if is_first || matches!(self.bytes.last(), Some(b'=' | b':')) => {
                    return Err(TILDE);
                }
                '#' if is_first => return Err(COMMENT),
                '\0' => return Err(NUL),
                c if is_invisible(c) => return Err(INVISIBLE),
                c => self.push(c),
            }
        }
        Ok(())
    }

    fn finish(self) -> Result<Lexed, &'static str> {
        let text = String::from_utf8(self.bytes).map_err(|_| NOT_UTF8)?;
        // `$'\0'` makes one only here.
        if text.contains('\0') {
            return Err(NUL);
        }
        Ok(match self.unknown {
            None => Lexed {
                word: Word::Known(text),
                stars: self.stars,
            },
            Some(Count::One) => Lexed::plain(Word::Unknown(text)),
            Some(Count::Any) => Lexed::plain(Word::UnknownWords(text)),
        })
    }

    fn next(&mut self) -> Option<char> {
        let c = self.rest.chars().next()?;
        self.rest = &self.rest[c.len_utf8()..];
        Some(c)
    }

    fn push(&mut self, c: char) {
        self.bytes
            .extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
    }

    /// Adds a wildcard, or both of `**`.
    fn star(&mut self, is_first: bool) -> Result<(), &'static str> {
        let at = self.bytes.len();
        if let Some(rest) = self.rest.strip_prefix('*') {
            if !is_first || !(rest.is_empty() || rest.starts_with(is_blank)) {
                return Err(STARS);
            }
            self.rest = rest;
            self.stars.push(at);
        } else if self.stars.last() == Some(&at) {
            // In `*''*`, the second matches nothing that the first does not.
            return Ok(());
        }
        self.stars.push(at);
        Ok(())
    }

    fn single_quotes(&mut self) -> Result<(), &'static str> {
        let (text, rest) = self.rest.split_once('\'').ok_or(UNCLOSED)?;
        self.bytes.extend_from_slice(text.as_bytes());
        self.rest = rest;
        Ok(())
    }

    fn double_quotes(&mut self) -> Result<(), &'static str> {
        loop {
            match self.next().ok_or(UNCLOSED)? {
                '"' => return Ok(()),
                '\\' => match self.next().ok_or(UNCLOSED)? {
                    // A line that continues.
                    '\n' => {}
                    c @ ('$' | '`' | '"' | '\\') => self.push(c),
                    c => {
                        self.push('\\');
                        self.push(c);
                    }
                },
                // `"$@"` is any number of words.
                '$' if self.rest.starts_with('@') => self.variable(Count::Any)?,
                '$' => self.variable(Count::One)?,
                '`' => return Err(SUBSTITUTION),
                c => self.push(c),
            }
        }
    }

    /// Reads the variable after a `$`. A substitution is refused: it can contain quotes and commands of its own.
    fn variable(&mut self, count: Count) -> Result<(), &'static str> {
        self.unknown = self.unknown.max(Some(count));
        self.push('$');
        match variable(self.rest) {
            Some(name) => {
                self.bytes.extend_from_slice(name.as_bytes());
                self.rest = &self.rest[name.len()..];
            }
            None if self.rest.starts_with(['(', '{', '[']) => return Err(SUBSTITUTION),
            None => {}
        }
        Ok(())
    }

    /// Reads the text of `$'…'` up to its end.
    fn escapes(&mut self) -> Result<(), &'static str> {
        loop {
            match self.next().ok_or(UNCLOSED)? {
                '\'' => return Ok(()),
                '\\' => self.escape()?,
                c => self.push(c),
            }
        }
    }

    /// Reads the escape after a `\`.
    fn escape(&mut self) -> Result<(), &'static str> {
        if self.rest.starts_with(|c: char| c.is_digit(8)) {
            let byte = u8::try_from(self.number(3, 8)?).map_err(|_| ESCAPE)?;
            self.bytes.push(byte);
            return Ok(());
        }
        let c = self.next().ok_or(UNCLOSED)?;
        let byte = match c {
            '\\' | '\'' | '"' | '?' => c as u8,
            'a' => 0x07,
            'b' => 0x08,
            't' => b'\t',
            'n' => b'\n',
            'v' => 0x0b,
            'f' => 0x0c,
            'r' => b'\r',
            'e' | 'E' => 0x1b,
            'x' => self.number(2, 16)? as u8,
            'u' | 'U' => {
                let number = self.number(if c == 'u' { 4 } else { 8 }, 16)?;
                self.push(char::from_u32(number).ok_or(ESCAPE)?);
                return Ok(());
            }
            _ => return Err(ESCAPE),
        };
        self.bytes.push(byte);
        Ok(())
    }

    /// Reads a number of up to `length` digits.
    fn number(&mut self, length: usize, radix: u32) -> Result<u32, &'static str> {
        let digits = self.rest.chars().take(length);
        let digits = digits.take_while(|c| c.is_digit(radix)).count();
        let (digits, rest) = self.rest.split_at(digits);
        self.rest = rest;
        u32::from_str_radix(digits, radix).map_err(|_| ESCAPE)
    }
}
