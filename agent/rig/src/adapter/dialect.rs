//! Finds rig's dialect of a known service.

use agent::ProviderError;
use rig_core::providers::openai::wire::{
    Dialect, MINIMAX_CHINA, MOONSHOT_CHINA, OPENAI, ZAI_CODING, all,
};
use rig_reqwest::reqwest::Url;

use super::Api;

/// The services that need more than a key. rig signs in to them by itself, which the rules for keys do not cover.
const WITH_SIGN_IN: [&str; 2] = ["chatgpt", "copilot"];

/// Returns the dialect of this name, or else that of the service at the base URL, or else OpenAI's.
///
/// # Errors
/// Returns the known names if no dialect has the name, and an error if the API has no dialects.
pub(super) fn dialect(
    api: Api,
    name: Option<&str>,
    base_url: Option<&str>,
) -> Result<Dialect, ProviderError> {
    let refused = |reason: String| ProviderError::Options {
        provider: api.name().to_owned(),
        reason,
    };
    match name {
        Some(name) if !api.has_dialects() => Err(refused(format!(
            "it has no dialects, so not {name:?} either; remove the dialect, or use the provider openai"
        ))),
        Some(name) => usable()
            .find(|dialect| dialect.name == name)
            .copied()
            .ok_or_else(|| {
                let known: Vec<_> = usable().map(|dialect| dialect.name).collect();
                refused(format!(
                    "there is no dialect {name:?}; use one of: {}",
                    known.join(", ")
                ))
            }),
        None => Ok(base_url.and_then(dialect_at).unwrap_or(OPENAI)),
    }
}

/// Returns the dialect of the public service at this URL. Ports of this machine do not tell which server listens.
fn dialect_at(base_url: &str) -> Option<Dialect> {
    let host = host_of(base_url)?;
    let is_coding = base_url.contains("/api/coding/");
    if is_coding && host_of(ZAI_CODING.base_url).as_ref() == Some(&host) {
        return Some(ZAI_CODING);
    }
    let known = usable().copied().chain([MINIMAX_CHINA, MOONSHOT_CHINA]);
    known
        .filter(|dialect| dialect.base_url.starts_with("https://"))
        .find(|dialect| {
            // Regions and older names of a service are other hosts of one domain.
            host_of(dialect.base_url)
                .is_some_and(|own| own == host || host.ends_with(&format!(".{own}")))
        })
}

fn usable() -> impl Iterator<Item = &'static Dialect> {
    all().filter(|dialect| !WITH_SIGN_IN.contains(&dialect.name))
}

fn host_of(url: &str) -> Option<String> {
    Url::parse(url).ok()?.host_str().map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(url: &str) -> &'static str {
        dialect(Api::OpenAi, None, Some(url)).unwrap().name
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
        let named = |name| dialect(Api::OpenAi, Some(name), Some("https://api.mistral.ai"));
        assert_eq!(named("groq").unwrap().name, "groq");
        for name in ["chatgpt", "nobody"] {
            assert!(named(name).unwrap_err().to_string().contains("openrouter"));
        }
        assert!(dialect(Api::Gemini, Some("groq"), None).is_err());
    }
}
