//! [`ServiceError`]: the error that a service describes in a JSON body.

use std::time::Duration;

use agent::FailureKind;
use serde_json::Value;

use crate::error_words::ERROR_WORDS;

/// An error as a service describes it.
#[derive(Debug)]
pub(crate) struct ServiceError {
    /// The message with the explanations of the service. May repeat a key.
    pub(crate) message: String,
    /// The HTTP status that the body names.
    pub(crate) status: Option<u16>,
    /// The delay that the body requests before a retry.
    pub(crate) retry_after: Option<Duration>,
    /// The kind that the codes name.
    kind: Option<FailureKind>,
    /// The kind that general codes name, which a status makes more specific.
    general: Option<FailureKind>,
}

impl ServiceError {
    /// Reads the error in a body. Text that is not JSON is the message.
    pub(crate) fn from_body(body: &str) -> Self {
        let parsed: Value = serde_json::from_str(body).unwrap_or_default();
        // Gemini sends a stream's error as the element of an array.
        let root = parsed.get(0).unwrap_or(&parsed);
        let error = ["/error", "/response/error", "/choices/0/error"]
            .iter()
            .find_map(|place| root.pointer(place).filter(|e| e.is_object()));
        let error = error.unwrap_or(root);
        let texts = [
            error.get("message"),
            root.get("message"),
            root.get("detail"),
            root.get("msg"),
            root.get("error"),
        ];
        let message = texts.into_iter().flatten().find_map(Value::as_str);
        let message = message.unwrap_or(body.trim());
        let explanations = explanations(error).filter(|explanation| *explanation != message);
        let codes = codes(root, error);
        let kind = match kind_in(&ERROR_WORDS.codes, &codes) {
            Some(FailureKind::RateLimit) if is_daily(error) => Some(FailureKind::Quota),
            // The status says that the request is bad. This kind says more: its remedy is to correct the parameters of the tool.
            None if names_tool(error) => Some(FailureKind::BadSchema),
            kind => kind,
        };
        // llama.cpp names the size of the context in a field alone.
        let message = match error.get("n_ctx").and_then(Value::as_u64) {
            Some(size) => format!("{message} (n_ctx: {size})"),
            None => message.to_owned(),
        };
        Self {
            message: explanations.fold(message, |message, explanation| {
                format!("{message}: {explanation}")
            }),
            status: codes
                .iter()
                .filter_map(|code| code.parse().ok())
                .find(|status| (400..600).contains(status)),
            retry_after: retry_delay(error),
            kind,
            general: kind_in(&ERROR_WORDS.general_codes, &codes),
        }
    }

    /// Returns the kind: from the code, else from the status, else from the message. An error without any is the service's fault.
    pub(crate) fn kind(&self, status: Option<u16>) -> FailureKind {
        let by_status = status.or(self.status).map(kind_of_status);
        let worded = || ERROR_WORDS.kind_of(&self.message);
        // Groq's code for a request that is larger than the limit of a minute is that of a rate limit.
        if status.or(self.status) == Some(413) {
            return FailureKind::ContextLength;
        }
        match self.kind.or(by_status).or(self.general) {
            // LM Studio's errors in streams have neither a code nor a status: github.com/anomalyco/opencode/issues/2259.
            None => worded().unwrap_or(FailureKind::Internal),
            Some(FailureKind::BadRequest) => worded().unwrap_or(FailureKind::BadRequest),
            // Local servers give these two the status of an internal error: their own failure to read what the model wrote, and a
            // request that is too long.
            Some(FailureKind::Internal) => match worded() {
                Some(kind @ (FailureKind::MalformedReply | FailureKind::ContextLength)) => kind,
                _ => FailureKind::Internal,
            },
            Some(kind) => kind,
        }
    }

    /// Returns true if the body names a known code or a status.
    pub(crate) fn has_code(&self) -> bool {
        self.kind.is_some() || self.general.is_some() || self.status.is_some()
    }
}

