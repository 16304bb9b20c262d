//! [`Requests`]: the requests of streamable HTTP.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use futures_util::stream::BoxStream;
use rmcp::model::{ClientJsonRpcMessage, ErrorCode, ErrorData};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpClient,
    StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;
use tools::IgnorePoison as _;
use tools::{Host, Secret};
use tools_http::{
    BoundSecret, HeaderName, HeaderValue, HttpClient, HttpError, HttpOptions, Method, Request,
    ResponseStream, StatusCode,
};

use crate::client::http::challenges::Challenges;
use crate::client::http::events::events;
use crate::client::http::url_secrets::UrlSecrets;
use crate::client::unanswered::Count;

pub(super) type Failure = StreamableHttpError<HttpError>;
type Headers = HashMap<HeaderName, HeaderValue>;

pub(super) const SESSION: HeaderName = HeaderName::from_static("mcp-session-id");
const AUTHORIZATION: HeaderName = HeaderName::from_static("authorization");
const LAST_EVENT: HeaderName = HeaderName::from_static("last-event-id");
pub(super) const EVENTS: &str = "text/event-stream";
pub(super) const JSON: &str = "application/json";

/// The code of the official servers for a session that they do not know.
const SESSION_UNKNOWN: ErrorCode = ErrorCode(-32001);

/// The requests of one connection, whose context permits its host alone.
#[derive(Clone)]
pub(crate) struct Requests {
    http: HttpClient,
    host: Host,
    /// The options of `http`.
    options: HttpOptions,
    origin: String,
    pub(super) unanswered: Arc<Count>,
    url_secrets: UrlSecrets,
    /// The latest token, and the client that sends it and replaces it in answers.
    authorised: Arc<Mutex<Option<(Secret, HttpClient)>>>,
    challenges: Arc<Challenges>,
}

impl Requests {
    pub(super) fn new(
        options: HttpOptions,
        origin: String,
        host: Host,
        url_secrets: UrlSecrets,
        challenges: Arc<Challenges>,
    ) -> Result<Self, HttpError> {
        let http = HttpClient::from_options(options.clone())?;
        Ok(Self {
            http,
            host,
            options,
            origin,
            url_secrets,
            unanswered: Arc::default(),
            authorised: Arc::default(),
            challenges,
        })
    }

    /// Returns the failure of a request, without secrets of its URL.
    pub(super) fn failure(&self, error: HttpError) -> Failure {
        Failure::Client(self.url_secrets.hide(error))
    }

    /// Returns the client of requests with a token, which treats the token as a secret.
    fn authorise(&self, token: &str) -> Result<HttpClient, HttpError> {
        let mut authorised = self.authorised.lock().ignore_poison();
        if let Some((_, http)) = authorised
            .as_ref()
            .filter(|(latest, _)| latest.expose() == token)
        {
            return Ok(http.clone());
        }
        let secret = BoundSecret::new(
            "login",
            &self.origin,
            AUTHORIZATION.as_str(),
            "Bearer ",
            token,
        )?;
        let mut options = self.options.clone();
        options.secrets.push(secret);
        let http = self.http.new_sibling(options)?;
        *authorised = Some((Secret::new(token), http.clone()));
        Ok(http)
    }

    /// Notes whether a login is required.
    fn note(&self, has_token: bool, refused: Option<&Failure>) {
        match refused {
            Some(Failure::AuthRequired(error)) => {
                self.challenges.refuse(&error.www_authenticate_header)
            }
            Some(Failure::InsufficientScope(error)) if has_token => {
                let scopes = error.get_required_scope().unwrap_or_default();
                self.challenges
                    .require(&error.www_authenticate_header, scopes);
            }
            None if has_token => self.challenges.accept(),
            _ => {}
        }
    }

    /// Sends a request. Its answer is not a refusal for want of authorisation.
    pub(super) async fn send(
        &self,
        request: Result<Request, HttpError>,
        token: Option<String>,
        headers: Headers,
        more: impl IntoIterator<Item = (HeaderName, Option<&str>)>,
    ) -> Result<ResponseStream, Failure> {
        let mut request = request.map_err(|error| self.failure(error))?;
        for (name, value) in headers {
            request = request.with_header(name, value);
        }
        let more = more
            .into_iter()
            .filter_map(|(name, value)| Some((name, value?.to_owned())));
        let mut has_session = false;
        for (name, value) in more {
            has_session |= name == SESSION;
            let Ok(value) = HeaderValue::from_str(&value) else {
                return Err(Failure::UnexpectedServerResponse(
                    format!("the value of {name} is not a header").into(),
                ));
            };
            request = request.with_header(name, value);
        }
        let accept = HeaderValue::from_static("text/event-stream, application/json");
        let request = request.with_header(HeaderName::from_static("accept"), accept);
        let has_token = token.is_some();
        let http = match token {
            Some(token) => &self.authorise(&token).map_err(Failure::Client)?,
            None => &self.http,
        };
        let response = http.stream(&self.host, request).await;
        let mut response = response.map_err(|error| self.failure(error))?;
        let is_plain = !response.headers.contains_key("www-authenticate");
        // Such an answer asks for no login.
        if has_session && is_plain && response.status == StatusCode::UNAUTHORIZED {
            let begin = response.chunk().await.map_err(Failure::Client)?;
            let begin = begin.unwrap_or_default();
            if is_session_unknown(response.status, None, &String::from_utf8_lossy(&begin)) {
                return Err(Failure::SessionExpired);
            }
        }
        let refused = challenge(&response);
        self.note(has_token, refused.as_ref());
        match refused {
            Some(refused) => Err(refused),
            None => Ok(response),
        }
    }
}

