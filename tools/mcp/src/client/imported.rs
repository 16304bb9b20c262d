//! [`Imported`]: a handle of an imported server.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;

use crate::client::connection::Outcome;
use crate::client::error::ImportError;
use crate::client::link::Link;
use crate::client::report::Report;
use crate::client::server_name::ServerName;
use crate::client::status::Status;

/// The time limit of a list that is read again for a single name.
const LISTING: Duration = Duration::from_secs(2);

/// A handle of an imported server. Clones share the server, which stays until [`Servers`](super::Servers) removes it.
#[derive(Clone)]
pub struct Imported {
    pub(super) link: Arc<Link>,
    pub(super) outcome: watch::Receiver<Outcome>,
}

impl Imported {
    /// Returns the name.
    pub fn name(&self) -> &ServerName {
        self.link.name()
    }

    /// Returns the state of the connection.
    pub fn status(&self) -> Status {
        self.link.status()
    }

    /// Waits until the tools are registered, and returns the latest report.
    ///
    /// # Errors
    /// Returns an error if the first attempt failed. More attempts follow, so a later call can succeed.
    pub async fn ready(&self) -> Result<Arc<Report>, ImportError> {
        self.link.want();
        let mut outcome = self.outcome.clone();
        match outcome.wait_for(Option::is_some).await.as_deref() {
            Ok(Some(outcome)) => outcome.clone(),
            _ => Err(ImportError::Removed {
                name: self.name().clone(),
            }),
        }
    }

    /// Reads the list of tools again, and waits for it up to a short limit, for example because a model knows a tool that the list has not.
    pub async fn list_again(&self) {
        self.link.expire_list();
        let _ = tokio::time::timeout(LISTING, self.link.ready()).await;
    }

    /// Reads the list of tools again soon, for example after the answers of the [review](super::Import::with_review) have changed.
    pub fn refresh(&self) {
        self.link.changed.notify_one();
    }
}

impl fmt::Debug for Imported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Imported")
            .field("name", self.name())
            .field("status", &self.status())
            .finish_non_exhaustive()
    }
}
