//! [`Spread`]: messages that a server writes over several lines.

use crate::client::message_limit::MAX_MESSAGE_BYTES;
use crate::client::reading::read;

/// The lines so far of an object or a list that may be a message.
#[derive(Default)]
pub(super) struct Spread {
    lines: Vec<u8>,
    /// The objects and lists that are open.
    depth: usize,
}

impl Spread {
    /// Takes a line. Returns the messages that it has, or the one that it ends. `log` gets the lines that are no part of a message.
    pub(super) fn read(&mut self, line: &[u8], mut log: impl FnMut(&[u8])) -> Vec<String> {
        let messages = read(line, None);
        if !messages.is_empty() {
            self.give_up(&mut log);
            return messages;
        }
        let may_begin = matches!(line.trim_ascii_start().first(), Some(b'{' | b'['));
        if self.lines.is_empty() && !may_begin {
            log(line);
            return messages;
        }
        let depth = depth(line, self.depth);
        self.lines.extend_from_slice(line);
        self.lines.push(b'\n');
        match depth {
            Some(depth) if depth > 0 && self.lines.len() < MAX_MESSAGE_BYTES => {
                self.depth = depth;
                Vec::new()
            }
            Some(0) => {
                // A message is one line for its parser, and strings of JSON have no ends of lines.
                let line = self
                    .lines
                    .iter()
                    .map(|byte| if *byte == b'\n' { b' ' } else { *byte });
                let messages = read(&line.collect::<Vec<_>>(), None);
                if messages.is_empty() {
                    self.give_up(&mut log)
                } else {
                    *self = Self::default()
                }
                messages
            }
            _ => {
                self.give_up(&mut log);
                Vec::new()
            }
        }
    }

    /// Gives the lines to the log.
    fn give_up(&mut self, log: &mut impl FnMut(&[u8])) {
        let lines = std::mem::take(self).lines;
        lines
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.is_empty())
            .for_each(log);
    }
}

/// Returns the number of objects and lists that are open after a line. Returns `None` if it cannot be a line of JSON.
fn depth(line: &[u8], mut depth: usize) -> Option<usize> {
    let (mut is_string, mut is_escaped) = (false, false);
    for byte in line {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if is_string => is_escaped = true,
            b'"' => is_string = !is_string,
            b'[' | b'{' if !is_string => depth += 1,
            b']' | b'}' if !is_string => depth = depth.checked_sub(1)?,
            _ => {}
        }
    }
    (!is_string).then_some(depth)
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
