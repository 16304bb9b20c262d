//! The model of rounds: behind chat completions, at the URL of a [service](crate::service::Service).

use std::sync::Arc;

use agent::{Driver, Provider, ProviderOptions};
use agent_models::Remote;

/// The name of the model.
pub(crate) const MODEL: &str = "m";

/// Creates a driver of the model at this base URL.
pub(crate) fn driver(url: &str, streaming: bool) -> Driver {
    let remote = Remote::openai(&ProviderOptions {
        model: Some(MODEL.to_owned()),
        base_url: Some(url.to_owned()),
        streaming: Some(streaming),
        ..ProviderOptions::default()
    });
    Driver::new(Arc::new(remote.unwrap()) as Arc<dyn Provider>)
}

/// Creates the client of the code by hand.
pub(crate) fn bare_client() -> reqwest::Client {
    // reqwest brings no cryptography of its own here.
    let _ = rustls::crypto::ring::default_provider().install_default();
    reqwest::Client::new()
}

/// Creates the runtime of a round.
pub(crate) fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}
