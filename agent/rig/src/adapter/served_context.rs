//! [`ServedContext`]: asks a service for the size of a model's context.

use rig_reqwest::reqwest::{Client, RequestBuilder, Url};
use secrecy::{ExposeSecret, SecretString};
use serde_json::{Value, json};
use tokio::sync::OnceCell;

use super::Api;
use super::only_model::{fetch, list_url, models};

/// The question to a service, which is asked once.
pub(super) struct ServedContext {
    client: Client,
    api: Api,
    base_url: String,
    model: String,
    answer: OnceCell<Option<u64>>,
}

impl ServedContext {
    pub(super) fn new(client: Client, api: Api, base_url: &str, model: &str) -> Self {
        let (base_url, model) = (base_url.trim_end_matches('/').to_owned(), model.to_owned());
        Self { client, api, base_url, model, answer: OnceCell::new() }
    }

    /// Returns the tokens of the context. Returns `None` if the service does not name them.
    pub(super) async fn tokens(&self, key: &SecretString) -> Option<u64> {
        *self.answer.get_or_init(|| self.ask(key.expose_secret())).await
    }

    async fn ask(&self, key: &str) -> Option<u64> {
        let reply = async |request: RequestBuilder| fetch(request, self.api, key).await.ok();
        if self.api == Api::Ollama {
            let question = json!({"model": self.model}).to_string();
            let shown = reply(self.client.post(format!("{}/api/show", self.base_url)).body(question)).await?;
            return shown_by_ollama(&serde_json::from_slice(&shown).ok()?);
        }
        // llama.cpp names the context that it has, and in its list that of the training.
        let properties = Url::parse(&self.base_url).ok()?.join("/props").ok()?;
        let properties = reply(self.client.get(properties)).await;
        let properties: Option<Value> = properties.and_then(|body| serde_json::from_slice(&body).ok());
        let places = ["/default_generation_settings/n_ctx", "/n_ctx"];
        let own = properties.and_then(|body| places.iter().find_map(|place| body.pointer(place)?.as_u64()));
        if own.is_some() {
            return own;
        }
        let mut models = models(&reply(self.client.get(list_url(self.api, &self.base_url))).await?)?;
        let at = models.iter().position(|model| model.name == self.model).or((models.len() == 1).then_some(0))?;
        models.swap_remove(at).context
    }
}

/// Returns the context that the file of a model sets, or else that of its training.
fn shown_by_ollama(shown: &Value) -> Option<u64> {
    let parameters = shown["parameters"].as_str().unwrap_or_default();
    let set = parameters.lines().find_map(|line| line.trim().strip_prefix("num_ctx")?.trim().parse().ok());
    let trained = || {
        let fields = shown["model_info"].as_object()?;
        fields.iter().find_map(|(name, value)| value.as_u64().filter(|_| name.ends_with(".context_length")))
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
