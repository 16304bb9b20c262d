//! Converts a conversation to rig's request.

use std::borrow::Cow;

use agent::{ProviderError, Request, WireToolSet};
use rig_core::completion::CompletionRequest;
use rig_core::message::{
    AssistantContent, AssistantMessage, CallId, DocumentSourceKind, Image, ImageMediaType,
    Message as RigMessage, MimeType, Origin, Text, ToolCall as RigCall, ToolFunction,
    ToolName as RigName, ToolResult as RigResult, ToolResultContent, UserContent,
};
use serde_json::Value;
use tools::Content;
use tools::protocol::wire::Format;
use tools::protocol::{Message, Part, Role};

use super::turn::{BESIDE, BLOCK, ORIGIN};
use super::{Api, fields};
use crate::retry::Failure;

pub(super) fn request(
    api: Api,
    model: &str,
    request: &Request<'_>,
    tools: &WireToolSet,
) -> Result<CompletionRequest, Failure> {
    let results = Results {
        api,
        placement: image_placement(api, model),
        tools,
    };
    let turns = request
        .messages
        .chunk_by(|first, next| (first.role, next.role) == (Role::Assistant, Role::Assistant));
    let history: Vec<_> = turns
        .filter_map(|parts| message(&results, &whole(parts)))
        .collect();
    if !history
        .iter()
        .any(|message| matches!(message, RigMessage::User { .. }))
    {
        return Err(Failure {
            error: ProviderError::NoPrompt,
            is_transient: false,
        });
    }
    // rig would append the prompt, so the history holds all messages in our order.
    let mut completion = CompletionRequest::new("");
    completion.chat_history = history;
    Ok(completion)
}

/// The form of results.
struct Results<'a> {
    api: Api,
    placement: Format,
    tools: &'a WireToolSet,
}

/// Returns the messages of a paused turn as one. Apart, rig would omit the results of the service's own tools and thoughts at their ends.
fn whole(messages: &[Message]) -> Cow<'_, Message> {
    match messages {
        [message] => Cow::Borrowed(message),
        _ => {
            let parts = messages
                .iter()
                .flat_map(|message| message.parts.iter().cloned())
                .collect();
            Cow::Owned(Message {
                role: Role::Assistant,
                parts,
            })
        }
    }
}

/// Returns the format whose places for the images of results the model has.
fn image_placement(api: Api, model: &str) -> Format {
    // Before version 3, the model takes images in a user's message only. rig would move them there without naming the call.
    let is_old_gemini = api == Api::Gemini
        && ["gemini-1", "gemini-2"]
            .iter()
            .any(|old| model.contains(old));
    if is_old_gemini || api == Api::Ollama {
        Format::OpenAiChat
    } else {
        api.format()
    }
}

/// Returns `None` if the message has no content to send, because services refuse empty messages. rig merges adjacent user
/// messages.
fn message(results: &Results<'_>, message: &Message) -> Option<RigMessage> {
    match message.role {
        Role::System => Some(RigMessage::system(message.to_text())),
        Role::Assistant => {
            let turn = assistant(results.api, message, results.tools);
            (!turn.content.is_empty()).then_some(RigMessage::Assistant(turn))
        }
        _ => {
            let mut following = Vec::new();
            let mut content: Vec<_> = message
                .parts
                .iter()
                .filter_map(|part| user(part, results, &mut following))
                .collect();
            content.append(&mut following);
            (!content.is_empty()).then_some(RigMessage::User { content })
        }
    }
}

