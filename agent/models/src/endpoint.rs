//! [`Endpoint`]: the service that the options name, and its key.

use agent::{ProviderError, ProviderOptions};
use reqwest::header::{AUTHORIZATION, HeaderMap, HeaderName, HeaderValue};
use secrecy::ExposeSecret;

use crate::api::Api;
use crate::base_url::base_url;
use crate::key::Key;
use crate::service::{Auth, Service};

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
        let (name, url) = (options.dialect.as_deref(), options.base_url.as_deref());
        let service = Service::find(api, name, url)?;
        let has_dialect = api.has_dialects() && (name.is_some() || url.is_some_and(Service::is_at));
        let listed_name = match url {
            Some(_) if has_dialect => Some(&*service.name),
            Some(_) => None,
            None if api.has_dialects() => Some(&*service.name),
            None => Some(api.name()),
        };
        let is_known = api.has_dialects() && service.name != Service::openai().name;
        let url = match url {
            Some(url) => url,
            None if is_known => {
                let public = match service.public_url() {
                    "" => String::new(),
                    public => format!("; that of its public service is {public}"),
                };
                let reason = format!("the dialect {} needs a base URL{public}", service.name);
                return Err(api.refused(reason));
            }
            None => api.public_url(),
        };
        Ok(Self {
            api,
            service,
            base_url: base_url(api, service, url),
            listed_name,
        })
    }

    /// Returns the usual variable of the key. That of OpenAI is not for other services that are known.
    pub(crate) fn key_variable(&self) -> &'static str {
        if self.api.has_dialects() {
            &self.service.key
        } else {
            self.api.key_variable()
        }
    }

    /// Returns true if the service refuses a request without a key. One at a URL of the user's may take it.
    pub(crate) fn needs_key(&self, options: &ProviderOptions) -> bool {
        let is_open = !self.api.needs_key() || self.service.auth == Auth::Optional;
        !is_open && options.base_url.is_none()
    }

    /// Returns the name of the service in OpenTelemetry's conventions for generative AI.
    pub(crate) fn service_name(&self) -> &'static str {
        match self.api {
            Api::OpenAi | Api::OpenAiResponses => self.service.conventional_name(),
            Api::Gemini => "gcp.gemini",
            Api::Anthropic | Api::Ollama => self.api.name(),
        }
    }

    /// Returns the name of the service in stored data.
    pub(crate) fn stored_name(&self) -> &'static str {
        if self.api.has_dialects() {
            &self.service.name
        } else {
            self.service_name()
        }
    }

    /// Reads the key of the service.
    ///
    /// # Errors
    /// Returns [`ProviderError::Options`] if the key is needed and missing, or if it cannot be read.
    pub(crate) fn key(&self, options: &ProviderOptions) -> Result<Key, ProviderError> {
        Key::read(
            self.api,
            options.key.as_ref(),
            self.key_variable(),
            !self.needs_key(options),
        )
    }

    /// Returns the headers of each request. An empty key is not sent.
    ///
    /// # Errors
    /// Returns [`ProviderError::Options`] if no header can hold the key.
    pub(crate) fn headers(&self, key: &Key) -> Result<HeaderMap, ProviderError> {
        let mut headers = HeaderMap::new();
        let key = key.secret.expose_secret();
        let (name, value) = match self.api {
            Api::Anthropic => (HeaderName::from_static("x-api-key"), key.to_owned()),
            Api::Gemini => (HeaderName::from_static("x-goog-api-key"), key.to_owned()),
            _ if self.api.has_dialects() && self.service.auth == Auth::ApiKey => {
                (HeaderName::from_static("api-key"), key.to_owned())
            }
            _ => (AUTHORIZATION, format!("Bearer {key}")),
        };
        if !key.is_empty() {
            let reason = "its key has a line break or another control character; remove it";
            let value = HeaderValue::from_str(&value);
            let mut value = value.map_err(|_| self.api.refused(reason))?;
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
        let has_path = base
            .split_once("://")
            .is_some_and(|(_, rest)| rest.contains('/'));
        match self.api {
            Api::Ollama => format!("{base}/api/tags"),
            Api::Gemini => format!("{base}/v1beta/models"),
            Api::OpenAi | Api::OpenAiResponses if has_path => format!("{base}/models"),
            _ => format!("{base}/v1/models"),
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
            assert_eq!(Endpoint::new(api, &options).unwrap().service_name(), name);
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
