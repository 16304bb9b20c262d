//! [`Direct`]: a provider without a model.

use std::future::ready;
use std::sync::Arc;

use serde_json::Value;
use tools::protocol::{Message, Part, ResourceContents, Role};
use tools::{Content, ToolCall, ToolResult, join, source};

use super::error::CALLS;
use super::prompt::{self, ParsedArguments, ParsedCall};
use super::{Provider, ProviderError, ProviderInfo, ProviderSubmission, Request, Turn, TurnFuture};
use crate::argument::arguments_from_pairs;
use crate::tool_set::ToolSet;

/// A provider without a model: the prompt is the tool calls, as in `fs.list path=. ; time.now zone=UTC`.
///
/// The first turn makes all the calls. The second turn answers with their results.
///
/// A call is a tool name followed by `key=value` pairs or by one JSON object. Values are typed by the tool's schema, and
/// quoted and escaped as in a shell. JSON arrays and objects need no quotes. `;` separates calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct Direct;

impl Direct {
    /// A prompt that it takes.
    pub const EXAMPLE: &'static str = CALLS;

    /// Returns a prompt that makes these calls. It parses back to them if the arguments match the tools' schemas.
    ///
    /// ```
    /// use serde_json::json;
    /// use tools::ToolCall;
    ///
    /// let call = ToolCall::new("1", "fs.read", json!({"path": "my notes.md", "first": 3}));
    /// assert_eq!(agent::Direct::prompt(&[call]), "fs.read first=3 path='my notes.md'");
    /// ```
    pub fn prompt(calls: &[ToolCall]) -> String {
        prompt::render(calls)
    }

    /// Returns the results since the last user message, formatted as in the answer. Returns `None` if there are none.
    ///
    /// Use it for a run that ended at its step limit before the answer.
    pub fn results(messages: &[Message], tools: &ToolSet) -> Option<String> {
        let mut all = messages.iter();
        let prompt = all.rposition(|message| message.role == Role::User)?;
        let since = &messages[prompt + 1..];
        let results = since.iter().flat_map(|message| &message.parts);
        let results: Vec<_> = results.filter_map(result_of).collect();
        (!results.is_empty()).then(|| answer(messages, &results, tools))
    }
}

inventory::submit! {
    ProviderSubmission {
        name: "direct",
        description: "no model: the prompt is the tool calls",
        source: source!(),
        service: |_| None,
        create: |_| Ok(Arc::new(Direct)),
    }
}

impl Provider for Direct {
    fn about(&self) -> &ProviderInfo {
        static DIRECT: ProviderInfo = ProviderInfo::unmetered("direct").without_images();
        &DIRECT
    }

    fn check(&self, request: Request<'_>) -> Result<(), ProviderError> {
        // A prompt that is refused each time is not recorded, so that no session to resume is left.
        turn(request).map(drop)
    }

    fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a> {
        Box::pin(ready(turn(request)))
    }
}

fn turn(request: Request<'_>) -> Result<Turn, ProviderError> {
    let messages = request.messages;
    let prompt = messages
        .iter()
        .rposition(|message| message.role == Role::User)
        .ok_or(ProviderError::NoPrompt)?;
    if let Some(results) = Direct::results(messages, request.tools) {
        return Ok(Turn::answer(results));
    }
    // Ids of earlier prompts are not reused.
    let first = messages.iter().flat_map(Message::calls).count() + 1;
    // Notes of the host follow the prompt.
    let typed_text = messages[prompt].parts.iter().find_map(|part| match part {
        Part::Content(content) => content.as_text(),
        _ => None,
    });
    let typed_text = typed_text.unwrap_or_default();
    let parsed =
        prompt::parse(typed_text).map_err(|error| explain(error, typed_text, request.tools))?;
    let calls = parsed
        .into_iter()
        .zip(first..)
        .map(|(call, number)| type_call(call, number, request.tools));
    Ok(Turn::calls(calls.collect::<Result<Vec<_>, _>>()?))
}

/// Returns the error of a prompt. For one that begins with no tool, such as a question, a fault behind its first word says nothing.
fn explain(error: ProviderError, prompt: &str, tools: &ToolSet) -> ProviderError {
    match prompt.split_whitespace().next() {
        Some(word) if word.starts_with(char::is_alphabetic) && tools.get(word).is_err() => {
            ProviderError::Prompt {
                position: 1,
                reason: format!("`{word}` is no tool of the session"),
            }
        }
        _ => error,
    }
}

fn type_call(call: ParsedCall, number: usize, tools: &ToolSet) -> Result<ToolCall, ProviderError> {
    let ParsedCall { name, arguments } = call;
    let arguments = match arguments {
        ParsedArguments::Object(object) => object,
        ParsedArguments::Pairs(pairs) => {
            // An unknown tool has no schema. The call itself reports it.
            let entry = tools.get(&name).ok();
            let schema = entry
                .as_ref()
                .map_or(&Value::Null, |entry| &entry.tool().parameters);
            arguments_from_pairs(schema, pairs).map_err(|source| ProviderError::Arguments {
                tool: name.clone(),
                source,
            })?
        }
    };
    Ok(ToolCall::new(format!("call_{number}"), name, arguments))
}

fn result_of(part: &Part) -> Option<(&str, &ToolResult)> {
    match part {
        Part::ToolResult { id, result, .. } => Some((id, result)),
        _ => None,
    }
}

/// Returns the texts of the results. Several results each have their call as a heading.
fn answer(messages: &[Message], results: &[(&str, &ToolResult)], tools: &ToolSet) -> String {
    // A single result is printed alone, so that a program can read it.
    if let [(_, result)] = results {
        return render_result(result);
    }
    let headed = results.iter().map(|(id, result)| {
        let mut calls = messages.iter().rev().flat_map(Message::calls);
        let call = calls.find(|call| call.id == *id);
        let call = call.map(|call| ToolCall {
            arguments: tools.masked_arguments(call),
            ..call.clone()
        });
        format!(
            "# {}\n{}",
            prompt::render(call.as_slice()),
            render_result(result)
        )
    });
    join(headed, "\n\n")
}

fn render_result(result: &ToolResult) -> String {
    join(result.content.iter().map(render_content), "\n")
}

/// Returns text unchanged, and a description of any other content.
fn render_content(content: &Content) -> String {
    match content {
        Content::Text { text }
        | Content::Resource {
            resource: ResourceContents::Text { text, .. },
        } => text.clone(),
        Content::Image { data, mime_type } => {
            format!("[picture: {mime_type}, {} bytes of base64]", data.len())
        }
        Content::Audio { data, mime_type } => {
            format!("[recording: {mime_type}, {} bytes of base64]", data.len())
        }
        Content::ResourceLink { uri, name, .. } => format!("[link to {name}: {uri}]"),
        Content::Resource {
            resource: ResourceContents::Blob { uri, blob, .. },
        } => {
            format!("[file {uri}: {} bytes of base64]", blob.len())
        }
        _ => "[content that cannot be shown]".to_owned(),
    }
}