fn kind_of_status(status: u16) -> FailureKind {
    match status {
        401 | 407 => FailureKind::Authentication,
        402 => FailureKind::Quota,
        403 => FailureKind::Permission,
        404 => FailureKind::UnknownModel,
        408 => FailureKind::Network,
        413 => FailureKind::ContextLength,
        425 | 429 => FailureKind::RateLimit,
        503 | 529 => FailureKind::Overloaded,
        500..=599 => FailureKind::Internal,
        _ => FailureKind::BadRequest,
    }
}

fn kind_in(table: &[(FailureKind, Vec<String>)], codes: &[String]) -> Option<FailureKind> {
    table
        .iter()
        .find(|(_, known)| codes.iter().any(|code| known.contains(code)))
        .map(|(kind, _)| *kind)
}

/// Returns the codes of an error, without case and punctuation.
fn codes(root: &Value, error: &Value) -> Vec<String> {
    let own = [
        "/code",
        "/type",
        "/status",
        "/error_type",
        "/innererror/code",
        "/metadata/error_type",
    ];
    let own = own.iter().filter_map(|place| error.pointer(place));
    let outer = ["code", "error_type"].iter();
    let outer = outer.filter_map(|key| root.get(key));
    let reasons = details(error).filter_map(|detail| detail.get("reason"));
    let codes = own.chain(outer).chain(reasons).map(|code| match code {
        Value::String(code) => code
            .chars()
            .filter(char::is_ascii_alphanumeric)
            .collect::<String>()
            .to_lowercase(),
        other => other.to_string(),
    });
    codes.collect()
}

