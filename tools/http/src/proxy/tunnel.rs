//! Tunnels: bytes to and from a host, of which only the first message can be read.

use std::time::Duration;

use http::{Request, Response};
use http_body_util::{Either, Full};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use rustls::server::Acceptor;
use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _, copy_bidirectional};
use tokio::net::TcpStream;
use tokio::time::timeout;
use url::{Host, Url};

use super::Proxy;
use super::answer::{Body, Refusal};
use super::tasks::Tasks;
use crate::location;

/// The limits of the first message of a tunnel.
const MAX_HELLO: usize = 64 * 1024;
const HELLO_TIME: Duration = Duration::from_secs(30);

/// Connects to the host, and carries the bytes of the tunnel in a task of the connection.
pub(super) async fn open(
    proxy: &Proxy,
    tasks: &Tasks,
    request: Request<Incoming>,
) -> Result<Response<Body>, Refusal> {
    let uri = request.uri();
    let authority = uri
        .authority()
        .filter(|_| uri.scheme().is_none() && uri.path_and_query().is_none());
    let authority = authority.ok_or(Refusal::Request("CONNECT is followed by host:port"))?;
    // `CONNECT` has no scheme. With this one, the target of port 443 is the host alone, as a grant names it.
    let url = location::parse(&format!("https://{authority}/")).map_err(Refusal::Failed)?;
    proxy.check(request.method(), &url)?;
    let server = proxy.connect(&url).await?;
    let proxy = proxy.clone();
    let upgrade = hyper::upgrade::on(request);
    tasks.spawn(async move {
        // An error means that the program went away.
        let Ok(client) = upgrade.await else { return };
        if let Err(reason) = carry(TokioIo::new(client), server, &url).await {
            proxy.note(&Refusal::Tunnel {
                host: location::net_host(&url),
                reason,
            });
        }
    });
    Ok(Response::new(Either::Right(Full::default())))
}

/// Carries bytes in both directions until both sides have ended.
///
/// # Errors
/// Returns the reason for which nothing was carried.
async fn carry(
    mut client: impl AsyncRead + AsyncWrite + Unpin,
    mut server: TcpStream,
    url: &Url,
) -> Result<(), String> {
    let hello = timeout(HELLO_TIME, hello(&mut client, url)).await;
    let hello =
        hello.unwrap_or_else(|_| Err("its first message was not complete in time".to_owned()))?;
    // A connection that breaks is the affair of the program and the server.
    if server.write_all(&hello).await.is_ok() {
        let _ = copy_bidirectional(&mut client, &mut server).await;
    }
    Ok(())
}

/// Reads the first message of TLS, which names the host in plain text.
async fn hello(client: &mut (impl AsyncRead + Unpin), url: &Url) -> Result<Vec<u8>, String> {
    let mut acceptor = Acceptor::default();
    let mut hello = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let length = client.read(&mut piece).await.unwrap_or(0);
        hello.extend_from_slice(&piece[..length]);
        if length == 0 || hello.len() > MAX_HELLO {
            return Err("it did not begin with a message of TLS".to_owned());
        }
        let mut rest = &piece[..length];
        while !rest.is_empty() {
            let read = acceptor.read_tls(&mut rest).map(|_| acceptor.accept());
            let Ok(Ok(accepted)) = read else {
                return Err("it did not begin with a message of TLS".to_owned());
            };
            if let Some(accepted) = accepted {
                // Servers of many hosts choose by it.
                if let Some(name) = accepted.client_hello().server_name()
                    && !matches!(url.host(), Some(Host::Domain(host)) if host.eq_ignore_ascii_case(name))
                {
                    return Err("its first message names another host".to_owned());
                }
                return Ok(hello);
            }
        }
    }
}
