//! [`Redirect`]: receives the answer of the person's browser.

use std::io;
use std::net::Ipv4Addr;
use std::sync::{Arc, OnceLock};

use tools::CancellationToken;
use tools_http::server::{Server, ServerAnswer, ServerOptions};
use tools_http::{Method, StatusCode, Url};

const PATH: &str = "/callback";

/// Receives the answer of the person's browser, on a loopback port.
pub(super) struct Redirect {
    server: Server,
    pub(super) url: String,
}

impl Redirect {
    /// Listens at a port of this machine. Port 0 is any.
    pub(super) async fn listen(port: u16) -> io::Result<Self> {
        let address = (Ipv4Addr::LOCALHOST, port).into();
        let server = Server::bind(address, ServerOptions::default()).await?;
        let url = format!("http://{}{PATH}", server.address());
        Ok(Self { server, url })
    }

    /// Waits for a request with this state, and returns its URL. Other programs of this machine may make others.
    pub(super) async fn answer(self, state: String) -> io::Result<String> {
        let (found, shutdown) = (Arc::new(OnceLock::new()), CancellationToken::new());
        let (answered, ended) = (found.clone(), shutdown.clone());
        let answer = move |request: tools_http::server::ServerRequest| {
            let url = Url::parse(&format!("{}?{}", self.url, request.query)).ok();
            let url = url.filter(|url| {
                let mut pairs = url.query_pairs();
                request.method == Method::GET
                    && request.path == PATH
                    && pairs.any(|(name, value)| name == "state" && value == *state)
            });
            std::future::ready(match url {
                Some(url) => {
                    answered.get_or_init(|| url.to_string());
                    ended.cancel();
                    let text = "You can close this window and return to the program.";
                    ServerAnswer::new(StatusCode::OK, text)
                }
                None => ServerAnswer::new(StatusCode::NOT_FOUND, "There is nothing here."),
            })
        };
        // Ends after the browser has its answer.
        self.server.serve(answer, shutdown).await;
        let url = found.get().cloned();
        url.ok_or_else(|| io::Error::other("the port was closed"))
    }
}