/// Returns the details of an error in Google's form (`google.rpc.Status`).
fn details(error: &Value) -> impl Iterator<Item = &Value> {
    error
        .get("details")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// Returns the explanations beside the message: that of the service behind OpenRouter, and the reply that Groq could not read.
fn explanations(error: &Value) -> impl Iterator<Item = &str> {
    let places = ["/metadata/raw", "/failed_generation"];
    places
        .into_iter()
        .filter_map(|place| error.pointer(place)?.as_str())
        .filter(|text| !text.is_empty())
}

/// Returns true if a limit of Google is one of days (`google.rpc.QuotaFailure`), which no retry waits for.
fn is_daily(error: &Value) -> bool {
    let violations = details(error)
        .filter_map(|detail| detail.get("violations")?.as_array())
        .flatten();
    violations
        .filter_map(|violation| violation.get("quotaId")?.as_str())
        .any(|id| id.contains("PerDay"))
}

/// Returns the delay that Google requests (`google.rpc.RetryInfo`), such as `48.9s`.
fn retry_delay(error: &Value) -> Option<Duration> {
    let text = details(error).find_map(|detail| detail.get("retryDelay")?.as_str())?;
    Duration::try_from_secs_f64(text.strip_suffix('s')?.parse().ok()?).ok()
}

/// Returns true if the error is about the definition of a tool: OpenAI's `param`, or a field of Google's `BadRequest`.
fn names_tool(error: &Value) -> bool {
    let param = error.get("param").and_then(Value::as_str).into_iter();
    let violations = details(error)
        .filter_map(|detail| detail.get("fieldViolations")?.as_array())
        .flatten();
    let fields = violations.filter_map(|violation| violation.get("field")?.as_str());
    param.chain(fields).any(|place| place.starts_with("tools["))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn kind(status: u16, body: &Value) -> FailureKind {
        ServiceError::from_body(&body.to_string()).kind(Some(status))
    }

    #[test]
    fn a_code_decides_before_the_status() {
        for (status, error, expected) in [
            (
                429,
                json!({"type": "insufficient_quota", "code": "insufficient_quota"}),
                FailureKind::Quota,
            ),
            (
                429,
                json!({"type": "requests", "code": "rate_limit_exceeded"}),
                FailureKind::RateLimit,
            ),
            (
                400,
                json!({"type": "invalid_request_error", "code": "context_length_exceeded"}),
                FailureKind::ContextLength,
            ),
            (
                400,
                json!({"code": "content_filter", "param": "prompt"}),
                FailureKind::ContentPolicy,
            ),
            (
                400,
                json!({"innererror": {"code": "ResponsibleAIPolicyViolation"}}),
                FailureKind::ContentPolicy,
            ),
            (
                400,
                json!({"code": "invalid_function_parameters"}),
                FailureKind::BadSchema,
            ),
            (
                400,
                json!({"type": "invalid_request_error", "param": "tools[3].function.parameters"}),
                FailureKind::BadSchema,
            ),
            (
                400,
                json!({"status": "INVALID_ARGUMENT", "details": [{"reason": "API_KEY_INVALID"}]}),
                FailureKind::Authentication,
            ),
            (
                500,
                json!({"type": "overloaded_error"}),
                FailureKind::Overloaded,
            ),
            (
                400,
                json!({"code": "model_not_found"}),
                FailureKind::UnknownModel,
            ),
            (
                400,
                json!({"code": "tool_use_failed"}),
                FailureKind::MalformedReply,
            ),
        ] {
            assert_eq!(kind(status, &json!({"error": error})), expected, "{error}");
        }
    }

    #[test]
    fn a_status_decides_before_a_general_code() {
        for (status, expected) in [
            (400, FailureKind::BadRequest),
            (401, FailureKind::Authentication),
            (402, FailureKind::Quota),
            (403, FailureKind::Permission),
            (404, FailureKind::UnknownModel),
            (409, FailureKind::BadRequest),
            (413, FailureKind::ContextLength),
            (429, FailureKind::RateLimit),
            (500, FailureKind::Internal),
            (529, FailureKind::Overloaded),
        ] {
            assert_eq!(
                kind(status, &json!({"error": {"type": "invalid_request_error"}})),
                expected,
                "{status}"
            );
            assert_eq!(kind(status, &json!("no object")), expected, "{status}");
        }
    }

    #[test]
    fn a_limit_of_days_is_a_quota_and_one_of_minutes_is_not() {
        for (id, expected) in [
            ("RequestsPerDayPerProject", FailureKind::Quota),
            ("TokensPerMinute", FailureKind::RateLimit),
        ] {
            let details = json!([{"violations": [{"quotaId": id}]}, {"retryDelay": "48.5s"}]);
            let body = json!({"error": {"status": "RESOURCE_EXHAUSTED", "details": details}});
            assert_eq!(kind(429, &body), expected);
            let delay = ServiceError::from_body(&body.to_string()).retry_after;
            assert_eq!(delay, Some(Duration::from_millis(48_500)));
        }
    }

    #[test]
    fn a_message_decides_only_without_a_code_and_a_more_specific_status() {
        let body = json!({"error": {"type": "invalid_request_error", "message": "prompt is too long: 3 tokens > 2 maximum"}});
        assert_eq!(kind(400, &body), FailureKind::ContextLength);
        assert_eq!(kind(401, &body), FailureKind::Authentication);
        assert_eq!(kind(503, &body), FailureKind::Overloaded);
        // Local servers answer so.
        assert_eq!(kind(500, &body), FailureKind::ContextLength);
        let in_stream = json!({"error": {"message": "prompt is too long: 3 tokens > 2 maximum"}});
        assert_eq!(
            ServiceError::from_body(&in_stream.to_string()).kind(None),
            FailureKind::ContextLength
        );
    }

    #[test]
    fn the_explanations_of_services_follow_the_message() {
        let message =
            |error: Value| ServiceError::from_body(&json!({"error": error}).to_string()).message;
        let raw = json!({"message": "Provider returned error", "code": 400, "metadata": {"raw": "bad input"}});
        assert_eq!(message(raw), "Provider returned error: bad input");
        assert_eq!(
            message(json!({"message": "no call", "failed_generation": "<call>"})),
            "no call: <call>"
        );
    }
}
