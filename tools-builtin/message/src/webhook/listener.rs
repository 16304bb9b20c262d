//! [`Listener`]: takes the messages that a service posts.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use serde_json::Value;
use tools::IgnorePoison as _;
use tools_http::server::{Server, ServerAnswer, ServerOptions, ServerRequest};
use tools_http::{Method, StatusCode};

use super::seen::Seen;
use super::signature::Signature;
use super::{Format, slack};
use super::{Parsed, message, text};
use crate::incoming::{Inbox, ListenError};

/// The number of messages that may come at once, and further ones in a second.
const BURST: f64 = 50.0;
const PER_SECOND: f64 = 5.0;

/// The place that a service posts messages to.
#[derive(Debug)]
pub(super) struct Listener {
    pub(super) address: SocketAddr,
    pub(super) hosts: Vec<String>,
    pub(super) signature: Signature,
    pub(super) format: Format,
    /// The channel of Slack whose messages are taken.
    pub(super) chat: Option<String>,
}

impl Listener {
    /// Takes messages until the shutdown.
    pub(super) async fn listen(self: Arc<Self>, inbox: Inbox) -> Result<(), ListenError> {
        let mut options = ServerOptions::default();
        options.hosts.clone_from(&self.hosts);
        let seen = Seen::open(inbox.folder());
        let seen = seen.map_err(|error| unusable("the folder of the channel", &error))?;
        let server = Server::bind(self.address, options).await;
        let server =
            server.map_err(|error| unusable(&format!("the address {}", self.address), &error))?;
        inbox.note(&format!("listening at http://{}/", server.address()));
        let intake = Arc::new(Intake {
            listener: self,
            admission: Mutex::new(Admission {
                seen,
                tokens: BURST,
                at: Instant::now(),
            }),
            was_noted: AtomicBool::new(false),
            inbox: inbox.clone(),
        });
        let shutdown = inbox.shutdown().clone();
        let served = server.serve(
            move |request| {
                let intake = intake.clone();
                async move { intake.answer(&request) }
            },
            shutdown,
        );
        served.await;
        Ok(())
    }
}

fn unusable(what: &str, error: &std::io::Error) -> ListenError {
    let advice = "check the settings of the channel";
    ListenError::new(format!("{what} cannot be used: {error}; {advice}"))
}

/// Answers requests, and takes the messages in them.
struct Intake {
    listener: Arc<Listener>,
    admission: Mutex<Admission>,
    /// True once a person was told about messages of other chats.
    was_noted: AtomicBool,
    inbox: Inbox,
}

/// The messages that were taken, and the number that may come now.
struct Admission {
    seen: Seen,
    /// The messages that may come now.
    tokens: f64,
    at: Instant,
}

impl Intake {
    fn answer(&self, request: &ServerRequest) -> ServerAnswer {
        if request.path != "/" {
            return ServerAnswer::new(StatusCode::NOT_FOUND, "not found");
        }
        if request.method != Method::POST {
            return ServerAnswer::new(StatusCode::METHOD_NOT_ALLOWED, "post a message");
        }
        let signature = &self.listener.signature;
        let Some(signature) = signature.check(&request.headers, &request.body, now()) else {
            let reason = "the signature is missing, wrong or too old";
            return ServerAnswer::new(StatusCode::UNAUTHORIZED, reason);
        };
        let parsed =
            serde_json::from_slice(&request.body).map_err(|_| "the body is not JSON".to_owned());
        let (message, id) = match parsed.and_then(|body| self.parse(&body)) {
            Err(reason) => return ServerAnswer::new(StatusCode::BAD_REQUEST, reason),
            Ok(Parsed::Elsewhere) => {
                if !self.was_noted.swap(true, Ordering::Relaxed) {
                    self.inbox
                        .note("messages of other channels of Slack than `chat` are ignored");
                }
                let answer = "ignored: the settings name another channel";
                return ServerAnswer::new(StatusCode::OK, answer);
            }
            Ok(Parsed::Ignored) => return ServerAnswer::new(StatusCode::OK, "ignored"),
            Ok(Parsed::Challenge(text)) => return ServerAnswer::new(StatusCode::OK, text),
            Ok(Parsed::Message(message, id)) => (message, id),
        };
        // The id is signed too, so a replay has the id.
        let key = id.map_or_else(|| signature.to_vec(), |id| format!("id {id}").into_bytes());
        let mut admission = self.admission.lock().ignore_poison();
        if admission.seen.contains(&key) {
            // A service that repeats a message it got no answer to is told that it arrived. So is one who replays it.
            return ServerAnswer::new(StatusCode::OK, "taken before");
        }
        if !admission.take_token() {
            let reason = "too many messages; send it again later";
            return ServerAnswer::new(StatusCode::TOO_MANY_REQUESTS, reason);
        }
        let mut claim = || admission.seen.insert(&key);
        match self.inbox.offer(message, &mut claim) {
            Ok(()) => ServerAnswer::new(StatusCode::OK, "taken"),
            Err(error) => ServerAnswer::new(StatusCode::SERVICE_UNAVAILABLE, error.to_string()),
        }
    }

    fn parse(&self, body: &Value) -> Result<Parsed, String> {
        match self.listener.format {
            Format::Slack => slack::parse(body, self.listener.chat.as_deref()),
            Format::Generic => Ok(Parsed::Message(
                message(text(body, "chat"), text(body, "text"))?,
                text(body, "id"),
            )),
        }
    }
}

impl Admission {
    /// Returns false if too many messages came in a short time.
    fn take_token(&mut self) -> bool {
        let passed = self.at.elapsed().as_secs_f64();
        self.at = Instant::now();
        self.tokens = (self.tokens + passed * PER_SECOND).min(BURST);
        if self.tokens < 1.0 {
            return false;
        }
        self.tokens -= 1.0;
        true
    }
}

/// Returns the time in seconds since 1970.
fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}
