//! Turns the URL that a user gives into a base URL.

use crate::api::Api;
use crate::service::Service;

/// The endpoints of each API, longest first. A version stays, because OpenAI-compatible services have their own.
fn endings(api: Api) -> &'static [&'static str] {
    match api {
        Api::OpenAi => &["/chat/completions"],
        Api::OpenAiResponses => &["/responses"],
        Api::Anthropic => &["/v1/messages", "/messages", "/v1"],
        Api::Gemini => &["/v1beta/models", "/models", "/v1beta", "/v1"],
        Api::Ollama => &["/v1/chat/completions", "/api/chat", "/api", "/v1"],
    }
}

/// Returns the base URL of a service, from its host, its base URL, or its whole endpoint.
pub(crate) fn base_url(api: Api, service: &Service, url: &str) -> String {
    let mut base = url.trim_end_matches('/');
    if let (Api::Gemini, Some((before, _))) = (api, base.rsplit_once("/models/")) {
        // The whole endpoint of Gemini names a model.
        base = before;
    }
    for ending in endings(api) {
        if let Some(before) = base.strip_suffix(ending) {
            base = before.trim_end_matches('/');
            break;
        }
    }
    // The other APIs have the version in the path of each request.
    if !api.has_dialects() {
        return base.to_owned();
    }
    let path = if api == Api::OpenAiResponses {
        &service.responses_path
    } else {
        &service.path
    };
    // Here the version is a part of the path, so that one in the base would be sent twice.
    if path.starts_with("/v1/") {
        return base.strip_suffix("/v1").unwrap_or(base).to_owned();
    }
    // A host alone has the paths of the public service.
    if path_of(base).is_empty() {
        format!("{base}{}", path_of(service.public_url()))
    } else {
        base.to_owned()
    }
}

/// Returns the path of a URL, with its first slash.
fn path_of(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    rest.find('/').map_or("", |at| &rest[at..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_a_base_url_and_an_endpoint_name_one_service() {
        let cases = [
            (
                Api::OpenAi,
                "http://h:1/v1",
                &[
                    "http://h:1",
                    "http://h:1/v1/",
                    "http://h:1/v1/chat/completions",
                ][..],
            ),
            (
                Api::OpenAi,
                "http://h/api/v4",
                &["http://h/api/v4/", "http://h/api/v4/chat/completions/"],
            ),
            (
                Api::OpenAiResponses,
                "http://h/v1",
                &["http://h/", "http://h/v1", "http://h/v1/responses"],
            ),
            (
                Api::Anthropic,
                "http://h/a",
                &["http://h/a/", "http://h/a/v1", "http://h/a/v1/messages/"],
            ),
            (
                Api::Gemini,
                "http://h",
                &[
                    "http://h/",
                    "http://h/v1beta/",
                    "http://h/v1beta/models/m:generateContent",
                ],
            ),
            (
                Api::Ollama,
                "http://h:1",
                &["http://h:1/", "http://h:1/api/chat", "http://h:1/v1"],
            ),
        ];
        for (api, base, urls) in cases {
            for url in urls.iter().chain([&base]) {
                assert_eq!(base_url(api, Service::openai(), url), base, "{url}");
            }
        }
    }

    #[test]
    fn a_dialect_decides_where_the_version_belongs() {
        let cases = [
            ("mistral", "https://h/v1/chat/completions", "https://h"),
            ("mistral", "https://h/v1", "https://h"),
            ("groq", "https://h", "https://h/openai/v1"),
            ("deepseek", "https://h/", "https://h"),
            ("deepseek", "https://h/v1", "https://h/v1"),
        ];
        for (name, url, base) in cases {
            let service = Service::find(Api::OpenAi, Some(name), None).unwrap();
            assert_eq!(base_url(Api::OpenAi, service, url), base, "{url}");
        }
    }
}
