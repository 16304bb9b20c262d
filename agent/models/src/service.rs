//! [`Service`]: the known services with OpenAI's APIs, and the differences of each.

use std::sync::LazyLock;

use agent::{ImageLimits, ProviderError};
use reqwest::Url;
use serde::Deserialize;

use crate::api::Api;

/// A service with OpenAI's APIs.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Service {
    pub(crate) name: String,
    /// The URLs of the public service and its regions.
    pub(crate) urls: Vec<String>,
    /// The environment variable of the key.
    pub(crate) key: String,
    /// The header of the key, if it is not `Authorization`.
    pub(crate) key_header: Option<String>,
    /// True if the service may take requests without a key.
    #[serde(default)]
    pub(crate) key_is_optional: bool,
    /// The API of this service, if it is one of its own. Others have a variant of OpenAI's.
    api: Option<Api>,
    /// The name in OpenTelemetry's conventions for generative AI, if it is another one.
    conventional_name: Option<String>,
    #[serde(default = "chat_path")]
    pub(crate) path: String,
    #[serde(default = "responses_path")]
    pub(crate) responses_path: String,
    /// The version in the URL of a service that names the model there.
    pub(crate) deployment_version: Option<String>,
    pub(crate) reasoning: Option<ReasoningField>,
    /// The levels of reasoning, if all models have the same.
    pub(crate) efforts: Option<Vec<String>>,
    /// The field of thoughts that each message of the model has to have.
    pub(crate) reasoning_field: Option<String>,
    #[serde(default)]
    pub(crate) forced_calls: ForcedCalls,
    /// False if the service refuses the field that asks for the usage of a stream.
    #[serde(default = "yes")]
    pub(crate) stream_options: bool,
    /// False if the system text is an item of the Responses API, and no field.
    #[serde(default = "yes")]
    pub(crate) instructions: bool,
    /// The images that the service takes, with the place that tells of them.
    #[serde(default)]
    pub(crate) images: ImageLimits,
    /// The place that tells of the differences.
    #[allow(dead_code, reason = "for readers of the file")]
    source: String,
}

/// The field of the effort of reasoning.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReasoningField {
    /// `reasoning_effort`.
    Effort,
    /// `thinking.type`, with `reasoning_effort`.
    Thinking,
    /// `reasoning.effort`.
    Object,
    /// `reasoning.enabled`, with `reasoning_effort`.
    Enabled,
}

/// The calls that a request can force.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ForcedCalls {
    #[default]
    Named,
    /// One of any tool, but of none by name.
    Any,
    /// A thinking model refuses one, which is left out.
    WithoutReasoning,
    /// None. A prompt asks for one instead.
    Never,
}

fn chat_path() -> String {
    "/chat/completions".to_owned()
}

fn responses_path() -> String {
    "/responses".to_owned()
}

fn yes() -> bool {
    true
}

static SERVICES: LazyLock<Vec<Service>> = LazyLock::new(|| {
    // A test reads the file.
    serde_json::from_str(include_str!("services.json")).unwrap_or_default()
});

