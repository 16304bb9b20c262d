//! The prompt of the provider without a model: tool calls as a person types them.
//!
//! ```text
//! prompt = call { ";" call } [ ";" ]
//! call   = name ( { key "=" value } | JSON object )
//! value  = JSON array or object | word, quoted and escaped as in a shell
//! ```

use serde::de::IgnoredAny;
use serde_json::Deserializer;
use tools::protocol::json::Node;
use tools::{Json, ToolCall, ToolName};

use super::ProviderError;

/// A call as it was written; its values have no types yet.
#[derive(Debug, PartialEq)]
pub(super) struct WrittenCall {
    pub(super) name: String,
    pub(super) arguments: WrittenArguments,
}

#[derive(Debug, PartialEq)]
pub(super) enum WrittenArguments {
    Pairs(Vec<(String, String)>),
    Object(Json),
}

/// The calls of a prompt, one at least.
pub(super) fn parse(prompt: &str) -> Result<Vec<WrittenCall>, ProviderError> {
    let mut reader = Reader { text: prompt, at: 0 };
    let mut calls = Vec::new();
    loop {
        reader.skip_space();
        if reader.rest().is_empty() && !calls.is_empty() {
            return Ok(calls);
        }
        calls.push(reader.call()?);
        if reader.peek() == Some(';') {
            reader.at += 1;
        }
    }
}

/// The text that [`parse`] reads as these calls.
pub(super) fn render<'a>(calls: impl IntoIterator<Item = &'a ToolCall>) -> String {
    calls.into_iter().map(render_call).collect::<Vec<_>>().join(" ; ")
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn call(&mut self) -> Result<WrittenCall, ProviderError> {
        let start = self.at;
        let name = self.take_while(|c| !is_end(c));
        if name.is_empty() {
            return Err(self.refuse(start, "a call is missing"));
        }
        ToolName::new(name).map_err(|error| self.refuse(start, error.to_string()))?;
        let arguments = self.arguments()?;
        Ok(WrittenCall { name: name.to_owned(), arguments })
    }

    /// Stops before a `;` or at the end.
    fn arguments(&mut self) -> Result<WrittenArguments, ProviderError> {
        let mut pairs = Vec::new();
        loop {
            self.skip_space();
            match self.peek() {
                None | Some(';') => return Ok(WrittenArguments::Pairs(pairs)),
                Some('{') if pairs.is_empty() => break,
                Some(_) => pairs.push(self.pair()?),
            }
        }
        let object = self.json().map_err(|reason| self.refuse(self.at, reason))?;
        self.skip_space();
        match self.peek() {
            None | Some(';') => Ok(WrittenArguments::Object(object)),
            Some(_) => Err(self.refuse(self.at, "after a JSON object only `;` and the next call can follow")),
        }
    }

    fn pair(&mut self) -> Result<(String, String), ProviderError> {
        let start = self.at;
        let key = self.take_while(|c| c != '=' && !is_end(c));
        if self.peek() != Some('=') {
            return Err(self.refuse(start, format!("`{key}` is no key=value")));
        }
        if key.is_empty() {
            return Err(self.refuse(start, "there is no key before the `=`"));
        }
        self.at += 1;
        Ok((key.to_owned(), self.value()?))
    }

    fn value(&mut self) -> Result<String, ProviderError> {
        if self.rest().starts_with(['{', '[']) {
            let start = self.at;
            // What does not hold as JSON is a word like others: a glob, say.
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
                    let escaped = self.peek().ok_or_else(|| self.refuse(start, "nothing follows the backslash"))?;
                    word.push(escaped);
                    self.at += escaped.len_utf8();
                }
                _ => word.push(c),
            }
        }
        Ok(word)
    }

    /// As in a shell, a backslash before anything but a quote or a backslash is itself.
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

    /// The JSON value that starts here; without one, stays here.
    fn json(&mut self) -> Result<Json, String> {
        let mut values = Deserializer::from_str(self.rest()).into_iter::<IgnoredAny>();
        let is_whole = values.next().is_some_and(|value| value.is_ok());
        // A value that is not whole is refused with its reason.
        let text = if is_whole { &self.rest()[..values.byte_offset()] } else { self.rest() };
        let json = Json::parse(text).map_err(|error| format!("the JSON that starts here is not whole: {error}"))?;
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
        ProviderError::Prompt { position: self.text[..at].chars().count() + 1, reason: reason.into() }
    }
}

fn is_end(c: char) -> bool {
    c.is_whitespace() || c == ';'
}

fn render_call(call: &ToolCall) -> String {
    let node = call.arguments.node();
    let mut members: Vec<_> = node.members().collect();
    members.sort_by_key(|(key, _)| *key);
    let pairs: Option<Vec<_>> = members.into_iter().map(|(key, value)| render_pair(key, value)).collect();
    let pairs = pairs.filter(|_| node.is_object());
    match pairs {
        Some(pairs) => [&[call.name.clone()][..], &pairs].concat().join(" "),
        None => format!("{} {}", call.name, call.arguments),
    }
}

/// `None` for what a pair could not say: text that is JSON as well, and a key that would have to be quoted.
fn render_pair(key: &str, value: Node<'_>) -> Option<String> {
    if !is_plain(key) {
        return None;
    }
    match value.as_str() {
        Some(text) if Json::parse(text).is_ok() => None,
        Some(text) if is_plain(text) => Some(format!("{key}={text}")),
        Some(text) => Some(format!("{key}='{}'", text.replace('\'', r"'\''"))),
        None => Some(format!("{key}={value}")),
    }
}

fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || "_-./:@%+,*".contains(c))
}
