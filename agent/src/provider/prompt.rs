//! Parses and renders the prompts of [`Direct`](super::Direct): tool calls as a person types them.
//!
//! ```text
//! prompt = call { ";" call } [ ";" ]
//! call   = name ( { key "=" value } | JSON object )
//! value  = JSON array or object | word, quoted and escaped as in a shell
//! ```

use serde::de::IgnoredAny;
use serde_json::Deserializer;
use tools::protocol::json::Node;
use tools::{Json, ToolCall, ToolName, join};

use super::ProviderError;

/// A parsed call. Its values have no types yet.
#[derive(Debug, PartialEq)]
pub(super) struct ParsedCall {
    pub(super) name: String,
    pub(super) arguments: ParsedArguments,
}

#[derive(Debug, PartialEq)]
pub(super) enum ParsedArguments {
    Pairs(Vec<(String, String)>),
    Object(Json),
}

/// Parses a prompt, which has at least one call.
pub(super) fn parse(prompt: &str) -> Result<Vec<ParsedCall>, ProviderError> {
    let mut parser = Parser {
        text: prompt,
        at: 0,
    };
    let mut calls = Vec::new();
    loop {
        parser.skip_space();
        if parser.rest().is_empty() && !calls.is_empty() {
            return Ok(calls);
        }
        calls.push(parser.call()?);
        if parser.peek() == Some(';') {
            parser.at += 1;
        }
    }
}

