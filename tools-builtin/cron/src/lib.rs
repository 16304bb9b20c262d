#![doc = include_str!("../README.md")]

mod add;
mod claim;
mod command;
mod error;
mod extension;
mod job;
mod jobs;
mod keys;
mod list;
mod lock;
mod next;
mod row;
mod schedule;
mod serve;
mod service;

use tools::{Catalog, RegisterError};

pub use error::{CronError, UnreadableJob};
pub use job::{Delivery, DueRun, Job, JobSpec, Missed, Outcome, RunEnd, RunRecord, Work};
pub use jobs::{JobLimits, Jobs};
pub use keys::JobKeys;
pub use next::next_after;
pub use schedule::{CronExpression, InvalidCron, Schedule};
pub use serve::{Clock, JobServer, Served, SystemClock};
pub use tools_zone::{UnknownZone, find_zone};

/// Registers the tools of this crate in a catalog, for hosts that do not rely on link-time registration.
///
/// # Errors
/// Returns [`RegisterError`] if a name is taken. The catalog is then unchanged.
pub fn register(catalog: &mut Catalog) -> Result<(), RegisterError> {
    catalog.submit(&[&add::ADD_TOOL, &list::LIST_TOOL, &list::REMOVE_TOOL])
}
