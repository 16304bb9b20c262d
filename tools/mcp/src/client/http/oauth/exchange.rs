//! [`Exchange`]: the requests of OAuth.

use std::sync::{Arc, Mutex};

use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRedirectPolicy,
    OAuthHttpRequest,
};
use serde::Deserialize;
use tools::Host;
use tools::IgnorePoison as _;
use tools_http::{HttpClient, Method, Request, Response, Url};

use crate::client::http::grant_of;

/// The fields of a form whose values are secrets.
const SECRET_FIELDS: [&str; 4] = ["client_secret", "code", "code_verifier", "refresh_token"];

/// The requests of OAuth, each with a grant for its host alone.
pub(super) struct Exchange {
    pub(super) following: HttpClient,
    /// Refuses redirects, which would take a token along.
    pub(super) direct: HttpClient,
    pub(super) registration: Registration,
}

/// The identifier and the secret of the latest registration, which `rmcp` does not pass on.
pub(super) type Registration = Arc<Mutex<Option<Client>>>;

/// The answer to a registration.
#[derive(Clone, Deserialize)]
pub(super) struct Client {
    pub(super) client_id: String,
    pub(super) client_secret: Option<String>,
}

impl OAuthHttpClient for Exchange {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(self.send(request))
    }
}

impl Exchange {
    async fn send(
        &self,
        request: OAuthHttpRequest,
    ) -> Result<http::Response<Vec<u8>>, OAuthHttpClientError> {
        let client = match request.redirect_policy {
            OAuthHttpRedirectPolicy::Follow => &self.following,
            _ => &self.direct,
        };
        let (parts, body) = request.request.into_parts();
        let kind = parts.headers.get(http::header::CONTENT_TYPE);
        let is_json = kind.is_some_and(|kind| kind == "application/json");
        let mut request = Request::new(parts.method, &parts.uri.to_string())?;
        for (name, value) in &parts.headers {
            request = request.with_header(name.clone(), value.clone());
        }
        if request.method() != Method::GET {
            request = request.with_body(body.clone());
        }
        let cx = Host::new().with_grant(grant_of(request.url())?);
        let Response {
            status,
            headers,
            body: answer,
            ..
        } = client.send(&cx, request).await?;
        // Other requests are forms.
        if status.is_success()
            && is_json
            && let Ok(client) = serde_json::from_slice(&answer)
        {
            *self.registration.lock().ignore_poison() = Some(client);
        }
        // The text of an error is shown, and may repeat the request.
        let answer = if status.is_success() {
            answer.to_vec()
        } else {
            mask_answer(&body, &answer)
        };
        let mut response = http::Response::new(answer);
        (*response.status_mut(), *response.headers_mut()) = (status, headers);
        Ok(response)
    }
}

/// Returns the answer to a form without the form's secrets.
fn mask_answer(form: &[u8], answer: &[u8]) -> Vec<u8> {
    let Ok(mut url) = Url::parse("http://form.invalid/") else {
        return Vec::new();
    };
    url.set_query(Some(&String::from_utf8_lossy(form)));
    let fields = url
        .query_pairs()
        .filter(|(name, value)| SECRET_FIELDS.contains(&&**name) && !value.is_empty());
    let answer = String::from_utf8_lossy(answer).into_owned();
    fields
        .fold(answer, |answer, (name, value)| {
            answer.replace(&*value, &format!("[secret:{name}]"))
        })
        .into_bytes()
}
