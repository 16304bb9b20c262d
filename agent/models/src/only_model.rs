//! Asks a service at a URL of the user's for its models, if the options name none. A local server mostly has one.

use std::thread;
use std::time::Duration;

use agent::{ProviderError, ProviderOptions};
use reqwest::RequestBuilder;
use reqwest::header::HeaderMap;
use serde_json::Value;

use crate::client;
use crate::endpoint::Endpoint;
use crate::key::{Key, without_key};
use crate::served_facts::ServedFacts;

/// The longest wait for the list.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(5);

/// The most names in a message.
const SHOWN: usize = 10;

/// A model that a service lists.
pub(crate) struct ListedModel {
    pub(crate) name: String,
    pub(crate) facts: ServedFacts,
}

/// Returns the only model that the service offers.
///
/// # Errors
/// Returns [`ProviderError::Options`] if it offers none or several, or if its list cannot be read.
pub(crate) fn only_model(
    endpoint: &Endpoint,
    key: &Key,
    options: &ProviderOptions,
) -> Result<ListedModel, ProviderError> {
    let missing = |reason: String| {
        endpoint.api.refuse(format!(
            "the name of a model is missing, and the service {reason}; give one with --model or the setting `model`"
        ))
    };
    let url = endpoint.list_url();
    let headers = endpoint.headers(key)?;
    let models = read_list(&url, headers, options).map_err(|error| {
        missing(format!(
            "does not list its models at {url}: {}",
            without_key(&error, &key.secret)
        ))
    })?;
    match <[ListedModel; 1]>::try_from(models) {
        Ok([model]) => Ok(model),
        Err(models) if models.is_empty() => Err(missing("lists none".to_owned())),
        Err(models) => {
            let more = if models.len() > SHOWN { ", …" } else { "" };
            let names = models.into_iter().take(SHOWN).map(|model| model.name);
            let shown = names.collect::<Vec<_>>().join(", ");
            Err(missing(format!("has several: {shown}{more}")))
        }
    }
}

/// Reads the names on a thread with a runtime of its own, because providers are created inside and outside of one.
fn read_list(
    url: &str,
    headers: HeaderMap,
    options: &ProviderOptions,
) -> Result<Vec<ListedModel>, String> {
    let client = client::client(
        url,
        options.proxy.as_ref(),
        &options.timeouts.unwrap_or_default(),
    );
    let client = client.map_err(|error| error.to_string())?;
    let request = client.get(url).headers(headers);
    let reader = thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let body = runtime.block_on(fetch(request));
        let body = body.map_err(|error| error.without_url().to_string())?;
        models(&body).ok_or_else(|| "the reply is no list of models".to_owned())
    });
    reader
        .join()
        .unwrap_or_else(|_| Err("the request panicked".to_owned()))
}

/// Sends a question about models.
pub(crate) async fn fetch(request: RequestBuilder) -> reqwest::Result<Vec<u8>> {
    let reply = request.timeout(TIMEOUT).send().await?;
    Ok(reply.error_for_status()?.bytes().await?.to_vec())
}

/// Returns the models in a list of OpenAI's form, or of Ollama's.
pub(crate) fn models(body: &[u8]) -> Option<Vec<ListedModel>> {
    let body: Value = serde_json::from_slice(body).ok()?;
    let mut keys = ["data", "models"].iter();
    let list = keys.find_map(|key| body.get(key)?.as_array())?;
    let name = |model: &Value| {
        ["id", "name", "model"]
            .iter()
            .find_map(|key| Some(model.get(key)?.as_str()?.to_owned()))
    };
    Some(
        list.iter()
            .filter_map(|model| {
                Some(ListedModel {
                    name: name(model)?,
                    facts: ServedFacts::read(model),
                })
            })
            .collect(),
    )
}
