//! The size of a model's context: requests are compared with it, and refusals or the service itself tell it.

use agent::{FailureKind, ProviderError, Request, WireToolSet};
use tools::protocol::Part;

use crate::api::Api;
use crate::error_words::ERROR_WORDS;
use crate::model::Model;
use crate::retry::{Failure, reported};
use crate::unknown_model::ask;

impl Model {
    /// Learns the size of the context from a refusal, or else from the service. It is less than the refused request in any case.
    pub(crate) async fn learn_context(
        &self,
        refusal: &ProviderError,
        request: &Request<'_>,
        tools: &WireToolSet,
    ) {
        let message = match refusal {
            ProviderError::Status { message, .. } | ProviderError::Reported { message, .. } => {
                message
            }
            _ => return,
        };
        let tokens = match ERROR_WORDS.size_in(message) {
            Some(tokens) => tokens,
            None => {
                let refused = estimate_tokens(request, tools);
                // A list may name the size of the training, which the server has made smaller: the refused request shows the upper bound.
                self.served_context().await.unwrap_or(refused).min(refused)
            }
        };
        self.info.context.learn(tokens);
    }

    /// Returns an error if the request is longer than the context of Ollama, which would cut its beginning without a word.
    pub(crate) async fn check_context(
        &self,
        request: &Request<'_>,
        tools: &WireToolSet,
    ) -> Result<(), Failure> {
        let api = self.profile.api;
        if api != Api::Ollama {
            return Ok(());
        }
        let Some(served) = self.served_context().await else {
            return Ok(());
        };
        // A size that a refusal taught is nearer to the truth than that of the file.
        let context = self.info.context.tokens().unwrap_or(served);
        self.info.context.learn(context);
        let tokens = estimate_tokens(request, tools);
        if tokens <= context {
            return Ok(());
        }
        let message = format!(
            "the request has about {tokens} tokens, and the context of the model {context}"
        );
        let error = reported(api.name(), FailureKind::ContextLength, message);
        Err(Failure::permanent(error))
    }

    /// Returns the size that the service names. It is asked once.
    async fn served_context(&self) -> Option<u64> {
        let (name, endpoint) = (&self.profile.name, &self.endpoint);
        let asked = || ask(&self.client, &self.headers, endpoint, name);
        self.served.get_or_init(asked).await.as_ref()?.context
    }
}

/// Estimates the tokens of a request without its images.
fn estimate_tokens(request: &Request<'_>, tools: &WireToolSet) -> u64 {
    let parts = request.messages.iter().flat_map(|message| &message.parts);
    let bytes = parts.map(|part| match part {
        Part::Content(content) => content.as_text().map_or(0, str::len),
        Part::Reasoning { text, .. } => text.len(),
        Part::ToolCall(call) => call.name.len() + call.arguments.to_string().len(),
        Part::ToolResult { result, .. } => result.to_text().len(),
        _ => 0,
    });
    let messages: usize = bytes.sum();
    let definitions: usize = tools.list().map(|tool| tool.definition.len()).sum();
    // Four bytes a token is an estimate for each language model; the tokenizer of the service is not here.
    (messages + definitions) as u64 / 4
}
