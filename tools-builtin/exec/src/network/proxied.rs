//! The proxy of one program, behind the address filter of `toolcrib-http`.

use std::time::Duration;

use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};
use tools::ToolContext;
use tools_http::{HttpClient, Proxy};

use crate::walls::{Gate, PROXY};

/// The most connections of a program at the same time. Others wait.
const MAX_CONNECTIONS: usize = 64;

/// The pause after a connection that was not accepted.
const PAUSE: Duration = Duration::from_millis(50);

const NO_CLIENT: &str = "the host has no HTTP client";

/// The most hosts, and the most refused requests, that a result names.
const NAMED: usize = 10;

/// Hosts that programs reach without the proxy: their own servers, in their own network.
const OWN: &str = "localhost,127.0.0.1,::1";

/// The network of a program. A drop ends all its connections.
pub(crate) struct Network {
    proxy: Proxy,
    gate: Gate,
    task: JoinHandle<()>,
}

impl Network {
    /// Returns the reason why programs have no network here.
    pub(crate) fn check(cx: &ToolContext) -> Result<(), &'static str> {
        cx.service::<HttpClient>().map(drop).ok_or(NO_CLIENT)
    }

    /// Serves a program in bubblewrap that starts later. Must be called in a Tokio runtime. Returns `None` if the grant has no hosts.
    ///
    /// # Errors
    /// Returns a sentence for the model if the grant has hosts, and programs cannot reach them.
    pub(crate) fn start(cx: &ToolContext) -> Result<Option<Self>, String> {
        if !super::is_granted(cx) {
            return Ok(None);
        }
        let client = cx.service::<HttpClient>().ok_or(NO_CLIENT);
        let started = client.map_err(str::to_owned).and_then(|client| {
            let gate = Gate::new().map_err(|error| error.to_string())?;
            Ok(Self::serve(client.proxy(cx), gate))
        });
        match started {
            Ok(network) => Ok(Some(network)),
            // A grant of everything names no host.
            Err(_) if super::hosts(cx).is_empty() => Ok(None),
            Err(reason) => Err(format!("the program had no network, because {reason}")),
        }
    }

    fn serve(proxy: Proxy, gate: Gate) -> Self {
        let serving = proxy.clone();
        let way = gate.clone();
        let task = tokio::spawn(async move {
            // An error means that the program did not start, which its end tells.
            if let Ok(listener) = way.listener().await {
                accept(&listener, &serving).await;
            }
        });
        Self { proxy, gate, task }
    }

    /// Returns the launch of the program, with a way to the proxy.
    pub(crate) fn gate(&self) -> Gate {
        self.gate.clone()
    }

    /// Returns the variables that lead the program to the proxy.
    pub(crate) fn variables(&self) -> Vec<(String, String)> {
        // `HTTP_PROXY` is left out: some programs refuse it, because a request to a CGI script can set it.
        let proxies = "http_proxy https_proxy HTTPS_PROXY all_proxy ALL_PROXY".split(' ');
        let proxies = proxies.map(|name| (name.to_owned(), format!("http://{PROXY}")));
        let own = ["no_proxy", "NO_PROXY"].map(|name| (name.to_owned(), OWN.to_owned()));
        // Node.js does not use proxies without it.
        let node = ("NODE_USE_ENV_PROXY".to_owned(), "1".to_owned());
        proxies.chain(own).chain([node]).collect()
    }

    /// Returns notes about connections and refused requests for the model.
    pub(crate) fn notes(&self) -> Vec<String> {
        let reached = self.proxy.reached_hosts();
        let mut hosts: Vec<_> = reached
            .iter()
            .take(NAMED)
            .map(|(host, count)| format!("{host} ({count})"))
            .collect();
        if reached.len() > NAMED {
            hosts.push(format!("at least {} more hosts", reached.len() - NAMED));
        }
        let reached = (!hosts.is_empty())
            .then(|| format!("connections of the program: {}", hosts.join(", ")));
        let refused = self.proxy.refusals();
        let named = refused
            .iter()
            .take(NAMED)
            .map(|sentence| format!("a request of the program was refused: {sentence}"));
        let more = refused.len().saturating_sub(NAMED);
        let more = (more > 0)
            .then(|| format!("at least {more} more requests of the program were refused"));
        reached.into_iter().chain(named).chain(more).collect()
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn accept(listener: &TcpListener, proxy: &Proxy) {
    // Dropping the set ends the connections.
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        if connections.len() >= MAX_CONNECTIONS {
            connections.join_next().await;
        }
        let Ok((connection, _)) = listener.accept().await else {
            // The connection is broken, or this process has too many files open.
            tokio::time::sleep(PAUSE).await;
            continue;
        };
        let proxy = proxy.clone();
        connections.spawn(async move { proxy.serve(connection).await });
    }
}

#[cfg(test)]
mod tests {
    use tools::Grant;

    use super::*;
    use tools::Host;

    fn start(clauses: &[&str], client: Option<HttpClient>) -> Result<bool, String> {
        let mut cx = Host::new().with_grant(Grant::parse(clauses).unwrap());
        if let Some(client) = client {
            cx = cx.with_service(client);
        }
        Network::start(&cx).map(|network| network.is_some())
    }

    #[tokio::test]
    async fn hosts_that_programs_cannot_reach_are_told() {
        let hosts = ["fs:read:**", "net:read:example.org"];
        assert_eq!(start(&hosts, Some(HttpClient::default())), Ok(true));
        assert!(start(&hosts, None).unwrap_err().contains("HTTP client"));
        // These name no host.
        for clauses in [&["fs:read:**"][..], &["*:*:**"], &["net:read:**"]] {
            assert_eq!(start(clauses, None), Ok(false), "{clauses:?}");
        }
    }
}
