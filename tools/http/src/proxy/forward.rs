//! Requests with an absolute URL, whose method and path are visible.

use http::uri::PathAndQuery;
use http::{HeaderValue, Request, Response, StatusCode, Uri, header};
use http_body_util::Either;
use hyper::body::Incoming;
use hyper::client::conn::http1::Builder;
use hyper_util::rt::TokioIo;
use url::Url;

use super::Proxy;
use super::answer::{Body, Refusal, remove_connection_headers};
use super::tasks::Tasks;
use crate::error::HttpError;
use crate::location;

/// Sends the request to the host of its URL, on a connection of its own, and returns the answer.
///
/// The request is written anew: its framing cannot hide a second one.
pub(super) async fn forward(
    proxy: &Proxy,
    tasks: &Tasks,
    request: Request<Incoming>,
) -> Result<Response<Body>, Refusal> {
    if request.uri().scheme_str() != Some("http") {
        return Err(Refusal::Request(
            "the proxy answers CONNECT host:port and requests with a URL that begins with http://",
        ));
    }
    let url = location::parse(&request.uri().to_string()).map_err(Refusal::Failed)?;
    proxy.check(request.method(), &url)?;
    let stream = proxy.connect(&url).await?;
    let broken = |error: hyper::Error| Refusal::Failed(HttpError::broken(&url, error.to_string()));
    let (mut sender, connection) = Builder::new()
        .handshake::<_, Incoming>(TokioIo::new(stream))
        .await
        .map_err(broken)?;
    tasks.spawn(async move {
        // The answer shows an error.
        let _ = connection.await;
    });
    let mut response = sender
        .send_request(rewrite(request, &url)?)
        .await
        .map_err(broken)?;
    // In another protocol, further requests could not be judged.
    if response.status() == StatusCode::SWITCHING_PROTOCOLS {
        return Err(Refusal::Failed(HttpError::invalid(
            &url,
            "it changes the protocol",
        )));
    }
    remove_connection_headers(response.headers_mut());
    Ok(response.map(Either::Left))
}

/// Returns the request as the host gets it.
fn rewrite(request: Request<Incoming>, url: &Url) -> Result<Request<Incoming>, Refusal> {
    const NO_HOST: Refusal = Refusal::Request("the host of the URL cannot be sent");
    let (mut parts, body) = request.into_parts();
    let path = parts.uri.path_and_query().cloned();
    let path = path.unwrap_or(PathAndQuery::from_static("/"));
    parts.uri = Uri::from(path);
    parts.extensions.clear();
    parts.version = http::Version::HTTP_11;
    remove_connection_headers(&mut parts.headers);
    parts.headers.remove(header::CONTENT_LENGTH);
    parts.headers.remove(header::EXPECT);
    let host = HeaderValue::from_str(&location::net_host(url)).map_err(|_| NO_HOST)?;
    parts.headers.insert(header::HOST, host);
    Ok(Request::from_parts(parts, body))
}
