//! The size of a model's context: requests are compared with it, and refusals or the service itself tell it.

use agent::{FailureKind, ProviderError, Request, WireToolSet};
use reqwest::{RequestBuilder, Url};
use serde_json::{Value, json};
use tools::protocol::Part;

use crate::api::Api;
use crate::error_words::ERROR_WORDS;
use crate::model::Model;
use crate::only_model::{fetch, models};
use crate::retry::{Failure, reported};

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
        *self.served_context.get_or_init(|| self.ask_context()).await
    }

    async fn ask_context(&self) -> Option<u64> {
        let base_url = &self.endpoint.base_url;
        let name = &self.profile.name;
        let reply =
            async |request: RequestBuilder| fetch(request.headers(self.headers.clone())).await.ok();
        if self.profile.api == Api::Ollama {
            let url = format!("{}/api/show", base_url.trim_end_matches('/'));
            let question = json!({"model": name}).to_string();
            let shown = reply(self.client.post(url).body(question)).await?;
            return shown_by_ollama(&serde_json::from_slice(&shown).ok()?);
        }
        // llama.cpp names the context that it has, and in its list that of the training.
        let properties = Url::parse(base_url).ok()?.join("/props").ok()?;
        let properties = reply(self.client.get(properties)).await;
        let properties: Option<Value> =
            properties.and_then(|body| serde_json::from_slice(&body).ok());
        let places = ["/default_generation_settings/n_ctx", "/n_ctx"];
        let own = properties.and_then(|body| {
            places
                .iter()
                .find_map(|place| body.pointer(place)?.as_u64())
                // A server without a size of its own says 0.
                .filter(|size| *size > 0)
        });
        if own.is_some() {
            return own;
        }
        let mut models = models(&reply(self.client.get(self.endpoint.list_url())).await?)?;
        let at = models
            .iter()
            .position(|model| model.name == *name)
            .or((models.len() == 1).then_some(0))?;
        models.swap_remove(at).context
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

/// Returns the context that the file of a model sets, or else that of its training.
fn shown_by_ollama(shown: &Value) -> Option<u64> {
    let parameters = shown["parameters"].as_str().unwrap_or_default();
    let set = parameters
        .lines()
        .find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok())
        .filter(|size| *size > 0);
    set.or_else(|| {
        let fields = shown["model_info"].as_object()?;
        fields
            .iter()
            .find_map(|(name, value)| value.as_u64().filter(|_| name.ends_with(".context_length")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_an_ollama_model_precedes_its_training() {
        let trained = json!({"model_info": {"llama.context_length": 131_072, "llama.rope.dimension_count": 64}});
        assert_eq!(shown_by_ollama(&trained), Some(131_072));
        let set = json!({"parameters": "stop  \"x\"\nnum_ctx     4096", "model_info": trained["model_info"]});
        assert_eq!(shown_by_ollama(&set), Some(4096));
        assert_eq!(shown_by_ollama(&json!({"model_info": null})), None);
    }
}
