//! A connection of a program to the proxy.

use std::convert::Infallible;
use std::time::Duration;

use http::{Method, Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1::Builder;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};

use super::answer::{Body, Refusal};
use super::tasks::Tasks;
use super::{Proxy, forward, tunnel};

/// The limits of the head of a request, and of the time until it is complete.
const MAX_HEAD: usize = 64 * 1024;
const MAX_HEADERS: usize = 200;
const HEAD_TIME: Duration = Duration::from_secs(30);

/// Answers the requests of a connection, and carries its tunnel.
pub(super) async fn serve(
    proxy: &Proxy,
    connection: impl AsyncRead + AsyncWrite + Send + Unpin + 'static,
) {
    let tasks = Tasks::default();
    let service = service_fn(|request| {
        let proxy = proxy.clone();
        let tasks = tasks.clone();
        async move { Ok::<_, Infallible>(answer(&proxy, &tasks, request).await) }
    });
    let mut builder = Builder::new();
    // A program may end its side after its last request.
    builder.half_close(true);
    builder
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(MAX_HEAD)
        .max_headers(MAX_HEADERS);
    // An error means that the program sent no HTTP, or went away.
    let _ = builder
        .serve_connection(TokioIo::new(connection), service)
        .with_upgrades()
        .await;
    // A tunnel goes on after the upgrade, with which the connection of HTTP has ended.
    tasks.take().join_all().await;
}

async fn answer(proxy: &Proxy, tasks: &Tasks, request: Request<Incoming>) -> Response<Body> {
    let answer = match *request.method() {
        Method::CONNECT => tunnel::open(proxy, tasks, request).await,
        _ => forward::forward(proxy, tasks, request).await,
    };
    answer.unwrap_or_else(|refusal: Refusal| {
        proxy.note(&refusal);
        refusal.response()
    })
}
