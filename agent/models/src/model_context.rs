//! [`ModelContext`]: the size of a model's context, from a refusal of the service or from its own words.

use std::sync::atomic::{AtomicU64, Ordering};

use agent::{ProviderError, Request, WireToolSet};
use reqwest::{Client, RequestBuilder, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use crate::api::Api;
use crate::context_size;
use crate::only_model::{fetch, list_url, models};
use crate::retry::Failure;

/// The size of the context, as far as it is known. The service is asked once.
pub(crate) struct ModelContext {
    client: Client,
    api: Api,
    base_url: String,
    model: String,
    served: OnceCell<Option<u64>>,
    /// The tokens that the service named, or that a refused request has. 0 if there are none.
    learned: AtomicU64,
}

impl ModelContext {
    pub(crate) fn new(client: Client, api: Api, base_url: &str, model: &str) -> Self {
        let (base_url, model) = (base_url.trim_end_matches('/').to_owned(), model.to_owned());
        Self {
            client,
            api,
            base_url,
            model,
            served: OnceCell::new(),
            learned: AtomicU64::new(0),
        }
    }

    /// Returns the tokens that the service named. Returns `None` if it named none.
    pub(crate) fn learned(&self) -> Option<u64> {
        Some(self.learned.load(Ordering::Relaxed)).filter(|tokens| *tokens > 0)
    }

    pub(crate) fn learn(&self, tokens: u64) {
        self.learned.store(tokens, Ordering::Relaxed);
    }

    /// Learns the size from a refusal, or else from the service. It is less than the refused request in any case.
    pub(crate) async fn learn_from(
        &self,
        refusal: &ProviderError,
        refused: u64,
        key: &SecretString,
    ) {
        let tokens = match context_size::named(refusal) {
            Some(tokens) => tokens,
            None => self.served(key).await.unwrap_or(refused).min(refused),
        };
        self.learn(tokens);
    }

    /// Returns an error if the request is longer than the context of Ollama, which would cut its beginning without a word.
    pub(crate) async fn check(
        &self,
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
        let context = self.learned().unwrap_or(served);
        self.learn(context);
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
    let trained = || {
        let fields = shown["model_info"].as_object()?;
        fields
            .iter()
            .find_map(|(name, value)| value.as_u64().filter(|_| name.ends_with(".context_length")))
    };
    set.or_else(trained)
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
