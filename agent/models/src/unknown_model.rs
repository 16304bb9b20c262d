//! Asks a service for a model that the table does not know.

use std::thread;

use agent::ProviderOptions;
use reqwest::header::HeaderMap;
use reqwest::{Client, RequestBuilder, Url};
use serde_json::{Value, json};
use tokio::runtime;
use tokio::time::timeout;

use crate::api::Api;
use crate::client;
use crate::endpoint::Endpoint;
use crate::key::Key;
use crate::model_table::KnownModel;
use crate::only_model::{TIMEOUT, fetch, models};
use crate::served_cache::ServedCache;
use crate::served_facts::ServedFacts;

/// Returns the facts about a model of which the table does not have all, for a provider with a cache of them. Returns `None` if they
/// are not needed, or if the service says nothing.
pub(crate) fn learn(
    endpoint: &Endpoint,
    key: &Key,
    model: &str,
    options: &ProviderOptions,
) -> Option<ServedFacts> {
    let file = options.facts_cache.as_deref()?;
    let is_priced = |known: KnownModel<'static>| {
        options.prices.contains_key(model) || known.price(endpoint.listed_name).is_some()
    };
    if KnownModel::find(endpoint.listed_name, model).is_some_and(is_priced) {
        return None;
    }
    let cache = ServedCache::new(file, endpoint, model);
    if let Some(facts) = cache.read() {
        return Some(facts);
    }
    let timeouts = options.timeouts.unwrap_or_default();
    let proxy = options.proxy.as_ref();
    let client = client::client(&endpoint.base_url, proxy, &timeouts).ok()?;
    let headers = endpoint.headers(key).ok()?;
    let asked = || {
        let runtime = runtime::Builder::new_current_thread().enable_all().build();
        // Each of several questions may wait, and the first request waits for all of them.
        let asked = async {
            timeout(TIMEOUT, ask(&client, &headers, endpoint, model))
                .await
                .ok()?
        };
        runtime.ok()?.block_on(asked)
    };
    // Providers are created inside and outside of a runtime.
    let facts = thread::scope(|scope| scope.spawn(asked).join().ok()?)?;
    cache.write(facts);
    Some(facts)
}

/// Asks the service. Returns `None` if it does not know the model or has no answer.
pub(crate) async fn ask(
    client: &Client,
    headers: &HeaderMap,
    endpoint: &Endpoint,
    model: &str,
) -> Option<ServedFacts> {
    let reply = async |request: RequestBuilder| -> Option<Vec<u8>> {
        fetch(request.headers(headers.clone())).await.ok()
    };
    let base = endpoint.base_url.trim_end_matches('/');
    if endpoint.api == Api::Ollama {
        let question = json!({"model": model}).to_string();
        let shown = reply(client.post(format!("{base}/api/show")).body(question)).await?;
        return Some(ServedFacts::shown_by_ollama(
            &serde_json::from_slice(&shown).ok()?,
        ));
    }
    // llama.cpp names the context that it has, and in its list that of the training. Public services have no such page.
    if endpoint.listed_name.is_none() {
        let properties = Url::parse(base).ok()?.join("/props").ok()?;
        let properties = reply(client.get(properties)).await;
        let properties = properties.and_then(|body| serde_json::from_slice(&body).ok());
        let own = properties.map(|body: Value| ServedFacts::read(&body));
        if let Some(own) = own.filter(|own| own.context.is_some()) {
            return Some(own);
        }
    }
    let body = reply(client.get(endpoint.model_url(model))).await?;
    let Some(mut models) = models(&body) else {
        // The page of one model.
        let page: Value = serde_json::from_slice(&body).ok()?;
        return page.is_object().then(|| ServedFacts::read(&page));
    };
    let at = models.iter().position(|listed| listed.name == model);
    let at = at.or((models.len() == 1).then_some(0))?;
    Some(models.swap_remove(at).facts)
}
