//! [`Grown`]: the conversations that were written for requests, which the next requests continue.
//!
//! A step of a run adds a turn and its results to a conversation of any length. Only these are written anew.

use std::hash::{BuildHasher, Hash, Hasher};
use std::ops::Range;
use std::sync::{Arc, Mutex};

use foldhash::quality::RandomState;
use serde::Serialize;
use tools::protocol::{Message, Part};
use tools::{Content, IgnorePoison as _, Json};

/// The most conversations that are kept: those of a session and its sub-agents.
const MOST: usize = 8;

/// The conversations that were written last, the newest at the end.
#[derive(Default)]
pub(crate) struct Grown {
    conversations: Mutex<Vec<Conversation>>,
    hasher: RandomState,
}

#[derive(Clone)]
struct Conversation {
    /// The definitions of the request. Other tools write calls in another way.
    definitions: Arc<str>,
    units: Vec<Arc<WrittenUnit>>,
}

/// A unit of a conversation as it was written.
pub(crate) struct WrittenUnit {
    /// The positions of its messages.
    messages: Range<usize>,
    seen: Seen,
    pub(crate) written: Written,
}

/// The text of a unit, and what it adds to the fields of a request.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Written {
    /// The messages as JSON.
    pub(crate) messages: Vec<Box<str>>,
    pub(crate) system: Option<String>,
    pub(crate) is_prompt: bool,
}

/// The content of messages, to recognise it.
#[derive(PartialEq)]
struct Seen {
    digest: u64,
    /// The arguments of the calls. Equal ones mostly share their memory, so that comparing them is cheap.
    arguments: Vec<Json>,
}

impl Grown {
    /// Returns a conversation as written units. `units` returns the units of the messages from a position on, and `write` writes one, after
    /// the given number of messages of the service.
    pub(crate) fn grow(
        &self,
        definitions: &Arc<str>,
        messages: &[Message],
        units: impl Fn(usize) -> Vec<Range<usize>>,
        write: impl Fn(&[Message], usize) -> Written,
    ) -> Vec<Arc<WrittenUnit>> {
        let mut known = self.take_known(definitions, messages);
        let start = known.last().map_or(0, |unit| unit.messages.end);
        let mut written: usize = known.iter().map(|unit| unit.written.messages.len()).sum();
        for range in units(start) {
            let unit = &messages[range.clone()];
            let unit = WrittenUnit {
                seen: self.fingerprint(unit),
                written: write(unit, written),
                messages: range,
            };
            written += unit.written.messages.len();
            known.push(Arc::new(unit));
        }
        let conversation = Conversation {
            definitions: definitions.clone(),
            units: known.clone(),
        };
        let mut conversations = self.conversations.lock().ignore_poison();
        conversations.push(conversation);
        if conversations.len() > MOST {
            // A session that was not used lately is written anew, which costs time and no bytes on the wire.
            conversations.remove(0);
        }
        known
    }

    /// Returns the units that the messages begin with, and forgets the conversation that has them. The last one may go on, so it is not
    /// among them.
    fn take_known(&self, definitions: &Arc<str>, messages: &[Message]) -> Vec<Arc<WrittenUnit>> {
        let mut conversations = self.conversations.lock().ignore_poison();
        let same_units = |conversation: &Conversation| {
            if conversation.definitions != *definitions {
                return 0;
            }
            let mut end = 0;
            let same = conversation.units.iter().take_while(|unit| {
                let is_next = std::mem::replace(&mut end, unit.messages.end) == unit.messages.start;
                let content = messages.get(unit.messages.clone());
                is_next && content.is_some_and(|content| self.fingerprint(content) == unit.seen)
            });
            same.count()
        };
        let best = conversations.iter().map(same_units).enumerate();
        let Some((at, count)) = best
            .max_by_key(|(_, count)| *count)
            // The last known unit is written again, so that one unit alone saves nothing.
            .filter(|(_, count)| *count > 1)
        else {
            return Vec::new();
        };
        let mut units = conversations.remove(at).units;
        units.truncate(count - 1);
        units
    }

    fn fingerprint(&self, messages: &[Message]) -> Seen {
        let mut hasher = self.hasher.build_hasher();
        let mut arguments = Vec::new();
        for message in messages {
            message.role.hash(&mut hasher);
            for part in &message.parts {
                match part {
                    Part::Content(Content::Text { text }) => text.hash(&mut hasher),
                    Part::ToolCall(call) => {
                        (&call.id, &call.name).hash(&mut hasher);
                        arguments.push(call.arguments.clone());
                    }
                    Part::ToolResult { id, name, result } => {
                        (id, name, result.is_error, result.content.len()).hash(&mut hasher);
                        for content in &result.content {
                            hash_content(content, &mut hasher);
                        }
                        arguments.extend(result.structured.clone());
                    }
                    other => hash_json(other, &mut hasher),
                }
            }
        }
        Seen {
            digest: hasher.finish(),
            arguments,
        }
    }
}

