//! [`UrlCount`]: the URLs that an exposed session has read without a question.

use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

/// The most URLs without a question in one [`PERIOD`].
pub(super) const MAX_URLS: u32 = 20;

/// The seconds after which a new count begins, because nobody answers in a session that runs for months.
const PERIOD: u64 = 24 * 60 * 60;

/// The number of URLs that a session read without a question after it had read text of strangers. A host that stores a session stores it
/// too.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UrlCount {
    count: u32,
    /// The time of the first one, in seconds of Unix time.
    since: u64,
}

impl UrlCount {
    /// Counts one URL more. Returns false if there were too many before it.
    pub(super) fn add(&mut self) -> bool {
        self.add_at(
            SystemTime::now()
                .duration_since(UNIX_EPOCH)
                .map_or(0, |now| now.as_secs()),
        )
    }

    fn add_at(&mut self, now: u64) -> bool {
        if self.count == 0 || now >= self.since.saturating_add(PERIOD) {
            *self = Self {
                count: 0,
                since: now,
            };
        }
        let is_left = self.count < MAX_URLS;
        self.count += u32::from(is_left);
        is_left
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_period_has_a_number_of_urls_from_its_first_one_on() {
        let mut count = UrlCount::default();
        for now in 0..u64::from(MAX_URLS) {
            assert!(count.add_at(1_000 + now));
        }
        for now in [1_100, 0, 1_000 + PERIOD - 1] {
            assert!(!count.add_at(now), "{now}");
        }
        for now in 0..u64::from(MAX_URLS) {
            assert!(count.add_at(1_000 + PERIOD + now));
        }
        assert!(
            !count.add_at(1_000 + PERIOD + 100),
            "the new period has its own number"
        );
    }
}
