//! [`Connection`]: keeps a server connected and its tools registered.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{self, ErrorCode, ServerNotification, SubscriptionFilter};
use rmcp::service::{Peer, RunningService, ServiceError, Subscription};
use tokio::time::{Instant, sleep, sleep_until, timeout};

use crate::client::connect::connect;
use crate::client::error::ImportError;
use crate::client::imported::{Imported, State, Status};
use crate::client::listing::{Listed, list};
use crate::client::registration::Registration;
use crate::client::server::end;
use crate::client::service::Client;
use crate::client::transport_reason::reason;

/// The first delay before a new connection, without jitter.
const SHORTEST: Duration = Duration::from_millis(500);

/// The maximum delay before a new connection, without jitter.
const LONGEST: Duration = Duration::from_secs(60);

/// The number of failed connections in a row after which the next one waits for a call.
const MAX_FAILURES: usize = 10;

/// The duration after which a connection counts as stable, so that the delays begin anew.
const STABLE: Duration = Duration::from_secs(60);

/// The shortest time between two lists of a server that reports changes.
const MIN_INTERVAL: Duration = Duration::from_millis(500);

/// The shortest time between two lists of a server whose lists expire.
const MIN_FRESH: Duration = Duration::from_secs(10);

/// The time after which a failed list is repeated.
const LIST_AGAIN: Duration = Duration::from_secs(30);

/// The time for the acknowledgement of a subscription, before the list is read without one.
const ACKNOWLEDGEMENT: Duration = Duration::from_secs(2);

/// The time for a connection to end in order.
const GRACE: Duration = Duration::from_secs(5);

/// Keeps a server connected and its tools registered.
pub(super) struct Connection {
    pub(super) imported: Arc<Imported>,
    pub(super) registration: Registration,
    /// Registers the tool that reads resources, for the first server that has some.
    pub(super) read_resources: Box<dyn Fn() + Send + Sync>,
}

impl Connection {
    /// Runs until the server is removed.
    pub(super) async fn run(mut self) {
        let imported = self.imported.clone();
        let client = Client { imported };
        let mut is_legacy = false;
        let mut failures = 0;
        let mut delays = delays();
        if self.imported.status() == Status::Idle {
            self.imported
                .stop
                .run_until_cancelled(self.imported.wanted.notified())
                .await;
            self.imported.set(State::Connecting);
        }
        while !self.imported.stop.is_cancelled() {
            let connecting = connect(&self.imported, &client, &mut is_legacy);
            let Some(connected) = self.imported.stop.run_until_cancelled(connecting).await else {
                break;
            };
            let started = Instant::now();
            let reason = match connected {
                Ok((running, process)) => {
                    self.serve(running).await;
                    end(process).await.map_or_else(
                        || "the connection ended".to_owned(),
                        |reason| self.imported.show_text(&reason),
                    )
                }
                Err(error) => {
                    tracing::warn!(server = self.imported.name().as_str(), "{error}");
                    let reason = match &error {
                        ImportError::Open { reason, .. } => reason.clone(),
                        other => other.to_string(),
                    };
                    self.fail(error);
                    reason
                }
            };
            self.imported.set(State::Down {
                reason: reason.into(),
            });
            failures += 1;
            if started.elapsed() > STABLE {
                (failures, delays) = (0, self::delays());
            }
            let wait = async {
                sleep(delays.next().unwrap_or(LONGEST)).await;
                if failures >= MAX_FAILURES {
                    self.imported.wanted.notified().await;
                }
            };
            self.imported.stop.run_until_cancelled(wait).await;
        }
        drop(self.registration);
        let name = self.imported.name().clone();
        self.imported
            .outcome
            .send_replace(Some(Err(ImportError::Removed { name })));
        self.imported.set(State::Closed);
    }

    /// Uses a connection until it ends or the server is removed.
    async fn serve(&mut self, running: RunningService<RoleClient, Client>) {
        let peer = running.peer().clone();
        let end = running.cancellation_token();
        let mut ended = std::pin::pin!(running.waiting());
        self.imported.set_up(peer.clone());
        if model::Resource::is_offered(&peer) {
            (self.read_resources)();
        }
        tokio::select! {
            _ = &mut ended => return,
            () = self.imported.stop.clone().cancelled_owned() => {}
            () = self.follow(&peer) => {}
        }
        end.cancel();
        let _ = timeout(GRACE, ended).await;
    }