fn hash_content(content: &Content, hasher: &mut impl Hasher) {
    match content {
        Content::Text { text } => text.hash(hasher),
        Content::Image { data, mime_type } => (data, mime_type).hash(hasher),
        other => hash_json(other, hasher),
    }
}

fn hash_json(part: &impl Serialize, hasher: &mut impl Hasher) {
    // A part has no values that JSON cannot have.
    serde_json::to_string(part).unwrap_or_default().hash(hasher);
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use serde_json::json;
    use tools::ToolCall;
    use tools::protocol::Role;

    use super::*;

    fn message(role: Role, text: &str) -> Message {
        Message::text(role, text)
    }

    /// Returns the texts of a conversation, and the number of units that were written for it.
    fn continued(grown: &Grown, definitions: &str, messages: &[Message]) -> (Vec<String>, usize) {
        let count = AtomicUsize::new(0);
        let units = grown.grow(
            &definitions.into(),
            messages,
            |start| (start..messages.len()).map(|at| at..at + 1).collect(),
            |unit, written| {
                count.fetch_add(1, Ordering::Relaxed);
                let mut text = format!("{written}:{}", unit[0].to_text());
                unit[0]
                    .calls()
                    .for_each(|call| text += &call.arguments.to_string());
                Written {
                    messages: vec![text.into()],
                    ..Written::default()
                }
            },
        );
        let texts = units.iter().flat_map(|unit| &unit.written.messages);
        (
            texts.map(|text| text.to_string()).collect(),
            count.into_inner(),
        )
    }

    #[test]
    fn only_the_end_of_a_conversation_is_written_again() {
        let grown = Grown::default();
        let mut messages = vec![
            message(Role::User, "a"),
            message(Role::Assistant, "b"),
            message(Role::User, "c"),
        ];
        assert_eq!(continued(&grown, "d", &messages).1, 3);
        messages.push(message(Role::Assistant, "e"));
        let (texts, count) = continued(&grown, "d", &messages);
        assert_eq!(
            (texts, count),
            (
                vec!["0:a".into(), "1:b".into(), "2:c".into(), "3:e".into()],
                2
            )
        );
        assert_eq!(continued(&grown, "other", &messages).1, 4, "other tools");
        assert_eq!(continued(&grown, "d", &messages).1, 1);
    }

    #[test]
    fn a_changed_message_is_written_again_with_all_after_it() {
        let grown = Grown::default();
        let call = |path: &str| Message {
            role: Role::Assistant,
            parts: vec![Part::ToolCall(ToolCall::new(
                "1",
                "x",
                json!({"path": path}),
            ))],
        };
        let messages = |path: &str| {
            [
                message(Role::User, "a"),
                message(Role::User, "b"),
                call(path),
                message(Role::User, "c"),
            ]
        };
        let text = |path: &str| format!("2:{{\"path\":\"{path}\"}}");
        for path in ["one", "two", "two"] {
            let (texts, _) = continued(&grown, "d", &messages(path));
            assert_eq!((texts.len(), &texts[2]), (4, &text(path)));
        }
    }

    #[test]
    fn the_conversations_of_sub_agents_do_not_replace_each_other() {
        let grown = Grown::default();
        let of = |name: &str, length: usize| -> Vec<_> {
            (0..length)
                .map(|number| message(Role::User, &format!("{name} {number}")))
                .collect()
        };
        for length in 3..6 {
            for name in ["one", "two"] {
                let (_, count) = continued(&grown, "d", &of(name, length));
                assert_eq!(count, if length == 3 { 3 } else { 2 }, "{name} {length}");
            }
        }
        (0..20).for_each(|number| drop(continued(&grown, "d", &of(&number.to_string(), 3))));
        assert_eq!(grown.conversations.lock().unwrap().len(), MOST);
    }

    #[test]
    fn a_message_that_said_nothing_is_written_once_it_says_something() {
        let grown = Grown::default();
        let mut messages = ["a", "", "b", "c"].map(|text| message(Role::User, text));
        let texts = |messages: &[Message]| {
            let units = grown.grow(
                &"d".into(),
                messages,
                |start| {
                    let says = |at: &usize| !messages[*at].to_text().is_empty();
                    (start..messages.len())
                        .filter(says)
                        .map(|at| at..at + 1)
                        .collect()
                },
                |unit, _| Written {
                    messages: vec![unit[0].to_text().into()],
                    ..Written::default()
                },
            );
            units
                .iter()
                .map(|unit| unit.written.messages[0].to_string())
                .collect::<String>()
        };
        assert_eq!(texts(&messages), "abc");
        messages[1] = message(Role::User, "now");
        assert_eq!(texts(&messages), "anowbc");
    }
}
