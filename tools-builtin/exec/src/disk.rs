//! [`Disk`]: the limit of all that a program writes.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time between two looks at the disk.
const INTERVAL: Duration = Duration::from_millis(300);

/// The bytes that a program has to leave, unless there were fewer than twice as many before it.
const RESERVE: u64 = 256 << 20;

/// The free space where a program writes. The kernel limits each file, and not all of them together.
#[derive(Clone, Debug)]
pub(crate) struct Disk {
    /// Each place with the bytes that were free at the start.
    places: Vec<(PathBuf, u64)>,
    limit: Option<u64>,
}

impl Disk {
    /// Looks at the free space of these places. `limit` is the number of bytes that may be taken from each.
    pub(crate) fn new(places: impl IntoIterator<Item = PathBuf>, limit: Option<u64>) -> Self {
        let places = places
            .into_iter()
            .filter_map(|place| free(&place).map(|free| (place, free)));
        Self {
            places: places.collect(),
            limit,
        }
    }

    /// Waits until the limit is exceeded. Returns the reason.
    pub(crate) async fn watch_limit(&self) -> String {
        loop {
            tokio::time::sleep(INTERVAL).await;
            if let Some(reason) = self.fault() {
                return reason;
            }
        }
    }

    fn fault(&self) -> Option<String> {
        let faults = self.places.iter().find_map(|(place, before)| {
            let now = free(place)?;
            let taken = before.saturating_sub(now);
            let is_over = self.limit.is_some_and(|limit| taken > limit);
            // Other programs write, too, so a full disk counts only if this one can have filled it.
            let is_full = now < RESERVE.min(before / 2);
            let (taken_mib, left_mib) = (taken >> 20, now >> 20);
            match (is_over, is_full) {
                (true, _) => Some(format!(
                    "{taken_mib} MiB of the disk were taken while it ran"
                )),
                (false, true) => Some(format!("it left {left_mib} MiB of the disk")),
                (false, false) => None,
            }
        })?;
        Some(format!(
            "{faults}; write less, or ask the user to make room"
        ))
    }
}

/// Returns the paths of a folder's entries, as far as they can be read.
pub(crate) fn entries(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
}

/// Returns the bytes that are free where a path lies. Returns `None` if the system does not say.
pub(crate) fn free(place: &Path) -> Option<u64> {
    let found = rustix::fs::statvfs(place).ok()?;
    Some(found.f_bavail.saturating_mul(found.f_frsize))
}
