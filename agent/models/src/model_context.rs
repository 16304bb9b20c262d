//! [`ModelContext`]: learns the size of a model's context, from a refusal of the service or from its own words.

use agent::{ContextSize, ProviderError, Request, WireToolSet};
use reqwest::{Client, RequestBuilder, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::api::Api;
use crate::context_size;
use crate::only_model::{fetch, list_url, models};
use crate::retry::Failure;

/// Learns the size of the context. The service is asked once.
pub(crate) struct ModelContext {
    client: Client,
    api: Api,
    base_url: String,
    model: String,
    served: OnceCell<Option<u64>>,
}

impl ModelContext {
    pub(crate) fn new(client: Client, api: Api, base_url: &str, model: &str) -> Self {
        Self {
            client,
            api,
            base_url: base_url.trim_end_matches('/').to_owned(),
            model: model.to_owned(),
            served: OnceCell::new(),
        }
    }

    /// Learns the size from a refusal, or else from the service. It is less than the refused request in any case.
    pub(crate) async fn learn_from(
        &self,
        size: &ContextSize,
        refusal: &ProviderError,
        refused: u64,
        key: &SecretString,
    ) {
        let tokens = match context_size::named(refusal) {
            Some(tokens) => tokens,
            None => self.served(key).await.unwrap_or(refused).min(refused),
        };
        size.learn(tokens);
    }

    /// Returns an error if the request is longer than the context of Ollama, which would cut its beginning without a word.
    pub(crate) async fn check(
        &self,
        size: &ContextSize,
        request: &Request<'_>,
        tools: &WireToolSet,
        key: &SecretString,
    ) -> Result<(), Failure> {
        if self.api != Api::Ollama {
            return Ok(());
        }
        let Some(served) = self.served(key).await else {
            return Ok(());
        };
        let context = size.tokens().unwrap_or(served);
        size.learn(context);
        let estimated = context_size::estimated(request, tools);
        if estimated <= context {
            Ok(())
        } else {
            Err(context_size::exceeded(self.api.name(), estimated, context))
        }
    }

    async fn served(&self, key: &SecretString) -> Option<u64> {
        *self
            .served
            .get_or_init(|| self.ask(key.expose_secret()))
            .await
    }

    /// Asks the service for the size.
    async fn ask(&self, key: &str) -> Option<u64> {
        let reply = async |request: RequestBuilder| fetch(request, self.api, key).await.ok();
        if self.api == Api::Ollama {
            let question = json!({"model": self.model}).to_string();
            let shown = reply(
                self.client
                    .post(format!("{}/api/show", self.base_url))
                    .body(question),
            )
            .await?;
            return shown_by_ollama(&serde_json::from_slice(&shown).ok()?);
        }
        // llama.cpp names the context that it has, and in its list that of the training.
        let properties = Url::parse(&self.base_url).ok()?.join("/props").ok()?;
        let properties = reply(self.client.get(properties)).await;
        let properties: Option<Value> =
            properties.and_then(|body| serde_json::from_slice(&body).ok());
        let places = ["/default_generation_settings/n_ctx", "/n_ctx"];
        let own = properties.and_then(|body| {
            places
                .iter()
                .find_map(|place| body.pointer(place)?.as_u64())
        });
        if own.is_some() {
            return own;
        }
        let mut models =
            models(&reply(self.client.get(list_url(self.api, &self.base_url))).await?)?;
        let at = models
            .iter()
            .position(|model| model.name == self.model)
            .or((models.len() == 1).then_some(0))?;
        models.swap_remove(at).context
    }
}

/// Returns the context that the file of a model sets, or else that of its training.
fn shown_by_ollama(shown: &Value) -> Option<u64> {
    let parameters = shown["parameters"].as_str().unwrap_or_default();
    let set = parameters
        .lines()
        .find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok());
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