    /// Keeps the registered tools equal to the server's list.
    async fn follow(&mut self, peer: &Peer<RoleClient>) {
        let Some(changes) = changes(peer) else {
            return self.list_again(peer).await;
        };
        let first = timeout(ACKNOWLEDGEMENT, peer.listen(changes.clone())).await;
        let imported = self.imported.clone();
        tokio::select! {
            () = self.list_again(peer) => {}
            () = listen(&imported, peer, changes, first.ok()) => {}
        }
    }

    async fn list_again(&mut self, peer: &Peer<RoleClient>) {
        loop {
            let again = self.list(peer).await;
            let interval = sleep(MIN_INTERVAL);
            tokio::select! {
                () = self.imported.changed.notified() => {}
                () = sleep_until(again.unwrap_or_else(Instant::now)), if again.is_some() => {}
            }
            interval.await;
        }
    }

    /// Reads the list, and returns the time to read it again.
    async fn list(&mut self, peer: &Peer<RoleClient>) -> Option<Instant> {
        let listing = match list::<model::Tool>(peer).await {
            Ok(listing) => listing,
            Err(error) => {
                let name = self.imported.name().clone();
                let reason = self.imported.show_text(&reason(&error));
                tracing::warn!(
                    server = name.as_str(),
                    reason,
                    "the server does not list its tools"
                );
                self.imported.set_unlisted(&reason);
                self.fail(ImportError::List {
                    name,
                    what: "tools",
                    reason,
                });
                return Some(Instant::now() + LIST_AGAIN);
            }
        };
        let fresh_until = listing.fresh_until;
        let has_resources = model::Resource::is_offered(peer);
        let report = self
            .registration
            .update(&self.imported, listing, has_resources)
            .await;
        for refused in &report.refused {
            tracing::warn!(server = self.imported.name().as_str(), "{refused}");
        }
        for note in &report.notes {
            tracing::warn!(server = self.imported.name().as_str(), "{note}");
        }
        self.imported
            .outcome
            .send_replace(Some(Ok(Arc::new(report))));
        fresh_until.map(|until| until.max(Instant::now() + MIN_FRESH))
    }

    /// Reports an error, unless there is a report of tools, which stay registered.
    fn fail(&self, error: ImportError) {
        self.imported.outcome.send_if_modified(|outcome| {
            let has_tools = matches!(outcome, Some(Ok(_)));
            if !has_tools {
                *outcome = Some(Err(error));
            }
            !has_tools
        });
    }
}

fn delays() -> impl Iterator<Item = Duration> {
    tools::call::delays(SHORTEST, LONGEST, usize::MAX)
}

/// Returns the changes that a server reports to subscribers. Returns `None` if there are none, or if it reports them without a
/// subscription.
fn changes(peer: &Peer<RoleClient>) -> Option<SubscriptionFilter> {
    let info = peer
        .peer_info()
        .filter(|info| !info.protocol_version.has_initialize())?;
    let all = SubscriptionFilter::builder()
        .tools_list_changed()
        .prompts_list_changed()
        .resources_list_changed();
    let changes = all.build().supported_by(&info.capabilities);
    (changes != SubscriptionFilter::default()).then_some(changes)
}

/// Follows the subscription to changes, and opens it again when it ends.
async fn listen(
    imported: &Imported,
    peer: &Peer<RoleClient>,
    changes: SubscriptionFilter,
    first: Option<Result<Subscription, ServiceError>>,
) {
    let mut opened = first;
    let mut delays = delays();
    loop {
        match opened.take() {
            Some(Ok(mut subscription)) => {
                while let Ok(Some(change)) = subscription.next().await {
                    match change {
                        ServerNotification::PromptListChangedNotification(_) => {
                            imported.lists.prompts.expire()
                        }
                        ServerNotification::ResourceListChangedNotification(_) => {
                            imported.lists.expire_resources()
                        }
                        _ => imported.expire_list(),
                    }
                }
            }
            Some(Err(ServiceError::McpError(error)))
                if error.code == ErrorCode::METHOD_NOT_FOUND =>
            {
                // It knows no subscriptions, so asking again is of no use.
                pending().await
            }
            _ => {}
        }
        sleep(delays.next().unwrap_or(LONGEST)).await;
        opened = Some(peer.listen(changes.clone()).await);
        // A change in the meantime was not reported.
        imported.changed.notify_one();
        imported.lists.expire();
    }
}
