//! Asks a service at a URL of the user's for its models, if the options name none. A local server mostly has one.

use std::thread;
use std::time::Duration;

use agent::{ProviderError, ProviderOptions};
use rig_reqwest::reqwest::{self, Client};
use secrecy::ExposeSecret;
use serde_json::Value;

use super::{Api, Endpoint, outgoing};
use crate::key::{Key, without_key};

/// The longest wait for the list.
const TIMEOUT: Duration = Duration::from_secs(5);

/// The most names in a message.
const SHOWN: usize = 10;

/// Returns the name of the only model that the service offers.
///
/// # Errors
/// Returns [`ProviderError::Options`] if it offers none or several, or if its list cannot be read.
pub(crate) fn only_model(endpoint: &Endpoint, key: &Key, options: &ProviderOptions) -> Result<String, ProviderError> {
    let refused = |reason: String| ProviderError::Options { provider: endpoint.api.name().to_owned(), reason };
    let missing = |reason: String| {
        refused(format!(
            "the name of a model is missing, and the service {reason}; give one with --model or the setting `model`"
        ))
    };
    let url = list_url(endpoint);
    let names = listed(&url, endpoint.api, key, options)
        .map_err(|error| missing(format!("does not list its models at {url}: {}", without_key(&error, &key.secret))))?;
    match <[String; 1]>::try_from(names) {
        Ok([name]) => Ok(name),
        Err(names) if names.is_empty() => Err(missing("lists none".to_owned())),
        Err(names) => {
            let more = if names.len() > SHOWN { ", …" } else { "" };
            let shown = names.into_iter().take(SHOWN).collect::<Vec<_>>().join(", ");
            Err(missing(format!("has several: {shown}{more}")))
        }
    }
}

fn list_url(endpoint: &Endpoint) -> String {
    let base = endpoint.base_url.trim_end_matches('/');
    match endpoint.api {
        Api::Ollama => format!("{base}/api/tags"),
        Api::Gemini => format!("{base}/v1beta/models"),
        Api::Anthropic => format!("{base}/v1/models"),
        Api::OpenAi | Api::OpenAiResponses => {
            let has_path = base.split_once("://").is_some_and(|(_, rest)| rest.contains('/'));
            if has_path { format!("{base}/models") } else { format!("{base}/v1/models") }
        }
    }
}

/// Reads the names on a thread with a runtime of its own, because providers are created inside and outside of one.
fn listed(url: &str, api: Api, key: &Key, options: &ProviderOptions) -> Result<Vec<String>, String> {
    let client = outgoing::client(url, options.proxy.as_ref(), &options.timeouts.unwrap_or_default());
    let client = client.map_err(|error| error.to_string())?;
    let secret = key.secret.expose_secret();
    thread::scope(|scope| {
        let reader = scope.spawn(|| {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| error.to_string())?;
            runtime.block_on(fetch(&client, url, api, secret)).map_err(|error| error.without_url().to_string())
        });
        reader.join().unwrap_or_else(|_| Err("the request panicked".to_owned()))
    })
    .and_then(|body| names(&body).ok_or_else(|| "the reply is no list of models".to_owned()))
}

async fn fetch(client: &Client, url: &str, api: Api, key: &str) -> reqwest::Result<Vec<u8>> {
    let request = client.get(url).timeout(TIMEOUT);
    let request = match api {
        _ if key.is_empty() => request,
        Api::Anthropic => request.header("x-api-key", key).header("anthropic-version", "2023-06-01"),
        Api::Gemini => request.header("x-goog-api-key", key),
        _ => request.bearer_auth(key),
    };
    Ok(request.send().await?.error_for_status()?.bytes().await?.to_vec())
}

/// Returns the names in a list of OpenAI's form, or of Ollama's.
fn names(body: &[u8]) -> Option<Vec<String>> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let list = ["data", "models"].iter().find_map(|key| body.get(key)?.as_array())?;
    let name =
        |model: &Value| ["id", "name", "model"].iter().find_map(|key| Some(model.get(key)?.as_str()?.to_owned()));
    Some(list.iter().filter_map(name).collect())
}
