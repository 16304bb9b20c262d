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
    conversations: Mutex<Vec<Arc<WrittenConversation>>>,
    hasher: RandomState,
}

/// A conversation as it was written.
#[derive(Clone)]
pub(crate) struct WrittenConversation {
    /// The definitions of the request. Other tools write calls in another way.
    definitions: Arc<str>,
    // A run keeps two units for each step, so they are in one piece of memory, and each has its messages in one text.
    units: Vec<WrittenUnit>,
}

/// A unit of a conversation as it was written.
#[derive(Clone)]
struct WrittenUnit {
    /// The end of its messages, which begin at that of the unit before.
    end: usize,
    /// A digest of the messages but for their arguments.
    digest: u64,
    /// The arguments of the calls. Equal ones mostly share their memory, so that comparing them is cheap.
    arguments: Box<[Json]>,
    written: Written,
}

/// The text of a unit.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Written {
    /// The text of a field beside the messages.
    System(Box<str>),
    /// Messages of the user, as elements of a list in JSON. May be empty.
    User(Box<str>),
    /// Other messages, as elements of a list in JSON. May be empty.
    Other(Box<str>),
}

impl WrittenConversation {
    /// Returns the messages as elements of a list in JSON.
    pub(crate) fn messages(&self) -> impl Iterator<Item = &str> + Clone {
        let texts = self.units.iter().filter_map(|unit| match &unit.written {
            Written::User(text) | Written::Other(text) => Some(&**text),
            Written::System(_) => None,
        });
        texts.filter(|text| !text.is_empty())
    }

    /// Returns the texts of the field beside the messages.
    pub(crate) fn system(&self) -> impl Iterator<Item = &str> {
        self.units.iter().filter_map(|unit| match &unit.written {
            Written::System(text) => Some(&**text),
            _ => None,
        })
    }

    /// Returns true if the user has said anything.
    pub(crate) fn has_prompt(&self) -> bool {
        let mut units = self.units.iter();
        units.any(|unit| matches!(unit.written, Written::User(_)))
    }

    fn end(&self) -> usize {
        self.units.last().map_or(0, |unit| unit.end)
    }
}

impl Grown {
    /// Returns a conversation as it is written. `units` returns the units of the messages from a position on, and `write` writes one, with
    /// true if no message of the service precedes it.
    pub(crate) fn grow(
        &self,
        definitions: &Arc<str>,
        messages: &[Message],
        units: impl Fn(usize) -> Vec<Range<usize>>,
        write: impl Fn(&[Message], bool) -> Written,
    ) -> Arc<WrittenConversation> {
        let mut conversation = WrittenConversation {
            definitions: definitions.clone(),
            units: self.take_known(definitions, messages),
        };
        for range in units(conversation.end()) {
            // Messages that say nothing are before a unit and belong to it, because they may say something later.
            let content = &messages[conversation.end()..range.end];
            let unit = WrittenUnit {
                end: range.end,
                digest: self.digest(content),
                arguments: arguments_of(content).cloned().collect(),
                written: write(&messages[range], conversation.messages().next().is_none()),
            };
            conversation.units.push(unit);
        }
        let conversation = Arc::new(conversation);
        let mut conversations = self.conversations.lock().ignore_poison();
        conversations.push(conversation.clone());
        if conversations.len() > MOST {
            // A session that was not used lately is written anew, which costs time and no bytes on the wire.
            conversations.remove(0);
        }
        conversation
    }

    /// Returns the units that the messages begin with, and forgets the conversation that has them. The last one may go on, so it is not
    /// among them.
    fn take_known(&self, definitions: &Arc<str>, messages: &[Message]) -> Vec<WrittenUnit> {
        let mut conversations = self.conversations.lock().ignore_poison();
        let same_units = |conversation: &Arc<WrittenConversation>| {
            if conversation.definitions != *definitions {
                return 0;
            }
            let mut start = 0;
            let same = conversation.units.iter().take_while(|unit| {
                let content = messages.get(start..unit.end);
                start = unit.end;
                content.is_some_and(|content| {
                    self.digest(content) == unit.digest && arguments_of(content).eq(&unit.arguments)
                })
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
        let mut units = Arc::unwrap_or_clone(conversations.remove(at)).units;
        units.truncate(count - 1);
        units
    }

    fn digest(&self, messages: &[Message]) -> u64 {
        let mut hasher = self.hasher.build_hasher();
        for message in messages {
            message.role.hash(&mut hasher);
            for part in &message.parts {
                match part {
                    Part::Content(Content::Text { text }) => text.hash(&mut hasher),
                    Part::ToolCall(call) => (&call.id, &call.name).hash(&mut hasher),
                    Part::ToolResult { id, name, result } => {
                        (id, name, result.is_error, result.content.len()).hash(&mut hasher);
                        for content in &result.content {
                            hash_content(content, &mut hasher);
                        }
                    }
                    other => hash_json(other, &mut hasher),
                }
            }
        }
        hasher.finish()
    }
}

/// Returns the arguments and the structured results, which have no part in the digest.
fn arguments_of(messages: &[Message]) -> impl Iterator<Item = &Json> {
    let parts = messages.iter().flat_map(|message| &message.parts);
    parts.filter_map(|part| match part {
        Part::ToolCall(call) => Some(&call.arguments),
        Part::ToolResult { result, .. } => result.structured.as_ref(),
        _ => None,
    })
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
        let conversation = grown.grow(
            &definitions.into(),
            messages,
            |start| (start..messages.len()).map(|at| at..at + 1).collect(),
            |unit, is_first| {
                count.fetch_add(1, Ordering::Relaxed);
                let mut text = unit[0].to_text();
                if is_first {
                    text += " first";
                }
                unit[0]
                    .calls()
                    .for_each(|call| text += &call.arguments.to_string());
                Written::User(text.into())
            },
        );
        let texts = conversation.messages().map(str::to_owned);
        (texts.collect(), count.into_inner())
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
            (["a first", "b", "c", "e"].map(str::to_owned).into(), 2)
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
        let text = |path: &str| format!("{{\"path\":\"{path}\"}}");
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
            let conversation = grown.grow(
                &"d".into(),
                messages,
                |start| {
                    let says = |at: &usize| !messages[*at].to_text().is_empty();
                    (start..messages.len())
                        .filter(says)
                        .map(|at| at..at + 1)
                        .collect()
                },
                |unit, _| Written::User(unit[0].to_text().into()),
            );
            conversation.messages().collect::<String>()
        };
        assert_eq!(texts(&messages), "abc");
        messages[1] = message(Role::User, "now");
        assert_eq!(texts(&messages), "anowbc");
    }
}
