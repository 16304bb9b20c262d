//! [`Endpoint`]: the service that the options name, and its key.

use agent::{ProviderError, ProviderOptions};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use secrecy::ExposeSecret;

use crate::api::Api;
use crate::base_url::base_url;
use crate::key::Key;
use crate::service::Service;

/// A service: its API, its differences and its URL.
pub(crate) struct Endpoint {
    pub(crate) api: Api,
    pub(crate) service: &'static Service,
    pub(crate) base_url: String,
    /// The name in the table of models, if this is a known service, and no other one with its API.
    pub(crate) listed_name: Option<&'static str>,
}

impl Endpoint {
    /// Returns the service that the options name.
    ///
    /// # Errors
    /// Returns [`ProviderError::Options`] if there is no such dialect, or if it has no URL.
    pub(crate) fn new(api: Api, options: &ProviderOptions) -> Result<Self, ProviderError> {
        let name = options.dialect.as_deref();
        let url = options.base_url.as_deref();
        let service = Service::find(api, name, url)?;
        // A server of the user's may give a known name to another model, so the limits of the table hold at known services alone.
        let is_named = api.has_dialects() && (name.is_some() || url.is_some_and(Service::is_at));
        let listed_name = (url.is_none() || is_named).then_some(&*service.name);
        let is_known = api.has_dialects() && service.name != Service::openai().name;
        let url = match url {
            Some(url) => url,
            // The name of a dialect alone sends no prompts and keys elsewhere.
            None if is_known => {
                let public = match service.public_url() {
                    "" => String::new(),
                    public => format!("; that of its public service is {public}"),
                };
                let reason = format!("the dialect {} needs a base URL{public}", service.name);
                return Err(api.refuse(reason));
            }
            None => service.public_url(),
        };
        Ok(Self {
            api,
            service,
            base_url: base_url(api, service, url),
            listed_name,
        })
    }

    /// Returns true if the service refuses a request without a key. One at a URL of the user's may take it.
    pub(crate) fn needs_key(&self, options: &ProviderOptions) -> bool {
        !self.service.key_is_optional && options.base_url.is_none()
    }

    /// Returns the name of the service in stored data.
    pub(crate) fn stored_name(&self) -> &'static str {
        if self.api.has_dialects() {
            &self.service.name
        } else {
            self.service.conventional_name()
        }
    }

    /// Reads the key of the service.
    ///
    /// # Errors
    /// Returns [`ProviderError::Options`] if the key is needed and missing, or if it cannot be read.
    pub(crate) fn key(&self, options: &ProviderOptions) -> Result<Key, ProviderError> {
        let named = options.key.as_ref();
        let is_optional = !self.needs_key(options);
        Key::read(self.api, named, &self.service.key, is_optional)
    }

    /// Returns the headers of each request. An empty key is not sent.
    ///
    /// # Errors
    /// Returns [`ProviderError::Options`] if no header can hold the key.
    pub(crate) fn headers(&self, key: &Key) -> Result<HeaderMap, ProviderError> {
        let mut headers = HeaderMap::new();
        let key = key.secret.expose_secret();
        let (name, value) = match &self.service.key_header {
            Some(name) => (HeaderName::from_static(name), key.to_owned()),
            None => (AUTHORIZATION, format!("Bearer {key}")),
        };
        if !key.is_empty() {
            let reason = "its key has a line break or another control character; remove it";
            let value = HeaderValue::from_str(&value);
            let mut value = value.map_err(|_| self.api.refuse(reason))?;
            // Debug texts of requests show headers that are not marked so.
            value.set_sensitive(true);
            headers.insert(name, value);
        }
        if self.api == Api::Anthropic {
            headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
        }
        Ok(headers)
    }

    /// Returns the URL of the list of models.
    pub(crate) fn list_url(&self) -> String {
        let base = self.base_url.trim_end_matches('/');
        let parts = base.split_once("://");
        let has_path = parts.is_some_and(|(_, rest)| rest.contains('/'));
        match self.api {
            Api::Ollama => format!("{base}/api/tags"),
            Api::Gemini => format!("{base}/v1beta/models"),
            Api::OpenAi | Api::OpenAiResponses if has_path => format!("{base}/models"),
            _ => format!("{base}/v1/models"),
        }
    }

    /// Returns the URL of the page of this model, or else that of the list.
    pub(crate) fn model_url(&self, model: &str) -> String {
        let list = self.list_url();
        match self.api {
            // Both show their lists in parts.
            Api::Anthropic | Api::Gemini => format!("{list}/{model}"),
            _ => list,
        }
    }

    /// Returns the URL of requests for this model.
    pub(crate) fn url(&self, model: &str, streaming: bool) -> String {
        let base = self.base_url.trim_end_matches('/');
        match self.api {
            Api::OpenAi => match &self.service.deployment_version {
                Some(version) => format!(
                    "{base}/openai/deployments/{model}{}?api-version={version}",
                    self.service.path
                ),
                None => format!("{base}{}", self.service.path),
            },
            Api::OpenAiResponses => format!("{base}{}", self.service.responses_path),
            Api::Anthropic => format!("{base}/v1/messages"),
            Api::Gemini if streaming => {
                format!("{base}/v1beta/models/{model}:streamGenerateContent?alt=sse")
            }
            Api::Gemini => format!("{base}/v1beta/models/{model}:generateContent"),
            Api::Ollama => format!("{base}/api/chat"),
        }
    }
}

#[cfg(test)]
mod tests {
    use agent::KeySource;

    use super::*;

    #[test]
    fn spans_name_services_as_the_conventions_do() {
        for (api, url, name) in [
            (Api::OpenAiResponses, None, "openai"),
            (Api::OpenAi, Some("https://api.mistral.ai"), "mistral_ai"),
            (Api::OpenAi, Some("https://api.x.ai/v1"), "x_ai"),
            (Api::OpenAi, Some("https://api.deepseek.com"), "deepseek"),
            (Api::Gemini, None, "gcp.gemini"),
            (Api::Anthropic, None, "anthropic"),
        ] {
            let options = ProviderOptions {
                base_url: url.map(str::to_owned),
                ..ProviderOptions::default()
            };
            let endpoint = Endpoint::new(api, &options).unwrap();
            assert_eq!(endpoint.service.conventional_name(), name);
        }
    }

    #[test]
    fn the_key_is_in_a_header_that_is_not_shown() {
        let options = ProviderOptions {
            key: Some(KeySource::Environment("PATH".to_owned())),
            ..ProviderOptions::default()
        };
        for api in [Api::OpenAi, Api::Anthropic, Api::Gemini, Api::Ollama] {
            let endpoint = Endpoint::new(api, &options).unwrap();
            let headers = endpoint.headers(&endpoint.key(&options).unwrap()).unwrap();
            assert!(headers.values().any(HeaderValue::is_sensitive), "{api:?}");
            assert!(!format!("{headers:?}").contains("/bin"), "{headers:?}");
        }
    }
}