impl Service {
    /// Returns OpenAI's own service.
    pub(crate) fn openai() -> &'static Self {
        &SERVICES[0]
    }

    /// Returns the public service with this API.
    pub(crate) fn usual(api: Api) -> &'static Self {
        let mut services = SERVICES.iter();
        let own = services.find(|service| service.api == Some(api));
        own.unwrap_or(Self::openai())
    }

    /// Returns the services with variants of OpenAI's API.
    fn dialects() -> impl Iterator<Item = &'static Self> {
        SERVICES.iter().filter(|service| service.api.is_none())
    }

    /// Returns the service of this name, or else that at the base URL, or else the usual one.
    ///
    /// # Errors
    /// Returns the known names if no service has the name, and an error if the API has no dialects.
    pub(crate) fn find(
        api: Api,
        name: Option<&str>,
        base_url: Option<&str>,
    ) -> Result<&'static Self, ProviderError> {
        let Some(name) = name else {
            let at_url = base_url.filter(|_| api.has_dialects()).and_then(Self::at);
            return Ok(at_url.unwrap_or(Self::usual(api)));
        };
        if !api.has_dialects() {
            return Err(api.refuse(format!(
                "it has no dialects, so not {name:?} either; remove the dialect, or use the provider openai"
            )));
        }
        let found = Self::dialects().find(|service| service.name == name);
        found.ok_or_else(|| {
            let known: Vec<_> = Self::dialects().map(|service| &*service.name).collect();
            api.refuse(format!(
                "there is no dialect {name:?}; use one of: {}",
                known.join(", ")
            ))
        })
    }

    /// Returns the public service at this URL. Ports of this machine do not tell which server listens.
    fn at(base_url: &str) -> Option<&'static Self> {
        let host = host_of(base_url)?;
        // Regions and older names of a service are other hosts of one domain.
        Self::dialects().find(|service| {
            let urls = service.urls.iter();
            let secure = urls.filter(|url| url.starts_with("https://"));
            let mut hosts = secure.filter_map(|url| host_of(url));
            hosts.any(|own| own == host || host.ends_with(&format!(".{own}")))
        })
    }

    /// Returns true for a URL of a known service.
    pub(crate) fn is_at(base_url: &str) -> bool {
        Self::at(base_url).is_some()
    }

    /// Returns the URL of the public service that this URL belongs to, or the first one. It is empty if there is none.
    pub(crate) fn public_url(&self) -> &str {
        self.urls.first().map_or("", String::as_str)
    }

    /// Returns the name in OpenTelemetry's conventions.
    pub(crate) fn conventional_name(&self) -> &str {
        self.conventional_name.as_ref().unwrap_or(&self.name)
    }
}

fn host_of(url: &str) -> Option<String> {
    Url::parse(url).ok()?.host_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(url: &str) -> &'static str {
        &Service::find(Api::OpenAi, None, Some(url)).unwrap().name
    }

    #[test]
    fn the_file_of_services_is_read() {
        let services: Vec<Service> = serde_json::from_str(include_str!("services.json")).unwrap();
        assert_eq!(services[0].name, "openai");
        assert!(services.iter().all(|service| !service.source.is_empty()));
    }

    #[test]
    fn a_known_service_is_found_by_its_host() {
        for (url, name) in [
            ("https://api.deepseek.com", "deepseek"),
            ("https://api.deepseek.com/v1/chat/completions", "deepseek"),
            ("https://api.mistral.ai/v1/", "mistral"),
            ("https://api.groq.com/openai/v1", "groq"),
            ("https://openrouter.ai/api/v1", "openrouter"),
            ("https://eu.openrouter.ai/api/v1", "openrouter"),
            ("https://api.x.ai/v1", "xai"),
            ("https://api.moonshot.cn/v1", "moonshot"),
            ("https://api.z.ai/api/coding/paas/v4", "zai"),
            ("https://api.openai.com/v1", "openai"),
        ] {
            assert_eq!(at(url), name, "{url}");
        }
    }

    #[test]
    fn an_unknown_service_and_this_machine_speak_the_format_of_openai() {
        for url in [
            "http://localhost:11434/v1",
            "http://127.0.0.1:8080",
            "https://api.deepseek.com.example.org/v1",
            "https://notx.ai",
        ] {
            assert_eq!(at(url), "openai", "{url}");
        }
    }

    #[test]
    fn a_name_takes_precedence_over_the_url_and_an_unknown_one_lists_the_known() {
        let named = |name| Service::find(Api::OpenAi, Some(name), Some("https://api.mistral.ai"));
        assert_eq!(named("groq").unwrap().name, "groq");
        assert!(
            named("nobody")
                .unwrap_err()
                .to_string()
                .contains("openrouter")
        );
        assert!(Service::find(Api::Gemini, Some("groq"), None).is_err());
    }
}
