//! [`Exchange`]: the requests of OAuth.

use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRedirectPolicy, OAuthHttpRequest,
};
use tools::protocol::{Access, Target};
use tools::{Grant, ToolContext};
use tools_http::{HttpClient, Method, Request, Response};

/// The requests of OAuth, each with a grant for its host alone.
pub(super) struct Exchange {
    pub(super) following: HttpClient,
    /// Refuses redirects, which would take a token along.
    pub(super) direct: HttpClient,
}

impl OAuthHttpClient for Exchange {
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(self.send(request))
    }
}

impl Exchange {
    async fn send(&self, request: OAuthHttpRequest) -> Result<http::Response<Vec<u8>>, OAuthHttpClientError> {
        let client = match request.redirect_policy {
            OAuthHttpRedirectPolicy::Follow => &self.following,
            _ => &self.direct,
        };
        let (parts, body) = request.request.into_parts();
        let mut request = Request::new(parts.method, &parts.uri.to_string())?;
        for (name, value) in &parts.headers {
            request = request.with_header(name.clone(), value.clone());
        }
        if request.method() != Method::GET {
            request = request.with_body(body);
        }
        let url = request.url();
        let host = url.host_str().unwrap_or_default();
        let host = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
        let clause = |access| Ok::<_, OAuthHttpClientError>(Target::new(access, "net", host.clone())?.to_clause());
        let cx = ToolContext::new().with_grant(Grant::new([clause(Access::Read)?, clause(Access::Write)?]));
        let Response { status, headers, body, .. } = client.send(&cx, request).await?;
        let mut response = http::Response::new(body.to_vec());
        (*response.status_mut(), *response.headers_mut()) = (status, headers);
        Ok(response)
    }
}