fn assistant(api: Api, message: &Message, tools: &WireToolSet) -> AssistantMessage {
    // The fields that go with the next block.
    let mut beside = None;
    let block = |part: &Part| match part {
        // rig also omits blank text, but only after the check for a final thought below.
        Part::Content(Content::Text { text }) if text.trim().is_empty() => None,
        Part::Content(Content::Text { text }) => {
            Some(AssistantContent::Text(Text::new(text.as_str())))
        }
        Part::Content(content) => Some(AssistantContent::Text(Text::new(content.described()))),
        Part::ToolCall(call) => {
            let call = tools.write_call(call);
            let function =
                ToolFunction::new(RigName::new(call.name).ok()?, call.arguments.into_value());
            Some(AssistantContent::ToolCall(RigCall::new(
                CallId::from_wire(call.id.as_str()),
                function,
            )))
        }
        Part::Reasoning { opaque, .. } => serde_json::from_value(opaque.get(BLOCK)?.clone()).ok(),
        _ => None,
    };
    let whole_block = |part: &Part| {
        if let Part::Reasoning { opaque, .. } = part
            && let Some(fields) = opaque.get(BESIDE).and_then(Value::as_object)
        {
            beside = Some(fields.clone());
            return None;
        }
        let fields = beside.take();
        let picture = match part {
            Part::Content(content) if api == Api::Gemini && fields.is_some() => image(content),
            _ => None,
        };
        let block = match picture {
            Some(picture) => AssistantContent::Image(picture),
            None => block(part)?,
        };
        Some(match fields {
            Some(fields) => fields::with_fields(api, block, fields),
            None => block,
        })
    };
    // rig sends signatures only to the model that made them.
    let origin = message.parts.iter().find_map(|part| match part {
        Part::Reasoning { opaque, .. } => {
            serde_json::from_value::<Origin>(opaque.get(ORIGIN)?.clone()).ok()
        }
        _ => None,
    });
    let mut content: Vec<_> = message.parts.iter().filter_map(whole_block).collect();
    // Anthropic refuses turns that end with a thought. Chat completions keep thoughts apart from other blocks, and rig omits a
    // turn of thoughts only.
    while api == Api::Anthropic && matches!(content.last(), Some(AssistantContent::Reasoning(_))) {
        content.pop();
    }
    AssistantMessage::new(content).with_origin(origin)
}

/// Returns a part of a user's message. Adds the parts that have to be at its end to `following`.
fn user(
    part: &Part,
    results: &Results<'_>,
    following: &mut Vec<UserContent>,
) -> Option<UserContent> {
    let Results {
        placement, tools, ..
    } = *results;
    match part {
        Part::Content(content) => Some(user_content(content)),
        Part::ToolResult {
            id,
            name: called,
            result,
        } => {
            let has_image = result
                .content
                .iter()
                .any(|content| matches!(content, Content::Image { .. }));
            let format = if has_image { placement } else { tools.format() };
            let mut shown = format.show_result(id, result);
            if tools.format() != Format::Anthropic {
                shown.content = join_texts(shown.content);
            }
            following.extend(shown.following.iter().map(user_content));
            Some(UserContent::ToolResult(RigResult {
                call: CallId::from_wire(id.as_str()),
                name: name(called, tools)?,
                content: shown.content.iter().map(result_content).collect(),
                is_error: result.is_error,
            }))
        }
        _ => None,
    }
}

/// Joins texts to one if there is nothing else. Services that copy an API often take the list of texts for no text.
fn join_texts(content: Vec<Content>) -> Vec<Content> {
    let texts: Option<Vec<_>> = content.iter().map(Content::as_text).collect();
    match texts {
        Some(texts) if texts.len() > 1 => vec![Content::text(texts.join("\n"))],
        _ => content,
    }
}

fn user_content(content: &Content) -> UserContent {
    match (content, image(content)) {
        (Content::Text { text }, _) => UserContent::Text(Text::new(text.as_str())),
        (_, Some(image)) => UserContent::Image(image),
        _ => UserContent::Text(Text::new(content.described())),
    }
}

pub(super) fn result_content(content: &Content) -> ToolResultContent {
    match (content, image(content)) {
        (Content::Text { text }, _) => ToolResultContent::Text(Text::new(text.as_str())),
        (_, Some(image)) => ToolResultContent::Image(image),
        _ => ToolResultContent::Text(Text::new(content.described())),
    }
}

fn image(content: &Content) -> Option<Image> {
    let Content::Image { data, mime_type } = content else {
        return None;
    };
    let media_type = Some(ImageMediaType::from_mime_type(mime_type)?);
    Some(Image {
        data: DocumentSourceKind::base64(data.as_str()),
        media_type,
        ..Image::default()
    })
}

fn name(tool: &str, tools: &WireToolSet) -> Option<RigName> {
    RigName::new(tools.name(tool)).ok()
}
