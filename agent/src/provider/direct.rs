//! [`Direct`]: the provider that needs no model.

use std::future::ready;
use std::sync::Arc;

use serde_json::Value;
use tools::protocol::{Message, Part, ResourceContents, Role};
use tools::{Content, ToolCall, ToolResult, source};

use super::prompt::{self, WrittenArguments, WrittenCall};
use super::{Provider, ProviderError, ProviderSubmission, Request, Turn, TurnFuture};
use crate::{ToolSet, arguments_from_pairs};

/// Takes the prompt for tool calls, as in `fs.list path=. ; time.now zone=UTC`: all of them are one turn's calls, and the
/// next turn is an answer made of the results.
///
/// A call is a name and either `key=value` pairs, typed by the tool's schema, or one JSON object. Values are quoted and
/// escaped as in a shell; JSON arrays and objects need no quotes. `;` separates calls.
#[derive(Clone, Copy, Debug, Default)]
pub struct Direct;

impl Direct {
    /// The prompt that asks for these calls, where their arguments fit the tools' schemas.
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

    /// The results of the calls that the last prompt asked for, as the answer has them; `None` where there are none. For a run
    /// whose steps were used up before its answer.
    pub fn results(messages: &[Message], tools: &ToolSet) -> Option<String> {
        let prompt = messages.iter().rposition(|message| message.role == Role::User)?;
        let since = &messages[prompt + 1..];
        let results: Vec<_> = since.iter().flat_map(|message| &message.parts).filter_map(result_of).collect();
        (!results.is_empty()).then(|| answer(messages, &results, tools))
    }
}

inventory::submit! {
    ProviderSubmission {
        name: "direct",
        description: "no model: the prompt is the tool calls",
        source: source!(),
        create: |_| Ok(Arc::new(Direct)),
    }
}

impl Provider for Direct {
    fn name(&self) -> &str {
        "direct"
    }

    fn complete<'a>(&'a self, request: Request<'a>) -> TurnFuture<'a> {
        Box::pin(ready(turn(request)))
    }
}

fn turn(request: Request<'_>) -> Result<Turn, ProviderError> {
    let messages = request.messages;
    let prompt = messages.iter().rposition(|message| message.role == Role::User).ok_or(ProviderError::NoPrompt)?;
    if let Some(results) = Direct::results(messages, request.tools) {
        return Ok(Turn::answer(results));
    }
    // Ids of earlier prompts stay theirs.
    let first = messages.iter().flat_map(Message::calls).count() + 1;
    let written = prompt::parse(&messages[prompt].to_text())?;
    let calls = written.into_iter().zip(first..).map(|(call, number)| typed(call, number, request.tools));
    Ok(Turn::calls(calls.collect::<Result<Vec<_>, _>>()?))
}

fn typed(call: WrittenCall, number: usize, tools: &ToolSet) -> Result<ToolCall, ProviderError> {
    let WrittenCall { name, arguments } = call;
    let arguments = match arguments {
        WrittenArguments::Object(object) => object,
        WrittenArguments::Pairs(pairs) => {
            // Of a tool that is not there nothing is known; the call itself will say that it is not there.
            let entry = tools.get(&name).ok();
            let schema = entry.as_ref().map_or(&Value::Null, |entry| &entry.tool().parameters);
            arguments_from_pairs(schema, pairs)
                .map_err(|source| ProviderError::Arguments { tool: name.clone(), source })?
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

/// The texts of the results, each headed by its call where there are several.
fn answer(messages: &[Message], results: &[(&str, &ToolResult)], tools: &ToolSet) -> String {
    if let [(_, result)] = results {
        return shown(result);
    }
    let headed = |(id, result): &(&str, &ToolResult)| {
        let call = messages.iter().rev().flat_map(Message::calls).find(|call| call.id == *id);
        let call = call.map(|call| ToolCall { arguments: tools.masked_arguments(call), ..call.clone() });
        format!("# {}\n{}", prompt::render(call.as_slice()), shown(result))
    };
    results.iter().map(headed).collect::<Vec<_>>().join("\n\n")
}

fn shown(result: &ToolResult) -> String {
    result.content.iter().map(shown_content).collect::<Vec<_>>().join("\n")
}

/// Text as it is; of the rest, what it is.
fn shown_content(content: &Content) -> String {
    match content {
        Content::Text { text } | Content::Resource { resource: ResourceContents::Text { text, .. } } => text.clone(),
        Content::Image { data, mime_type } => format!("[picture: {mime_type}, {} bytes of base64]", data.len()),
        Content::Audio { data, mime_type } => format!("[recording: {mime_type}, {} bytes of base64]", data.len()),
        Content::ResourceLink { uri, name, .. } => format!("[link to {name}: {uri}]"),
        Content::Resource { resource: ResourceContents::Blob { uri, blob, .. } } => {
            format!("[file {uri}: {} bytes of base64]", blob.len())
        }
        _ => "[content of a kind that cannot be shown]".to_owned(),
    }
}
