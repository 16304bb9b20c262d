//! [`Unit`]: the parts of a conversation that become messages of a service.

use std::ops::Range;

use agent::WireToolSet;
use serde_json::{Map, Value, json};
use tools::protocol::wire::Format;
use tools::protocol::{Message, Part, Role};
use tools::{Content, ToolCall, ToolResult};

use crate::origin::{Origin, beside, item};

/// A part of a conversation that is written without regard to the others.
#[derive(Debug)]
pub(crate) enum Unit<'a> {
    System(String),
    /// Results and prompts, up to the next turn of the model.
    User {
        results: Vec<ResultShown<'a>>,
        content: Vec<Content>,
    },
    /// A turn of the model, with the parts of a paused one.
    Assistant(Vec<Said<'a>>),
}

/// The result of a call as the model is shown it.
#[derive(Debug)]
pub(crate) struct ResultShown<'a> {
    pub(crate) id: &'a str,
    /// The name of the tool on the wire.
    pub(crate) name: String,
    pub(crate) content: Vec<Content>,
    pub(crate) is_error: bool,
}

/// A part of the model's turn.
#[derive(Debug)]
pub(crate) enum Said<'a> {
    Text {
        text: String,
        beside: Option<&'a Map<String, Value>>,
    },
    Image {
        mime_type: &'a str,
        data: &'a str,
        beside: Option<&'a Map<String, Value>>,
    },
    /// A call with the names of the wire.
    Call {
        call: ToolCall,
        beside: Option<&'a Map<String, Value>>,
    },
    /// An item of the service, such as a thought.
    Item(&'a Value),
}

/// The rules by which a conversation is read for one model.
pub(crate) struct Reading<'a> {
    pub(crate) format: Format,
    /// The format whose places for the images of results the model has.
    pub(crate) placement: Format,
    pub(crate) origin: &'a Origin,
    /// False if the model cannot see images.
    pub(crate) images: bool,
    pub(crate) tools: &'a WireToolSet,
    /// Returns true if an item of the service is a thought, which is not sent alone.
    pub(crate) is_thought: fn(&Value) -> bool,
}

