//! [`Proxy`]: the way to the network of a program that a tool runs.

mod answer;
mod connection;
mod forward;
mod tasks;
mod tunnel;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use http::Method;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tools::policy::{Reason, Verdict};
use tools::protocol::{Access, Target};
use tools::{Host, IgnorePoison as _, ToolContext, ToolName};
use url::Url;

use self::answer::Refusal;
use crate::exchange::Exchange;
use crate::location;

/// An HTTP proxy for a program that a tool runs. The program reaches the hosts that the grant of the call names, and no others.
///
/// | request | needs |
/// |---|---|
/// | `GET http://host/…`, `HEAD http://host/…` | `net:read:host` |
/// | other methods with `http://host/…` | `net:read:host` and `net:write:host` |
/// | `CONNECT host:443`, a tunnel, into which nobody can look | `net:read:host` and `net:write:host` |
///
/// - A clause or a rule has to *name* the host, as for tools: nobody can be asked while a program runs. The person who approved the
///   program has approved the writes that the policy asks about by default.
/// - The host of the URL counts, and replaces the header `host`. Each request on a connection is judged.
/// - A tunnel carries TLS, and the host in its first message is that of the tunnel, or none.
/// - Addresses are filtered as for tools. A name is looked up once, and the addresses that were checked are connected to.
#[derive(Clone)]
pub struct Proxy {
    exchange: Arc<Exchange>,
    /// The grant and the policy of the call, without its services: one of them may own the program, and would never be dropped.
    judge: Host,
    tool: Option<ToolName>,
    /// The sentences of the refusals, each once.
    refused: Arc<Mutex<Vec<String>>>,
    reached: Arc<Mutex<BTreeMap<String, u64>>>,
}

/// The most hosts whose connections are counted, and the most refusals that are remembered.
const MAX_COUNTED: usize = 100;

impl Proxy {
    pub(crate) fn new(exchange: Arc<Exchange>, cx: &ToolContext) -> Self {
        let judge = Host::new().with_grant(cx.grant().clone());
        let judge = match cx.policy() {
            Some(policy) => judge.with_policy(policy.clone()),
            None => judge,
        };
        Self {
            exchange,
            judge,
            tool: cx.tool().cloned(),
            refused: Arc::default(),
            reached: Arc::default(),
        }
    }

    /// Serves a connection of the program until it ends. Dropping the future ends all that belongs to it.
    pub async fn serve(&self, connection: impl AsyncRead + AsyncWrite + Send + Unpin + 'static) {
        connection::serve(self, connection).await;
    }

    /// Returns a sentence about each of the first hundred refused requests, without repetition. Requests that a server did not answer
    /// are not among them.
    pub fn refusals(&self) -> Vec<String> {
        self.refused.lock().ignore_poison().clone()
    }

    /// Returns the first hundred hosts with the number of connections to each, sorted. A host has its port, unless it is that of the
    /// scheme.
    pub fn reached_hosts(&self) -> Vec<(String, u64)> {
        let reached = self.reached.lock().ignore_poison().clone();
        reached.into_iter().collect()
    }

    /// Connects to the host of a request that was [checked](Self::check).
    async fn connect(&self, url: &Url) -> Result<TcpStream, Refusal> {
        let stream = self.exchange.dial(url).await.map_err(Refusal::Failed)?;
        let mut reached = self.reached.lock().ignore_poison();
        let host = location::net_host(url);
        if reached.len() < MAX_COUNTED || reached.contains_key(&host) {
            *reached.entry(host).or_default() += 1;
        }
        Ok(stream)
    }

    /// Checks the targets of a request.
    ///
    /// # Errors
    /// Returns the targets that are missing.
    fn check(&self, method: &Method, url: &Url) -> Result<(), Refusal> {
        let is_read = [Method::GET, Method::HEAD].contains(method);
        let accesses = if is_read {
            &[Access::Read][..]
        } else {
            &[Access::Read, Access::Write]
        };
        let host = location::net_host(url);
        let targets = accesses
            .iter()
            .filter_map(|access| Target::new(*access, "net", &*host).ok());
        let missing: Vec<_> = targets.filter(|target| !self.permits(target)).collect();
        if missing.is_empty() {
            Ok(())
        } else {
            Err(Refusal::Unpermitted(missing))
        }
    }

    /// Returns true if neither the grant, nor the policy, nor the rule of unnamed hosts stands against the target.
    fn permits(&self, target: &Target) -> bool {
        let Some(tool) = &self.tool else { return false };
        self.judge
            .rulings(tool, std::slice::from_ref(target))
            .all(|ruling| match ruling.verdict {
                Verdict::Allow => true,
                Verdict::Ask => ruling
                    .reasons()
                    .iter()
                    .all(|reason| matches!(reason, Reason::Default(_))),
                Verdict::Deny => false,
            })
    }

    fn note(&self, refusal: &Refusal) {
        let sentence = refusal.sentence();
        let mut refused = self.refused.lock().ignore_poison();
        // A server that does not answer is the program's own affair.
        let is_notable = !refusal.status().is_server_error();
        if is_notable && !refused.contains(&sentence) && refused.len() < MAX_COUNTED {
            refused.push(sentence);
        }
    }
}

tools::debug_fields!(self: Proxy {});