/// Returns the text that [`parse`] reads as these calls.
pub(super) fn render<'a>(calls: impl IntoIterator<Item = &'a ToolCall>) -> String {
    join(calls.into_iter().map(render_call), " ; ")
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Parser<'a> {
    fn call(&mut self) -> Result<ParsedCall, ProviderError> {
        let start = self.at;
        let name = self.take_while(|c| !is_end(c));
        if name.is_empty() {
            return Err(self.refuse(start, "a call is missing"));
        }
        ToolName::new(name).map_err(|error| self.refuse(start, error.to_string()))?;
        let arguments = self.arguments()?;
        Ok(ParsedCall {
            name: name.to_owned(),
            arguments,
        })
    }

    /// Parses the arguments of a call, up to a `;` or the end.
    fn arguments(&mut self) -> Result<ParsedArguments, ProviderError> {
        let mut pairs = Vec::new();
        loop {
            self.skip_space();
            match self.peek() {
                None | Some(';') => return Ok(ParsedArguments::Pairs(pairs)),
                Some('{') if pairs.is_empty() => break,
                Some(_) => pairs.push(self.pair()?),
            }
        }
        let object = self.json().map_err(|reason| self.refuse(self.at, reason))?;
        self.skip_space();
        match self.peek() {
            None | Some(';') => Ok(ParsedArguments::Object(object)),
            Some(_) => Err(self.refuse(
                self.at,
                "only `;` and the next call can follow a JSON object",
            )),
        }
    }

    fn pair(&mut self) -> Result<(String, String), ProviderError> {
        let start = self.at;
        let key = self.take_while(|c| c != '=' && !is_end(c));
        if self.peek() != Some('=') {
            return Err(self.refuse(start, format!("`{key}` is not a key=value pair")));
        }
        if key.is_empty() {
            return Err(self.refuse(start, "the key before the `=` is missing"));
        }
        self.at += 1;
        Ok((key.to_owned(), self.value()?))
    }

    fn value(&mut self) -> Result<String, ProviderError> {
        if self.rest().starts_with(['{', '[']) {
            let start = self.at;
            // A text that is not JSON is an ordinary word, such as a glob.
            if self.json().is_ok() && self.peek().is_none_or(is_end) {
                return Ok(self.text[start..self.at].to_owned());
            }
            self.at = start;
        }
        self.word()
    }

    fn word(&mut self) -> Result<String, ProviderError> {
        let mut word = String::new();
        while let Some(c) = self.peek().filter(|c| !is_end(*c)) {
            let start = self.at;
            self.at += c.len_utf8();
            match c {
                '\'' => {
                    word.push_str(self.take_while(|c| c != '\''));
                    self.close(start, '\'')?;
                }
                '"' => {
                    self.double_quoted(&mut word);
                    self.close(start, '"')?;
                }
                '\\' => {
                    let escaped = self.peek().ok_or_else(|| {
                        self.refuse(start, "a character is missing after the backslash")
                    })?;
                    word.push(escaped);
                    self.at += escaped.len_utf8();
                }
                _ => word.push(c),
            }
        }
        Ok(word)
    }

    /// Appends the text up to the closing quote. As in a shell, a backslash escapes only a quote or a backslash.
    fn double_quoted(&mut self, word: &mut String) {
        loop {
            word.push_str(self.take_while(|c| c != '"' && c != '\\'));
            if self.peek() != Some('\\') {
                return;
            }
            self.at += 1;
            match self.peek() {
                Some(c @ ('"' | '\\')) => {
                    word.push(c);
                    self.at += 1;
                }
                _ => word.push('\\'),
            }
        }
    }

    fn close(&mut self, start: usize, quote: char) -> Result<(), ProviderError> {
        if self.peek() != Some(quote) {
            return Err(self.refuse(start, format!("the quote {quote} is not closed")));
        }
        self.at += quote.len_utf8();
        Ok(())
    }

    /// Parses the JSON value at the current position. On an error, the position does not change.
    fn json(&mut self) -> Result<Json, String> {
        let mut values = Deserializer::from_str(self.rest()).into_iter::<IgnoredAny>();
        // The calls follow each other without a mark, so that the end of the JSON is looked for first.
        let is_whole = values.next().is_some_and(|value| value.is_ok());
        // `Json::parse` gives the reason for an incomplete value.
        let text = if is_whole {
            &self.rest()[..values.byte_offset()]
        } else {
            self.rest()
        };
        let json = Json::parse(text).map_err(|error| {
            format!("the JSON that starts here is incomplete or invalid: {error}")
        })?;
        self.at += text.len();
        Ok(json)
    }

    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    fn take_while(&mut self, accept: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let taken = &rest[..rest.find(|c| !accept(c)).unwrap_or(rest.len())];
        self.at += taken.len();
        taken
    }

    fn skip_space(&mut self) {
        self.take_while(char::is_whitespace);
    }

    fn refuse(&self, at: usize, reason: impl Into<String>) -> ProviderError {
        ProviderError::Prompt {
            position: self.text[..at].chars().count() + 1,
            reason: reason.into(),
        }
    }
}

fn is_end(c: char) -> bool {
    c.is_whitespace() || c == ';'
}

fn render_call(call: &ToolCall) -> String {
    let node = call.arguments.node();
    let mut members: Vec<_> = node.members().collect();
    members.sort_by_key(|(key, _)| *key);
    let pairs: Option<Vec<_>> = members
        .into_iter()
        .map(|(key, value)| render_pair(key, value))
        .collect();
    let pairs = pairs.filter(|_| node.is_object());
    match pairs {
        Some(pairs) => [&[call.name.clone()][..], &pairs].concat().join(" "),
        None => format!("{} {}", call.name, call.arguments),
    }
}

/// Returns `None` if a pair cannot express the argument: its text is also JSON, or its key would need quotes.
fn render_pair(key: &str, value: Node<'_>) -> Option<String> {
    if !is_plain(key) {
        return None;
    }
    match value.as_str() {
        // `7` would be read back as a number where the schema allows both.
        Some(text) if Json::parse(text).is_ok() => None,
        Some(text) if is_plain(text) => Some(format!("{key}={text}")),
        Some(text) => Some(format!("{key}='{}'", text.replace('\'', r"'\''"))),
        None => Some(format!("{key}={value}")),
    }
}

fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && text
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "_-./:@%+,*".contains(c))
}
