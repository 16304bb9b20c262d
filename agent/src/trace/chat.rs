//! The span `chat` of a model request, its retries included.

use tools::ToolContext;
use tools::call::content;
use tools::call::convention::{
    CONVERSATION_ID, CORRELATION_ID, ERROR_TYPE, INTERNAL, OPERATION_NAME, OTEL_KIND, OTEL_NAME,
    OTEL_STATUS_CODE, OTEL_STATUS_DESCRIPTION,
};
use tracing::field::Empty;
use tracing::{Span, info_span, level_enabled};

use super::content::{input_messages, output_messages, system_instructions};
use super::convention::{
    CACHE_WRITE_TOKENS, CACHED_INPUT_TOKENS, CHAT, CLIENT, FINISH_REASONS, INPUT_MESSAGES,
    INPUT_TOKENS, MAX_TOKENS, OUTPUT_MESSAGES, OUTPUT_TOKENS, PROVIDER_NAME, REQUEST_MODEL,
    RESPONSE_ID, RESPONSE_MODEL, SERVER_ADDRESS, SERVER_PORT, SUMMARY, SYSTEM_INSTRUCTIONS,
    TEMPERATURE,
};
use super::{LEVEL, OpenSpan, error_type};
use crate::provider::{ProviderError, ProviderInfo, Request, Turn};

/// Opens the span of a request. If the context says so, it records the conversation.
pub(crate) fn open_chat(about: &ProviderInfo, request: &Request<'_>, cx: &ToolContext) -> OpenSpan {
    if !level_enabled!(LEVEL) {
        return OpenSpan::new(Span::none());
    }
    // A provider without a wire makes no request to a service.
    let kind = if about.wire.is_some() {
        CLIENT
    } else {
        INTERNAL
    };
    let server = about.base_url.as_deref().and_then(server);
    let span = info_span!(
        target: "agent",
        "chat",
        { OTEL_NAME } = about.model.as_ref().map_or_else(|| CHAT.to_owned(), |model| format!("{CHAT} {model}")),
        { OTEL_KIND } = kind,
        { OTEL_STATUS_CODE } = Empty,
        { OTEL_STATUS_DESCRIPTION } = Empty,
        { OPERATION_NAME } = CHAT,
        { PROVIDER_NAME } = &*about.service_name,
        { REQUEST_MODEL } = about.model,
        { SERVER_ADDRESS } = server.map(|(address, _)| address),
        { SERVER_PORT } = server.map(|(_, port)| i64::from(port)),
        { MAX_TOKENS } = about.generation.max_output_tokens.map(i64::from),
        { TEMPERATURE } = about.generation.temperature,
        { SUMMARY } = request.is_summary.then_some(true),
        { RESPONSE_ID } = Empty,
        { RESPONSE_MODEL } = Empty,
        { FINISH_REASONS } = Empty,
        { INPUT_TOKENS } = Empty,
        { CACHED_INPUT_TOKENS } = Empty,
        { CACHE_WRITE_TOKENS } = Empty,
        { OUTPUT_TOKENS } = Empty,
        { SYSTEM_INSTRUCTIONS } = Empty,
        { INPUT_MESSAGES } = Empty,
        { OUTPUT_MESSAGES } = Empty,
        { CONVERSATION_ID } = cx.session(),
        { CORRELATION_ID } = cx.correlation_id(),
        { ERROR_TYPE } = Empty,
    );
    if cx.records_content() && !span.is_disabled() {
        let system = system_instructions(request);
        system.into_iter().for_each(|system| {
            span.record(SYSTEM_INSTRUCTIONS, system);
        });
        span.record(INPUT_MESSAGES, input_messages(request));
    }
    OpenSpan::new(span)
}

/// Records the turn, or the kind of the failure.
pub(crate) fn end_chat(
    open: OpenSpan,
    turn: Result<&Turn, &ProviderError>,
    request: &Request<'_>,
    cx: &ToolContext,
) {
    let is_recorded = cx.records_content() && !open.span.is_disabled();
    match turn {
        Ok(turn) => {
            open.record_stop(&turn.stop);
            open.record_usage(turn.usage);
            if let Some(model) = &turn.model {
                open.span.record(RESPONSE_MODEL, model.as_str());
            }
            if let Some(id) = &turn.response_id {
                open.span.record(RESPONSE_ID, id.as_str());
            }
            if is_recorded {
                open.span
                    .record(OUTPUT_MESSAGES, output_messages(request, turn));
            }
            open.end(None::<String>);
        }
        Err(error) => {
            let kind = match error {
                ProviderError::Panicked { .. } => "panicked".to_owned(),
                error => error_type(error.kind()),
            };
            let span = open.span.clone();
            open.end(Some(kind));
            if is_recorded {
                // After the status, which it completes.
                span.record(OTEL_STATUS_DESCRIPTION, content::text(error.to_string()));
            }
        }
    }
}

/// Returns the host and the port of the URL of a service. Returns `None` if it has no host.
fn server(url: &str) -> Option<(&str, u16)> {
    let (scheme, rest) = url.split_once("://")?;
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    // A provider of a host may have a URL with a password.
    let authority = authority.rsplit('@').next().unwrap_or_default();
    let usual = if scheme == "http" { 80 } else { 443 };
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()?),
        _ => (authority, usual),
    };
    let host = host.trim_start_matches('[').trim_end_matches(']');
    (!host.is_empty()).then_some((host, port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_a_host_and_a_port() {
        for (url, expected) in [
            ("https://api.example.org/v1", Some(("api.example.org", 443))),
            ("http://localhost:8000", Some(("localhost", 8000))),
            ("http://127.0.0.1", Some(("127.0.0.1", 80))),
            ("http://[::1]/v1", Some(("::1", 80))),
            ("http://[::1]:11434/v1", Some(("::1", 11434))),
            ("https://me:sesame@example.org:1/", Some(("example.org", 1))),
            ("https://example.org:no", None),
            ("https:///v1", None),
            ("direct", None),
        ] {
            assert_eq!(server(url), expected, "{url}");
        }
    }
}
