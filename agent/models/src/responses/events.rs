//! Reads the events of the Responses API, and whole responses.

use std::borrow::Cow;

use serde_json::{Map, Value, json};

use crate::arguments::{NAMES, find_arguments};
use crate::broken::Broken;
use crate::raw::{Fields, Raw};
use crate::turn::{Kind, ReadReply, TurnBuilder, usage};

/// The type of a part of a message.
const OUTPUT_TEXT: &str = "output_text";

/// The first place of items whose own one is taken.
const FREE_PLACES: u64 = 1 << 20;

/// The calls that a client would have to run, and for which it has no tool.
const CLIENT_RUN: [&str; 6] = [
    "computer_call",
    "local_shell_call",
    "shell_call",
    "apply_patch_call",
    "mcp_approval_request",
    "custom_tool_call",
];

/// The state of a reply. Some services leave out places and ids, give two items one place, or state arguments at their end alone.
#[derive(Default)]
pub(crate) struct Events {
    items: Vec<Item>,
}

struct Item {
    /// The position in the turn.
    at: usize,
    sort: Sort,
    id: Option<String>,
    index: Option<u64>,
    is_open: bool,
    /// True if the end of the response has stated the item again.
    is_restated: bool,
    /// The member of a thought that is streamed, and the part of it.
    part: Option<(&'static str, u64)>,
    /// The place in the text where this part begins.
    start: usize,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sort {
    Message,
    Thought,
    Call,
    Other,
}

impl Sort {
    fn of(item: &Fields<'_>) -> Self {
        match item.get("type").text().as_deref() {
            Some("message") => Self::Message,
            Some("reasoning") => Self::Thought,
            Some("function_call") => Self::Call,
            _ => Self::Other,
        }
    }
}

impl ReadReply for Events {
    fn read(&mut self, event: Fields<'_>, turn: &mut TurnBuilder<'_>) -> Result<(), Broken> {
        let kind = event.get("type").text().unwrap_or_default();
        let Some(kind) = kind.strip_prefix("response.") else {
            if kind == "error" {
                return Err(Broken::Reported(Value::from(event.to_map()).to_string()));
            }
            let members = ["output", "status", "object"];
            if !event.first(&members).is_null() {
                self.read_response(&event, None, turn);
            }
            return Ok(());
        };
        match kind {
            "output_item.added" => {
                let item = event.get("item");
                if item.is_object() {
                    let item = item.fields();
                    self.open(&event, &item, Sort::of(&item), turn);
                }
            }
            "output_item.done" => {
                let item = event.get("item");
                if item.is_object() {
                    let item = item.fields();
                    let sort = Sort::of(&item);
                    let position = self.position(&event, sort);
                    let position = position.unwrap_or_else(|| self.open(&event, &item, sort, turn));
                    self.close(position, &item, turn);
                }
            }
            "completed" | "incomplete" => {
                let status = (kind == "incomplete").then_some("incomplete");
                self.read_response(&event.get("response").fields(), status, turn);
            }
            "failed" => {
                let response = event.get("response").value();
                // The error is in the response, where the reader of errors looks for it in whole replies too.
                return Err(Broken::Reported(json!({"response": response}).to_string()));
            }
            _ => {
                if let Some((stem, end @ ("delta" | "done"))) = kind.rsplit_once('.') {
                    self.write(&event, stem, end == "done", turn);
                }
            }
        }
        Ok(())
    }
}

impl Events {
    /// Returns the item of this sort that an event is about: by its id, or else by its place, or else the open one.
    fn position(&self, event: &Fields<'_>, sort: Sort) -> Option<usize> {
        let ids = [event.get("item_id"), event.get("item").get("id")];
        let id = ids.into_iter().find_map(Raw::into_text);
        let index = event.get("output_index").number();
        let find = |is_it: &dyn Fn(&Item) -> bool| self.items.iter().rposition(is_it);
        // The id goes first, because some services give two items one place.
        let named = id.and_then(|id| find(&|item| item.id.as_ref() == Some(&id)));
        let found = named.or_else(|| match index {
            Some(_) => find(&|item| item.index == index),
            None => find(&|item| item.is_open && item.sort == sort),
        });
        found.filter(|position| self.items[*position].sort == sort)
    }

    /// Adds an item. Returns its position.
    fn open(
        &mut self,
        event: &Fields<'_>,
        item: &Fields<'_>,
        sort: Sort,
        turn: &mut TurnBuilder<'_>,
    ) -> usize {
        let text = |name: &str| item.get(name).text().unwrap_or_default().into_owned();
        let kind = match sort {
            Sort::Message => Kind::Text,
            Sort::Thought => Kind::Thought,
            Sort::Call => Kind::Call {
                id: text("call_id"),
                name: text("name"),
            },
            Sort::Other => Kind::Opaque,
        };
        let at = turn.open(kind);
        let index = event.get("output_index").number();
        let is_taken = self.items.iter().any(|other| other.index == index);
        let block = turn.block(at);
        block.place = index
            .filter(|_| !is_taken)
            .unwrap_or(FREE_PLACES + self.items.len() as u64);
        if sort == Sort::Call {
            block.text = text_of(item, sort);
        }
        self.items.push(Item {
            at,
            sort,
            id: item.get("id").into_text(),
            index,
            is_open: true,
            is_restated: false,
            part: None,
            start: 0,
        });
        self.items.len() - 1
    }

    /// Adds a fragment to its item, or at the end of a text the rest of it.
    fn write(
        &mut self,
        event: &Fields<'_>,
        stem: &str,
        is_whole: bool,
        turn: &mut TurnBuilder<'_>,
    ) {
        let (sort, part, whole) = match stem {
            "output_text" => (Sort::Message, "content_index", "text"),
            "refusal" => (Sort::Message, "content_index", "refusal"),
            "reasoning_summary_text" => (Sort::Thought, "summary_index", "text"),
            "reasoning_text" => (Sort::Thought, "content_index", "text"),
            "function_call_arguments" => (Sort::Call, "content_index", "arguments"),
            _ => return,
        };
        turn.is_refusal |= stem == "refusal";
        let member = if is_whole { whole } else { "delta" };
        let text = event.get(member).text().unwrap_or_default();
        if text.is_empty() {
            return;
        }
        let position = match self.position(event, sort) {
            Some(position) => position,
            // The end of a call states its arguments.
            None if sort == Sort::Call => return,
            None => self.open(event, &Fields::default(), sort, turn),
        };
        let item = &mut self.items[position];
        let number = event.get(part).number().unwrap_or_default();
        let known = *item.part.get_or_insert((part, number));
        // A thought and its summary are not both read.
        if !item.is_open || (sort == Sort::Thought && known.0 != part) {
            return;
        }
        if known.1 != number {
            if is_whole && number < known.1 {
                return;
            }
            if sort == Sort::Thought {
                turn.push(item.at, "\n\n");
            }
            item.part = Some((part, number));
            item.start = turn.block(item.at).text.len();
        }
        let sent = if is_whole {
            &turn.block(item.at).text[item.start..]
        } else {
            ""
        };
        if let Some(rest) = text.strip_prefix(sent) {
            turn.push(item.at, rest);
        }
    }

    /// Ends an item, whose last statement counts.
    fn close(&mut self, position: usize, item: &Fields<'_>, turn: &mut TurnBuilder<'_>) {
        let closed = &mut self.items[position];
        // An item that has ended is complete. Its text would be added and sent again.
        if !std::mem::replace(&mut closed.is_open, false) {
            return;
        }
        let at = closed.at;
        let sort = closed.sort;
        let stated = text_of(item, sort);
        let streamed = turn.block(at).text.clone();
        match stated.strip_prefix(&streamed) {
            // What was sent stays sent.
            Some(rest) if sort == Sort::Message => turn.push(at, rest),
            _ if stated.is_empty() => {}
            _ => turn.block(at).text = stated,
        }
        turn.block(at).item = match sort {
            Sort::Call => {
                if let Kind::Call { id, name } = &mut turn.block(at).kind {
                    for (known, member) in [(id, "call_id"), (name, "name")] {
                        let stated = item.get(member).into_text();
                        *known = stated.unwrap_or(std::mem::take(known));
                    }
                }
                let mut rest = item.without(&NAMES);
                rest.retain(|name, _| name != "call_id" && name != "name");
                rest
            }
            Sort::Message => message_members(item, turn),
            Sort::Thought => item.to_map(),
            Sort::Other => {
                let kind = item.get("type").text().unwrap_or_default();
                // Sent back without a result, such a call would make the service refuse each later request.
                if CLIENT_RUN.contains(&&*kind) {
                    Map::new()
                } else {
                    item.to_map()
                }
            }
        };
    }

    fn read_response(
        &mut self,
        response: &Fields<'_>,
        status: Option<&str>,
        turn: &mut TurnBuilder<'_>,
    ) {
        let thought = response.get("reasoning").words();
        if let Some(thought) = thought.filter(|_| self.items.is_empty()) {
            turn.prepend(Kind::Thought, thought.into_owned(), Map::new());
        }
        for (index, item) in (0..).zip(response.get("output").elements()) {
            let item = item.fields();
            let sort = Sort::of(&item);
            let position = self
                .find_restated(index, &item, sort)
                .unwrap_or_else(|| self.open(&Fields::default(), &item, sort, turn));
            self.items[position].is_restated = true;
            let known = &self.items[position];
            if known.is_open {
                self.close(position, &item, turn);
            } else if known.sort == Sort::Thought {
                // Some services seal a thought at the end of the response alone.
                let sealed = item.get("encrypted_content");
                let members = &mut turn.block(known.at).item;
                let known = members.get("encrypted_content").and_then(Value::as_str);
                if sealed.words().is_some() && known.is_none_or(str::is_empty) {
                    members.insert("encrypted_content".to_owned(), sealed.value());
                }
            }
        }
        let stated = response.get("status").words();
        let status = status.or(stated.as_deref()).unwrap_or("completed");
        let reason = response.get("incomplete_details").get("reason").words();
        turn.end = Some(match (status, reason) {
            ("incomplete", Some(reason))
                if ["max_output_tokens", "content_filter"].contains(&&*reason) =>
            {
                reason.into_owned()
            }
            ("incomplete", Some(reason)) => format!("incomplete: {reason}"),
            _ => status.to_owned(),
        });
        let counts = response.get("usage").fields();
        let details = counts.get("input_tokens_details").fields();
        turn.usage = usage(
            counts.get("input_tokens"),
            counts.get("output_tokens"),
            details.get("cached_tokens"),
            details.get("cache_write_tokens"),
        );
        turn.response_id = response.get("id").into_text();
        turn.model = response.get("model").into_text();
        turn.has_ended = true;
        turn.is_over = true;
    }

    /// Returns the item that the end of a response states again: by its id, or else by its place, or else one without an id.
    fn find_restated(&self, index: u64, item: &Fields<'_>, sort: Sort) -> Option<usize> {
        let id = item.get("id").into_text();
        let find = |is_same: &dyn Fn(&Item) -> bool| {
            let mut items = self.items.iter();
            items.position(|item| !item.is_restated && item.sort == sort && is_same(item))
        };
        find(&|item| id.is_some() && item.id == id)
            .or_else(|| find(&|item| item.index == Some(index)))
            // An item without an id may be the same one; an item with another id is not.
            .or_else(|| find(&|item| id.is_none() || item.id.is_none()))
    }
}

/// Returns the members of a message that its text does not have. Marks a refusal.
fn message_members(item: &Fields<'_>, turn: &mut TurnBuilder<'_>) -> Map<String, Value> {
    let mut members = item.to_map();
    let parts = members.get_mut("content").and_then(Value::as_array_mut);
    let parts = parts.map(Vec::as_mut_slice).unwrap_or_default();
    turn.is_refusal |= parts.iter().any(|part| part["type"] == "refusal");
    match parts {
        [Value::Object(part)] if part.get("type").is_some_and(|kind| kind == OUTPUT_TEXT) => {
            part.remove("text");
        }
        _ => drop(members.remove("content")),
    }
    members
}

/// Returns the text of a message or a thought, or the arguments of a call.
fn text_of(item: &Fields<'_>, sort: Sort) -> String {
    let texts = |name: &str| -> Vec<_> {
        let value = item.get(name);
        let parts = value.elements().into_iter();
        parts
            .filter_map(|part| {
                let fields = part.fields();
                part.text()
                    .or_else(|| fields.first(&["text", "refusal"]).text())
                    .map(Cow::into_owned)
            })
            .chain(value.text().map(Cow::into_owned))
            .collect()
    };
    match sort {
        Sort::Message => texts("content").concat(),
        Sort::Thought => {
            let summary = texts("summary");
            let thoughts = if summary.is_empty() {
                texts("content")
            } else {
                summary
            };
            thoughts.join("\n\n")
        }
        Sort::Call => {
            let arguments = find_arguments(item, "arguments");
            match arguments.text() {
                Some(text) => text.into_owned(),
                None if arguments.is_null() => String::new(),
                None => arguments.json().to_owned(),
            }
        }
        Sort::Other => String::new(),
    }
}
