//! [`Spread`]: messages that a server writes over several lines.

use serde::de::IgnoredAny;
use serde_json::Value;

use crate::client::message_limit::MAX_MESSAGE_BYTES;
use crate::client::reading::{read, refusal};
use crate::nesting::Nesting;

/// The lines so far of an object or a list that may be a message.
#[derive(Default)]
pub(super) struct Spread {
    lines: Vec<u8>,
    /// The place at their end. A string there has the end of a line as it is.
    nesting: Nesting,
    /// The error in place of the answer that the lines begin, if no more lines follow.
    error: Vec<String>,
}

impl Spread {
    /// Takes a line. Returns the messages that it has, or the one that it ends. `log` gets the lines that are no part of a message.
    pub(super) fn read(&mut self, line: &[u8], mut log: impl FnMut(&[u8])) -> Vec<String> {
        let mut messages = read(line, None);
        let begins = self.lines.is_empty();
        let may_begin = matches!(line.trim_ascii_start().first(), Some(b'{' | b'['));
        let mut nesting = self.nesting;
        let is_json = line.iter().all(|byte| nesting.push(*byte));
        if begins && may_begin && is_json && nesting.is_string {
            self.error = std::mem::take(&mut messages);
        }
        if !messages.is_empty() {
            let mut all = self.give_up(&mut log);
            all.append(&mut messages);
            return all;
        }
        if begins && !may_begin {
            log(line);
            return messages;
        }
        self.lines.extend_from_slice(line);
        self.lines.push(b'\n');
        match nesting {
            Nesting {
                depth: 0,
                is_string: false,
                ..
            } if is_json => {
                let messages = read(&join_lines(&self.lines), None);
                if messages.is_empty() {
                    return self.give_up(&mut log);
                }
                *self = Self::default();
                messages
            }
            nesting
                if is_json
                    && (!nesting.is_string || self.has_error())
                    && self.lines.len() < MAX_MESSAGE_BYTES =>
            {
                self.nesting = nesting;
                Vec::new()
            }
            _ => self.give_up(&mut log),
        }
    }

    /// Returns true if the lines begin an answer that may lack its end.
    pub(super) fn has_error(&self) -> bool {
        !self.error.is_empty()
    }

    /// Gives the lines to the log. Returns the error in place of the answer that they begin.
    pub(super) fn give_up(&mut self, mut log: impl FnMut(&[u8])) -> Vec<String> {
        let mut given_up = std::mem::take(self);
        if is_torn(&given_up.lines) && given_up.error.is_empty() {
            // Its id is unknown, so each open call without another answer gets the reason.
            let reason =
                "a line of the server that begins an answer is no JSON; the call may have run";
            given_up.error.push(refusal(&Value::Null, reason));
        }
        given_up
            .lines
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .for_each(&mut log);
        given_up.error
    }
}

/// Returns true if lines begin an answer that other output interrupted.
fn is_torn(lines: &[u8]) -> bool {
    let text = String::from_utf8_lossy(lines);
    text.trim_start().starts_with("{\"jsonrpc\"")
        && !text.contains("\"method\"")
        && serde_json::from_str::<IgnoredAny>(&text).is_err()
}

/// Returns the lines as one, as the parser of messages takes it. An end of a line in a string stays.
fn join_lines(lines: &[u8]) -> Vec<u8> {
    let mut nesting = Nesting::default();
    let joined = lines.iter().map(|byte| {
        nesting.push(*byte);
        match byte {
            b'\n' if !nesting.is_string => b' ',
            byte => *byte,
        }
    });
    joined.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MESSAGE: &str = r#"{"jsonrpc":"2.0","id":1,"result":{}}"#;

    fn read(text: &str) -> (Vec<String>, Vec<String>) {
        let (mut spread, mut log, mut messages) = (Spread::default(), Vec::new(), Vec::new());
        for line in text.lines() {
            let read = spread.read(line.as_bytes(), |line| {
                log.push(String::from_utf8_lossy(line).into_owned())
            });
            messages.extend(read);
        }
        (messages, log)
    }

    #[test]
    fn a_message_of_several_lines_is_read() {
        let value: serde_json::Value = serde_json::from_str(MESSAGE).unwrap();
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        let (messages, log) = read(&format!("start\n{pretty}\n{MESSAGE}\n{pretty}\nend"));
        assert!(
            messages.iter().all(|message| !message.contains('\n')),
            "{messages:?}"
        );
        let parsed = messages
            .iter()
            .map(|message| serde_json::from_str::<serde_json::Value>(message).unwrap());
        assert_eq!(
            (parsed.collect::<Vec<_>>(), log),
            (vec![value; 3], vec!["start".to_owned(), "end".to_owned()])
        );
    }

    #[test]
    fn an_answer_with_ends_of_lines_in_its_strings_is_read() {
        let (messages, log) = read(
            "start\n{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\":\"one\ntwo {\n\n\\\"three\"}}\nend",
        );
        let read: serde_json::Value = serde_json::from_str(&messages[0]).unwrap();
        assert_eq!(
            (messages.len(), &read["result"]["a"], log),
            (
                1,
                &"one\ntwo {\n\n\"three".into(),
                vec!["start".to_owned(), "end".to_owned()]
            )
        );
    }

    #[test]
    fn an_answer_that_is_cut_in_a_string_is_an_error_before_the_next_message() {
        let cut = r#"{"jsonrpc":"2.0","id":7,"result":{"a":"cut"#;
        let (messages, _) = read(&format!("{cut}\n{MESSAGE}"));
        let first: serde_json::Value = serde_json::from_str(&messages[0]).unwrap();
        assert_eq!(
            (&first["id"], &messages[1..]),
            (&7.into(), &[MESSAGE.to_owned()][..])
        );
        assert!(first["error"].is_object(), "{first}");
        let mut spread = Spread::default();
        assert!(spread.read(cut.as_bytes(), |_| ()).is_empty() && spread.has_error());
        assert_eq!(spread.give_up(|_| ()), messages[..1]);
    }

    #[test]
    fn an_answer_that_a_line_of_a_log_interrupts_is_an_error() {
        for (torn, id) in [
            (
                "{\"jsonrpc\": \"2.0\", \"WARN: x\nid\": 1, \"result\": {}}",
                Value::Null,
            ),
            (
                "{\"jsonrpc\": \"2.0\", WARN: x\n\"id\": 1, \"result\": {}}",
                1.into(),
            ),
        ] {
            let (messages, _) = read(&format!("{torn}\n{MESSAGE}"));
            let first: Value = serde_json::from_str(&messages[0]).unwrap();
            assert_eq!(
                (&first["id"], &messages[1..]),
                (&id, &[MESSAGE.to_owned()][..])
            );
            assert!(first["error"].is_object(), "{first}");
        }
        let (messages, _) = read("{\"jsonrpc\":\"2.0\",\"method\":\"x WARN\n{\"jsonrpc\":1}");
        assert!(messages.is_empty(), "{messages:?}");
    }

    #[test]
    fn lines_of_a_log_hide_no_message() {
        for log in [
            "{",
            "[info] {",
            "{\n  port: 1,\n  host: 'it",
            "{\n}",
            "[\n]\n}",
            "{\n\"a",
        ] {
            let (messages, logged) = read(&format!("{log}\n{MESSAGE}"));
            assert_eq!(messages, [MESSAGE], "{log}");
            assert_eq!(logged.join("\n"), log.trim_end());
        }
    }
}
