//! [`Timed`]: the HTTP client, which does not wait for ever.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use rig_core::http_client::{
    BoxedStream, Error, HttpClientExt, LazyBody, MultipartForm, Request, Response, Result, StreamingResponse,
};
use rig_reqwest::{ReqwestClient, reqwest};

use super::{Format, message_end};
use crate::Patience;

#[derive(Clone, Debug)]
pub(super) struct Timed {
    http: ReqwestClient,
    format: Format,
    first_byte: Duration,
    idle: Duration,
}

/// A service said nothing for too long.
#[derive(Debug, thiserror::Error)]
#[error("{what} took more than {} ms", .limit.as_millis())]
pub(super) struct Silence {
    what: &'static str,
    limit: Duration,
}

impl Timed {
    pub(super) fn new(format: Format, patience: &Patience) -> reqwest::Result<Self> {
        let http = reqwest::Client::builder()
            .connect_timeout(patience.connect)
            // Between the bytes of an answer in one piece, which rig reads by itself.
            .read_timeout(patience.first_byte.max(patience.idle))
            // A key in a header of its own would go along to wherever the answer points.
            .redirect(reqwest::redirect::Policy::none())
            .build()?;
        Ok(Self { http: http.into(), format, first_byte: patience.first_byte, idle: patience.idle })
    }
}

impl HttpClientExt for Timed {
    fn send<T, U>(&self, request: Request<T>) -> impl Future<Output = Result<Response<LazyBody<U>>>> + Send + 'static
    where
        T: Into<Bytes> + Send,
        U: From<Bytes> + Send + 'static,
    {
        within("the first byte", self.first_byte, self.http.send(request))
    }

    fn send_multipart<U>(
        &self,
        request: Request<MultipartForm>,
    ) -> impl Future<Output = Result<Response<LazyBody<U>>>> + Send + 'static
    where
        U: From<Bytes> + Send + 'static,
    {
        within("the first byte", self.first_byte, self.http.send_multipart(request))
    }

    fn send_streaming<T>(&self, request: Request<T>) -> impl Future<Output = Result<StreamingResponse>> + Send
    where
        T: Into<Bytes> + Send,
    {
        let (format, idle) = (self.format, self.idle);
        let answer = within("the first byte", self.first_byte, self.http.send_streaming(request));
        async move {
            let answer = answer.await?.map(|body| timed(body, idle));
            Ok(if format == Format::Anthropic { answer.map(message_end::explained) } else { answer })
        }
    }
}

/// The same body, which ends with an error when the next piece takes too long.
fn timed(body: BoxedStream, idle: Duration) -> BoxedStream {
    let next = move |body: Option<BoxedStream>| async move {
        let mut body = body?;
        match tokio::time::timeout(idle, body.next()).await {
            Ok(piece) => Some((piece?, Some(body))),
            Err(_) => Some((Err(Error::instance(Silence { what: "the next piece of the answer", limit: idle })), None)),
        }
    };
    Box::pin(stream::unfold(Some(body), next))
}

async fn within<T>(what: &'static str, limit: Duration, future: impl Future<Output = Result<T>>) -> Result<T> {
    match tokio::time::timeout(limit, future).await {
        Ok(outcome) => outcome,
        Err(_) => Err(Error::instance(Silence { what, limit })),
    }
}
