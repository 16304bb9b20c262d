//! [`TimeoutClient`]: an HTTP client that limits the wait for each part of a response.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use rig_core::http_client::{
    BoxedStream, Error, HttpClientExt, LazyBody, MultipartForm, Request, Response, Result, StreamingResponse,
};
use rig_reqwest::{ReqwestClient, reqwest};

use super::outgoing::Outgoing;
use super::{Api, message_end, redaction};
use crate::Timeouts;

#[derive(Clone, Debug)]
pub(super) struct TimeoutClient {
    http: ReqwestClient,
    outgoing: Outgoing,
    api: Api,
    first_byte: Duration,
    idle: Duration,
}

/// A service exceeded a time limit.
#[derive(Debug, thiserror::Error)]
#[error("{awaited} took more than {} ms", .limit.as_millis())]
pub(super) struct TimedOut {
    awaited: &'static str,
    limit: Duration,
}

impl TimeoutClient {
    pub(super) fn new(api: Api, client: reqwest::Client, outgoing: Outgoing, timeouts: &Timeouts) -> Self {
        Self { http: client.into(), outgoing, api, first_byte: timeouts.first_byte, idle: timeouts.idle }
    }
}

impl HttpClientExt for TimeoutClient {
    fn send<T, U>(&self, request: Request<T>) -> impl Future<Output = Result<Response<LazyBody<U>>>> + Send + 'static
    where
        T: Into<Bytes> + Send,
        U: From<Bytes> + Send + 'static,
    {
        with_timeout("the first byte", self.first_byte, self.http.send(self.outgoing.corrected(request)))
    }

    fn send_multipart<U>(
        &self,
        request: Request<MultipartForm>,
    ) -> impl Future<Output = Result<Response<LazyBody<U>>>> + Send + 'static
    where
        U: From<Bytes> + Send + 'static,
    {
        with_timeout("the first byte", self.first_byte, self.http.send_multipart(self.outgoing.corrected(request)))
    }

    fn send_streaming<T>(&self, request: Request<T>) -> impl Future<Output = Result<StreamingResponse>> + Send
    where
        T: Into<Bytes> + Send,
    {
        let (api, idle, key) = (self.api, self.idle, self.outgoing.key().clone());
        let response =
            with_timeout("the first byte", self.first_byte, self.http.send_streaming(self.outgoing.corrected(request)));
        async move {
            let response = response.await?.map(|body| redaction::without_key(with_idle_timeout(body, idle), &key));
            Ok(if api == Api::Anthropic { response.map(message_end::with_stop_reason) } else { response })
        }
    }
}

/// Wraps a body so that it ends with an error if the next piece takes too long.
fn with_idle_timeout(body: BoxedStream, idle: Duration) -> BoxedStream {
    let next = move |body: Option<BoxedStream>| async move {
        let mut body = body?;
        match tokio::time::timeout(idle, body.next()).await {
            Ok(piece) => Some((piece?, Some(body))),
            Err(_) => {
                Some((Err(Error::instance(TimedOut { awaited: "the next piece of the response", limit: idle })), None))
            }
        }
    };
    Box::pin(stream::unfold(Some(body), next))
}

async fn with_timeout<T>(awaited: &'static str, limit: Duration, future: impl Future<Output = Result<T>>) -> Result<T> {
    match tokio::time::timeout(limit, future).await {
        Ok(outcome) => outcome,
        Err(_) => Err(Error::instance(TimedOut { awaited, limit })),
    }
}