impl Reading<'_> {
    /// Returns the messages of each unit from a position on. A turn that says nothing is in none, because services refuse empty messages.
    pub(crate) fn units(&self, messages: &[Message], mut start: usize) -> Vec<Range<usize>> {
        let mut units: Vec<Range<usize>> = Vec::new();
        let mut is_user_open = false;
        for run in messages[start..].chunk_by(|first, next| speaker(first) == speaker(next)) {
            let end = start + run.len();
            match speaker(&run[0]) {
                Role::System => {
                    units.extend((start..end).map(|at| at..at + 1));
                    is_user_open = false;
                }
                // The user's unit stays open across such a turn: the results before it and the next prompt are one message.
                Role::Assistant if self.says_nothing(run) => {}
                Role::Assistant => {
                    units.push(start..end);
                    is_user_open = false;
                }
                _ => match units.last_mut().filter(|_| is_user_open) {
                    Some(unit) => unit.end = end,
                    None => {
                        units.push(start..end);
                        is_user_open = true;
                    }
                },
            }
            start = end;
        }
        units
    }

    /// Reads a unit.
    pub(crate) fn read<'a>(&self, messages: &'a [Message]) -> Unit<'a> {
        match speaker(&messages[0]) {
            Role::System => Unit::System(messages[0].to_text()),
            Role::Assistant => Unit::Assistant(self.collect_said(messages)),
            _ => self.user(messages),
        }
    }

    fn says_nothing(&self, turn: &[Message]) -> bool {
        !self.collect_said(turn).iter().any(|said| match said {
            Said::Item(item) => !(self.is_thought)(item),
            _ => true,
        })
    }

    fn collect_said<'a>(&self, turn: &'a [Message]) -> Vec<Said<'a>> {
        // Signatures mean something to the model alone that made them.
        // A service refuses the signatures and encrypted thoughts of another one.
        let is_own = self.origin.has_made(turn);
        let mut said = Vec::new();
        // The members that go with the next part.
        let mut members = None;
        for part in turn.iter().flat_map(|message| &message.parts) {
            let beside = match part {
                Part::Reasoning { opaque, .. } => {
                    members = beside(opaque).filter(|_| is_own);
                    if members.is_none() && is_own {
                        said.extend(item(opaque).map(Said::Item));
                    }
                    continue;
                }
                _ => members.take(),
            };
            said.extend(match part {
                // Anthropic refuses texts that are empty or white space.
                Part::Content(Content::Text { text }) if text.trim().is_empty() => None,
                Part::Content(Content::Text { text }) => Some(Said::Text {
                    text: text.clone(),
                    beside,
                }),
                Part::Content(Content::Image { data, mime_type }) if beside.is_some() => {
                    Some(Said::Image {
                        mime_type,
                        data,
                        beside,
                    })
                }
                Part::Content(content) => Some(Said::Text {
                    text: content.describe(),
                    beside,
                }),
                Part::ToolCall(call) => Some(self.call(call, beside)),
                _ => None,
            });
        }
        said
    }

    fn call<'a>(&self, call: &ToolCall, beside: Option<&'a Map<String, Value>>) -> Said<'a> {
        let mut call = self.tools.write_call(call);
        if !call.arguments.node().is_object() {
            // Those of a call that was not run. Services refuse them as they are, and often also in the text of OpenAI's formats.
            call.arguments = json!({"arguments": call.arguments.value()}).into();
        }
        if self.has_tools() {
            return Said::Call { call, beside };
        }
        Said::Text {
            text: format!("[called {} with {}]", call.name, call.arguments),
            beside: None,
        }
    }

    /// Returns true if the request has tools. Anthropic and others refuse calls in one without.
    fn has_tools(&self) -> bool {
        self.tools.list().len() > 0
    }

    fn user<'a>(&self, messages: &'a [Message]) -> Unit<'a> {
        let mut results = Vec::new();
        let mut content = Vec::new();
        let messages = messages.iter();
        for message in messages.filter(|message| message.role != Role::Assistant) {
            let mut following = Vec::new();
            for part in &message.parts {
                match part {
                    Part::Content(Content::Text { text }) if text.trim().is_empty() => {}
                    Part::Content(part) => content.push(self.show(part.clone())),
                    Part::ToolResult { id, name, result } => {
                        let tool = self.tools.name(name);
                        // A sentence is in the result, whereas formats put images behind all results and say so.
                        let unseen = (!self.images).then(|| without_images(result, &tool));
                        let result = unseen.as_ref().unwrap_or(result);
                        let mut shown = result.content.iter();
                        let has_image = shown.any(|it| matches!(it, Content::Image { .. }));
                        // Models of one format differ in where they take images of results, such as Gemini before version 3.
                        let format = if has_image {
                            self.placement
                        } else {
                            self.format
                        };
                        let shown = format.show_result(id, result);
                        let parts = shown.content.into_iter().map(|content| self.show(content));
                        let later = shown.following.into_iter();
                        following.extend(later.map(|content| self.show(content)));
                        // A request for a summary has no tools, and its conversation has calls.
                        if !self.has_tools() {
                            content.push(Content::text(format!("[the result of {name}]")));
                            content.extend(parts);
                            continue;
                        }
                        results.push(ResultShown {
                            id,
                            name: tool.into_owned(),
                            content: parts.collect(),
                            is_error: result.is_error,
                        });
                    }
                    _ => {}
                }
            }
            content.append(&mut following);
        }
        Unit::User { results, content }
    }

    /// Returns content that the model can be shown: a text, or an image with data.
    fn show(&self, content: Content) -> Content {
        match &content {
            Content::Text { .. } => content,
            Content::Image { .. } if !self.images => note_image(&content, "the user"),
            Content::Image { mime_type, .. } if IMAGES.contains(&mime_type.as_str()) => content,
            other => Content::text(other.describe()),
        }
    }
}

/// Returns a result with a sentence in the place of each image.
fn without_images(result: &ToolResult, tool: &str) -> ToolResult {
    let mut result = result.clone();
    for content in &mut result.content {
        *content = note_image(content, tool);
    }
    result
}

/// Returns the sentence for a model that cannot see an image, or other content as it is.
fn note_image(content: &Content, source: &str) -> Content {
    let Content::Image { data, mime_type } = content else {
        return content.clone();
    };
    let bytes = data.trim_end_matches('=').len() * 3 / 4;
    Content::text(format!(
        "[an image from {source}, which you cannot see because this model takes none: {mime_type}, {bytes} bytes]"
    ))
}

/// The types of images that services take.
const IMAGES: [&str; 6] = [
    "image/png",
    "image/jpeg",
    "image/gif",
    "image/webp",
    "image/heic",
    "image/heif",
];

/// Returns the role of a message. Results are the user's.
fn speaker(message: &Message) -> Role {
    match message.role {
        Role::Tool => Role::User,
        role => role,
    }
}

/// Returns the texts joined to one, if there is nothing else. Services that copy an API often take the list of texts for no text.
pub(crate) fn only_text(content: &[Content]) -> Option<String> {
    let texts: Option<Vec<_>> = content.iter().map(Content::as_text).collect();
    texts.map(|texts| texts.join("\n"))
}

/// Returns a value with the members beside it, which do not replace its own.
pub(crate) fn with(own: Value, beside: Option<&Map<String, Value>>) -> Value {
    let Value::Object(mut members) = own else {
        return own;
    };
    for (name, value) in beside.into_iter().flatten() {
        match (members.get_mut(name), value) {
            (Some(Value::Object(own)), Value::Object(more)) => {
                for (name, value) in more {
                    own.entry(name).or_insert_with(|| value.clone());
                }
            }
            // A stored session may hold anything beside a call. Its own members decide which tool runs, so they win.
            (Some(_), _) => {}
            (None, value) => drop(members.insert(name.clone(), value.clone())),
        }
    }
    members.into()
}
