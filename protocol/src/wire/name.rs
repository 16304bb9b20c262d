//! [`NameGrammar`]: tool names as providers and MCP allow them.

mod escape;
mod token;

use std::borrow::Cow;

use self::token::{Token, tokens};
use crate::digest::Digest;
use crate::name::ToolName;

/// The tool names that a service allows, and their encoding.
///
/// The wire form of a name depends on that name alone. There are three forms, and no text has two of them:
///
/// - **plain**: an allowed name without two adjacent separators (`_`, `-`) is its own wire form.
/// - **escaped**: `__` is `.`, `--` is `/`, `-_` is `:`, and `_-` is a space of a foreign name. Longer rows of separators are other
///   characters. A legal name with adjacent separators has this form too, so that no name is the wire form of another.
/// - **digested**: the words of a name whose escaped form is too long, `_-_`, and 96 bits of the name's digest in hexadecimal.
///   [`WireNames`](super::WireNames) resolves it.
///
/// ```
/// use protocol::ToolName;
/// use protocol::wire::NameGrammar::Provider;
///
/// for (name, wire) in [
///     ("read_file", "read_file"),
///     ("fs.read", "fs__read"),
///     ("mcp:github/create_issue", "mcp-_github--create_issue"),
///     ("Get%20MP3", "Get_-MP3"),
///     ("mcp__github", "mcp____github"),
/// ] {
///     assert_eq!(Provider.encode(name), wire);
///     assert_eq!(Provider.decode(wire), Some(ToolName::new(name)?));
/// }
/// # Ok::<(), protocol::InvalidName>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum NameGrammar {
    /// `^[a-zA-Z0-9_-]{1,64}$`.
    ///
    /// - [OpenAI](https://platform.openai.com/docs/api-reference/chat/create): "Must be a-z, A-Z, 0-9, or contain underscores and
    ///   dashes, with a maximum length of 64".
    /// - [Anthropic](https://github.com/cyanheads/atlas-mcp-server/issues/14) had the same grammar, and now takes
    ///   [128 characters](https://github.com/home-assistant/core/issues/147760). Names stay those of OpenAI.
    /// - Ollama documents none.
    Provider,
    /// `^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`: names of [`Provider`](Self::Provider) that Gemini takes.
    ///
    /// Gemini requires [a letter or an underscore first](https://github.com/kaitranntt/ccs/issues/25). It also takes dots and colons.
    /// They are escaped, so that the tools in a conversation keep their names if it continues with another service.
    Gemini,
    /// `^[a-zA-Z0-9_.-]{1,128}$`, from the
    /// [specification](https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-names).
    Mcp,
}

/// The row between the words and the digest of a digested form. No escaped form has it, because a single dot is `__`.
const BEFORE_DIGEST: &str = "_-_";

/// The number of hexadecimal digits in a digested form: 96 bits.
const DIGITS: usize = 24;

impl NameGrammar {
    /// Returns the maximum length of a wire form, in characters.
    fn max_length(self) -> usize {
        match self {
            Self::Provider | Self::Gemini => 64,
            Self::Mcp => 128,
        }
    }

    /// Returns true if the grammar allows the text.
    pub fn allows(self, text: &str) -> bool {
        (1..=self.max_length()).contains(&text.len())
            && text
                .starts_with(|c: char| self != Self::Gemini || c.is_ascii_alphabetic() || c == '_')
            && text.chars().all(|c| self.is_word(c) || is_separator(c))
    }

    /// Returns the wire form of a name. A text that is no [`ToolName`], such as one that a model made up, gets an allowed form too.
    pub fn encode(self, name: &str) -> Cow<'_, str> {
        if self.is_plain(name) {
            return Cow::Borrowed(name);
        }
        let escaped = escape::escape(self, name);
        Cow::Owned(if self.allows(&escaped) {
            escaped
        } else {
            self.digest_name(name, &Digest::hash_bytes(name.as_bytes()))
        })
    }

    /// Returns the name with this plain or escaped form. Returns `None` for any other text.
    pub fn decode(self, wire: &str) -> Option<ToolName> {
        if self.is_plain(wire) {
            return ToolName::new(wire).ok();
        }
        let name = ToolName::new(escape::unescape(self, wire)?).ok()?;
        // Each name has one wire form: a text that merely resembles it can be the own name of another tool.
        (self.encode(&name) == wire).then_some(name)
    }

    /// Returns true if the text can be a digested form only.
    pub fn is_digested(text: &str) -> bool {
        Self::digested_words(text).is_some()
    }

    /// Returns the words of a text that can be a digested form only. Returns `None` for any other text.
    pub fn digested_words(text: &str) -> Option<&str> {
        let (words, digest) = text.rsplit_once(BEFORE_DIGEST)?;
        let is_digested = !words.is_empty()
            && !words.ends_with(is_separator)
            && digest.len() == DIGITS
            && is_lower_hex(digest);
        is_digested.then_some(words)
    }

    /// Returns the digested form of a name.
    fn digest_name(self, name: &str, digest: &Digest) -> String {
        let most = self.max_length() - BEFORE_DIGEST.len() - DIGITS;
        let mut words = String::new();
        for token in tokens(self, name) {
            match token {
                Token::Literal(c)
                    // No name of Gemini begins with a digit.
                    if words.is_empty() && !self.allows(c.encode_utf8(&mut [0; 4])) =>
                {
                    words.extend(['_', c])
                }
                Token::Literal(c) => words.push(c),
                Token::Symbol(_) if words.is_empty() || words.ends_with('_') => {}
                Token::Symbol(_) => words.push('_'),
            }
        }
        words.truncate(most);
        // A separator before the row would make it longer, and an escape could have that row.
        let words = match words.trim_end_matches('_') {
            "" => "tool",
            words => words,
        };
        let digest = digest.to_string();
        format!("{words}{BEFORE_DIGEST}{}", &digest[..DIGITS])
    }

    /// Returns true if the text is its own wire form.
    fn is_plain(self, text: &str) -> bool {
        let pairs = text.as_bytes().windows(2);
        self.allows(text)
            && !pairs
                .into_iter()
                .any(|pair| pair.iter().all(|byte| is_separator(char::from(*byte))))
    }

    /// Returns true if the wire has the character in any place after the first, and it is not a separator.
    fn is_word(self, c: char) -> bool {
        c.is_ascii_alphanumeric() || (self == Self::Mcp && c == '.')
    }
}

/// Returns true if the text consists of the digits of lower-case hexadecimal numbers.
fn is_lower_hex(text: &str) -> bool {
    text.bytes()
        .all(|digit| digit.is_ascii_digit() || (b'a'..=b'f').contains(&digit))
}

/// Returns true for the characters whose rows have a meaning in an escaped form.
fn is_separator(c: char) -> bool {
    matches!(c, '_' | '-')
}
