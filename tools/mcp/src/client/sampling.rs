//! [`Sampling`]: answers of the host's model for a server.
#![expect(deprecated, reason = "servers still ask for them")]

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use rmcp::model::{
    self, CreateMessageRequestParams, CreateMessageResult, SamplingMessageContentBlock,
};
use tools::protocol::Role;
use tools::{Content, ToolContext};

use crate::client::imported::Imported;
use crate::client::result::block;
use crate::client::server_name::ServerName;

/// The maximum number of messages in a request.
const MAX_MESSAGES: usize = 100;

type SampleFuture = Pin<Box<dyn Future<Output = Result<Sample, String>> + Send>>;

/// The service by which a [`ToolContext`] lets MCP servers have messages of the host's model, for which they pay nothing. Without one,
/// servers are refused.
///
/// ```
/// use tools::{Host, ToolContext};
/// use tools_mcp::client::{Sample, SampleRequest, Sampling};
///
/// async fn echo(request: SampleRequest, _: ToolContext) -> Result<Sample, String> {
///     let content = request.messages[0].content[0].clone();
///     Ok(Sample { model: "echo".to_owned(), content, stop_reason: None })
/// }
///
/// let cx = Host::new().with_service(Sampling::new(echo));
/// # let _ = cx;
/// ```
#[derive(Clone)]
pub struct Sampling(Arc<dyn Fn(SampleRequest, ToolContext) -> SampleFuture + Send + Sync>);

impl Sampling {
    /// Creates the service from a function that answers a request of a server during the call of the context. The messages are those of
    /// the server, and no instructions. An error is the reason of a refusal, for the server.
    ///
    /// The time of the answer does not count against the deadline of the call. It has the limit of an
    /// [approval](tools::Host::with_approval_timeout).
    pub fn new<F>(sample: impl Fn(SampleRequest, ToolContext) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Sample, String>> + Send + 'static,
    {
        Self(Arc::new(move |request, cx| Box::pin(sample(request, cx))))
    }
}

tools::debug_fields!(self: Sampling {});

/// A server's request for a message of a model.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SampleRequest {
    /// The server.
    pub server: ServerName,
    /// The conversation, which the server wrote.
    pub messages: Vec<SampleMessage>,
    /// The system prompt that the server asks for.
    pub system_prompt: Option<String>,
    /// The maximum number of tokens to generate.
    pub max_tokens: u32,
}

/// A message of a [`SampleRequest`].
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SampleMessage {
    /// The sender: the user or the assistant.
    pub role: Role,
    /// The content.
    pub content: Vec<Content>,
}

/// A generated message.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// The name of the model.
    pub model: String,
    /// The content: a text, an image or a recording.
    pub content: Content,
    /// The reason why the message ends, such as `endTurn` or `maxTokens`.
    pub stop_reason: Option<String>,
}

/// The reason why a server gets no message.
pub(super) struct Refused(pub(super) String);

/// Answers a server's request with the model of the call it belongs to.
pub(super) async fn sample(
    imported: &Imported,
    cx: Option<&ToolContext>,
    params: CreateMessageRequestParams,
) -> Result<CreateMessageResult, Refused> {
    let refused = |reason: &str| Refused(reason.to_owned());
    let cx = cx.ok_or_else(|| refused("the request belongs to no call"))?;
    let sampling = cx
        .service::<Sampling>()
        .filter(|_| imported.import.has_sampling);
    let Sampling(answer) = &*sampling
        .ok_or_else(|| refused("this session gives the server no access to its model"))?;
    let request = request(imported.name(), params)
        .ok_or_else(|| refused("the request has tools, or too many messages"))?;
    // The server cannot go on meanwhile, as while a person is asked.
    let sample = cx.wait_for_answer(answer(request, cx.clone())).await;
    let sample = sample.map_err(|error| Refused(error.to_string()))?;
    let sample = sample.map_err(Refused)?;
    let content = match sample.content {
        Content::Text { text } => SamplingMessageContentBlock::text(text),
        Content::Image { data, mime_type } => {
            SamplingMessageContentBlock::Image(model::ImageContent::new(data, mime_type))
        }
        Content::Audio { data, mime_type } => {
            SamplingMessageContentBlock::Audio(model::AudioContent::new(data, mime_type))
        }
        _ => {
            return Err(refused(
                "the host's model answered with content that a server cannot get",
            ));
        }
    };
    let message = model::SamplingMessage::new(model::Role::Assistant, content);
    let mut result = CreateMessageResult::new(message, sample.model);
    result.stop_reason = sample.stop_reason;
    Ok(result)
}

fn request(server: &ServerName, params: CreateMessageRequestParams) -> Option<SampleRequest> {
    if params.messages.len() > MAX_MESSAGES || params.tools.is_some() {
        return None;
    }
    let messages = params.messages.into_iter().map(message);
    Some(SampleRequest {
        server: server.clone(),
        messages: messages.collect::<Option<_>>()?,
        system_prompt: params.system_prompt,
        max_tokens: params.max_tokens,
    })
}

fn message(message: model::SamplingMessage) -> Option<SampleMessage> {
    let content = |content| {
        Some(block(match content {
            SamplingMessageContentBlock::Text(text) => model::ContentBlock::Text(text),
            SamplingMessageContentBlock::Image(image) => model::ContentBlock::Image(image),
            SamplingMessageContentBlock::Audio(audio) => model::ContentBlock::Audio(audio),
            _ => return None,
        }))
    };
    let role = match message.role {
        model::Role::User => Role::User,
        _ => Role::Assistant,
    };
    let blocks = message.content.into_vec().into_iter().map(content);
    let content = blocks.collect::<Option<_>>()?;
    Some(SampleMessage { role, content })
}