impl StreamableHttpClient for Requests {
    type Error = HttpError;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        self.post(uri, message, session, token, headers).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<(), Failure> {
        let request = Request::new(Method::DELETE, &uri);
        let response = self
            .send(request, token, headers, [(SESSION, Some(&*session))])
            .await?;
        match response.status {
            StatusCode::METHOD_NOT_ALLOWED => Err(Failure::ServerDoesNotSupportDeleteSession),
            status if status.is_success() => Ok(()),
            _ => Err(status_failure(&response)),
        }
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, Failure> {
        let more = [
            (SESSION, session.as_deref()),
            (LAST_EVENT, last_event.as_deref()),
        ];
        let response = self.send(Request::get(&uri), token, headers, more).await?;
        match (response.status, response.media_type()) {
            (StatusCode::METHOD_NOT_ALLOWED, _) => Err(Failure::ServerDoesNotSupportSse),
            (status, _) if !status.is_success() => Err(status_failure(&response)),
            (_, Some(media_type)) if media_type == EVENTS => {
                Ok(events(response, self.unanswered.clone(), None))
            }
            (_, media_type) => Err(Failure::UnexpectedContentType(media_type)),
        }
    }
}

/// Returns true if an answer says that the server does not know the session, so nothing has run. The protocol has 404 for this. Many
/// servers have another status, some even that of a success, and only the error or the text tells.
pub(super) fn is_session_unknown(
    status: StatusCode,
    error: Option<&ErrorData>,
    text: &str,
) -> bool {
    let text = text.to_ascii_lowercase();
    let is_named = text.contains("session") || text.contains("not initialized");
    match status.as_u16() {
        404 | 410 => true,
        // A tool may have an argument of this name.
        400 | 401 | 422 => {
            is_named && error.is_none_or(|error| error.code != ErrorCode::INVALID_PARAMS)
        }
        200 => is_named && error.is_some_and(|error| error.code == SESSION_UNKNOWN),
        _ => false,
    }
}

/// Returns the error of an answer that asks for authorisation.
fn challenge(response: &ResponseStream) -> Option<Failure> {
    let challenges = response.headers.get_all("www-authenticate").iter();
    let challenges = challenges.filter_map(|value| value.to_str().ok());
    let challenge = challenges.collect::<Vec<_>>().join(", ");
    match response.status {
        StatusCode::UNAUTHORIZED => Some(Failure::AuthRequired(AuthRequiredError::new(challenge))),
        StatusCode::FORBIDDEN if !challenge.is_empty() => {
            let scope = scope(&challenge);
            Some(Failure::InsufficientScope(InsufficientScopeError::new(
                challenge, scope,
            )))
        }
        _ => None,
    }
}

/// Returns the error of an answer that says nothing more than its status.
pub(super) fn status_failure(response: &ResponseStream) -> Failure {
    try_later(response).map_or_else(
        || Failure::UnexpectedServerResponse(format!("HTTP {}", response.status).into()),
        Failure::HttpStatus,
    )
}

/// Returns the error of an answer that may differ later. Returns `None` for other answers.
pub(super) fn try_later(response: &ResponseStream) -> Option<HttpStatusError> {
    let status = response.status;
    let text = response.headers.get("retry-after");
    let retry_after = text.and_then(|text| text.to_str().ok()).map(str::to_owned);
    let is_temporary = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
    is_temporary.then(|| HttpStatusError::new(status.as_u16(), retry_after))
}

/// Returns the parameter `scope` of a challenge. Returns `None` if there is none.
fn scope(challenge: &str) -> Option<String> {
    let (_, rest) = challenge
        .split_at_checked(challenge.to_ascii_lowercase().find("scope=")? + "scope=".len())?;
    let scope = match rest.strip_prefix('"') {
        Some(quoted) => quoted.split('"').next()?,
        None => rest.split([',', ';', ' ', '\t']).next()?,
    };
    (!scope.is_empty()).then(|| scope.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_scope_of_a_challenge_is_found() {
        for (challenge, expected) in [
            (
                r#"Bearer error="insufficient_scope", scope="files:read files:write""#,
                Some("files:read files:write"),
            ),
            ("Bearer Scope=read:data, error=x", Some("read:data")),
            ("Bearer scope=a", Some("a")),
            (r#"Bearer error="invalid_token""#, None),
            ("Bearer scope=", None),
            (r#"Bearer scope="""#, None),
            ("", None),
        ] {
            assert_eq!(scope(challenge).as_deref(), expected, "{challenge}");
        }
    }
}
