//! [`TimeoutClient`]: an HTTP client that limits the wait for each part of a response.

use std::future::Future;
use std::time::Duration;

use bytes::Bytes;
use futures_util::{StreamExt, stream};
use rig_core::http_client::{
    BoxedStream, Error, HttpClientExt, LazyBody, MultipartForm, Request, Response, Result,
    StatusCode, StreamingResponse,
};
use rig_reqwest::{ReqwestClient, reqwest};

use super::outgoing::Outgoing;
use super::payload::{WrongPayload, checked};
use super::split_characters::readable;
use super::{Api, event_stream};
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
    /// True if no byte of the reply had arrived.
    pub(super) is_before_reply: bool,
}

impl TimeoutClient {
    pub(super) fn new(
        api: Api,
        client: reqwest::Client,
        outgoing: Outgoing,
        timeouts: &Timeouts,
    ) -> Self {
        Self {
            http: client.into(),
            outgoing,
            api,
            first_byte: timeouts.first_byte,
            idle: timeouts.idle,
        }
    }
}

impl HttpClientExt for TimeoutClient {
    fn send<T, U>(
        &self,
        request: Request<T>,
    ) -> impl Future<Output = Result<Response<LazyBody<U>>>> + Send + 'static
    where
        T: Into<Bytes> + Send,
        U: From<Bytes> + Send + 'static,
    {
        let api = self.api;
        let request = self.outgoing.corrected(request).map(Into::into);
        let response = first_byte(self.first_byte, self.http.send::<Bytes, Bytes>(request));
        async move {
            Ok(response.await?.map(move |body| -> LazyBody<U> {
                Box::pin(async move { Ok(read(api, body.await?).map_err(Error::instance)?.into()) })
            }))
        }
    }

    fn send_multipart<U>(
        &self,
        request: Request<MultipartForm>,
    ) -> impl Future<Output = Result<Response<LazyBody<U>>>> + Send + 'static
    where
        U: From<Bytes> + Send + 'static,
    {
        first_byte(
            self.first_byte,
            self.http.send_multipart(self.outgoing.corrected(request)),
        )
    }

    fn send_streaming<T>(
        &self,
        request: Request<T>,
    ) -> impl Future<Output = Result<StreamingResponse>> + Send
    where
        T: Into<Bytes> + Send,
    {
        let (api, idle) = (self.api, self.idle);
        let request = self.outgoing.corrected(request).map(Into::into);
        let response = first_byte(self.first_byte, self.http.send_streaming(request));
        async move {
            let response = response.await?.map(|body| with_idle_timeout(body, idle));
            match response.status() {
                StatusCode::OK => event_stream::events(api, response).await,
                // rig reads the body of any other status as an error.
                _ => Ok(response),
            }
        }
    }
}

/// Returns the body of a whole reply, after a check.
fn read(api: Api, body: Bytes) -> std::result::Result<Bytes, WrongPayload> {
    let text = String::from_utf8_lossy(&body);
    Ok(checked(api, &readable(&text))?.into_owned().into())
}

/// Wraps a body so that it ends with an error if the next piece takes too long.
fn with_idle_timeout(body: BoxedStream, idle: Duration) -> BoxedStream {
    let next = move |body: Option<BoxedStream>| async move {
        let mut body = body?;
        match tokio::time::timeout(idle, body.next()).await {
            Ok(piece) => Some((piece?, Some(body))),
            Err(_) => {
                let awaited = "the next piece of the response";
                Some((
                    Err(Error::instance(TimedOut {
                        awaited,
                        limit: idle,
                        is_before_reply: false,
                    })),
                    None,
                ))
            }
        }
    };
    Box::pin(stream::unfold(Some(body), next))
}

/// Limits the wait for the first byte of a reply.
async fn first_byte<T>(limit: Duration, reply: impl Future<Output = Result<T>>) -> Result<T> {
    match tokio::time::timeout(limit, reply).await {
        Ok(outcome) => outcome,
        Err(_) => Err(Error::instance(TimedOut {
            awaited: "the first byte",
            limit,
            is_before_reply: true,
        })),
    }
}
