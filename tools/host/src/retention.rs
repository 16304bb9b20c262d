//! [`Retention`]: the age and size up to which recorded sessions are kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use crate::declare_keys;
use crate::settings::{Key, Setting, Settings, duration};

/// The default time for which a recorded session is kept: 30 days.
const MAX_AGE: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The size of all recorded sessions above which the oldest ones are removed: 1 GB.
const MAX_BYTES: u64 = 1_000_000_000;

/// The number of newest sessions that are kept whatever their age and size, so that a person who returns after a while finds the last ones.
const KEPT: usize = 10;

declare_keys! {
    /// The keys of the limits of recorded sessions.
    pub struct RetentionKeys;

    /// The time after its last change for which a recorded session is kept
    max_age: Setting<Duration> =
        Key::new("sessions.max_age", duration(), Setting::from_default(MAX_AGE), "\"30d\"");
}

/// The limits of the recorded sessions of all workspaces.
#[derive(Clone, Debug)]
pub struct Retention {
    /// The time for which a session is kept after its last change.
    pub max_age: Duration,
    /// The size up to which all sessions are kept together.
    pub max_bytes: u64,
    /// The number of newest sessions that are always kept.
    pub keep: usize,
}

/// The size of a session's files and the time of the last change.
#[derive(Clone, Debug)]
pub struct SessionFiles<T> {
    /// The name of the session.
    pub id: T,
    /// The size of all files.
    pub bytes: u64,
    /// The time of the last change.
    pub changed: SystemTime,
}

impl<T> SessionFiles<T> {
    /// Reads the size and the last change of a journal and the files beside it. Returns `None` if there is no journal.
    pub fn read(id: T, journal: &Path, beside: impl Iterator<Item = PathBuf>) -> Option<Self> {
        let journal = fs::metadata(journal).ok()?;
        let files = beside.filter_map(|path| fs::metadata(path).ok());
        let files: Vec<_> = files.chain([journal]).collect();
        let changes = files.iter().filter_map(|file| file.modified().ok());
        let changed = changes.max().unwrap_or(SystemTime::UNIX_EPOCH);
        Some(Self {
            id,
            bytes: files.iter().map(fs::Metadata::len).sum(),
            changed,
        })
    }
}

impl Retention {
    /// Returns the limits that the settings set.
    pub fn from_settings(settings: &Settings) -> Self {
        let keys: &RetentionKeys = settings.of();
        Self {
            max_age: keys.max_age.value,
            max_bytes: MAX_BYTES,
            keep: KEPT,
        }
    }

    /// Returns true if a session of this size leaves no room for another one.
    pub fn is_full(&self, bytes: u64) -> bool {
        bytes > self.max_bytes
    }

    /// Returns the sessions to remove, the oldest first. The sessions are given newest first.
    pub fn surplus<'a, T>(
        &self,
        sessions: &'a [SessionFiles<T>],
        now: SystemTime,
    ) -> Vec<&'a SessionFiles<T>> {
        let mut bytes: u64 = sessions.iter().map(|session| session.bytes).sum();
        let old = sessions.iter().skip(self.keep).rev();
        let surplus = old.filter(|session| {
            // A file from the future, after a change of the clock, is new.
            let age = now.duration_since(session.changed).unwrap_or_default();
            let is_surplus = age > self.max_age || bytes > self.max_bytes;
            if is_surplus {
                bytes -= session.bytes;
            }
            is_surplus
        });
        surplus.collect()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const NOW: u64 = 1 << 30;

    /// Returns sessions of these sizes and ages, the newest first.
    fn sessions(of: &[(u64, u64)]) -> Vec<SessionFiles<usize>> {
        let session = |(index, &(bytes, age)): (usize, &(u64, u64))| SessionFiles {
            id: of.len() - index,
            bytes,
            changed: at(NOW - age),
        };
        of.iter().enumerate().map(session).collect()
    }

    fn at(seconds: u64) -> SystemTime {
        SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)
    }

    fn kept(max_bytes: u64, keep: usize) -> Retention {
        let max_age = Duration::from_secs(100);
        Retention {
            max_age,
            max_bytes,
            keep,
        }
    }

    /// Returns the indexes of the removed sessions, in ascending order.
    fn removed(retention: &Retention, of: &[(u64, u64)]) -> Vec<usize> {
        let sessions = sessions(of);
        let surplus = retention.surplus(&sessions, at(NOW));
        assert!(
            surplus.is_sorted_by_key(|session| session.id),
            "the oldest are removed first"
        );
        (0..of.len())
            .filter(|index| {
                surplus
                    .iter()
                    .any(|session| session.id == sessions[*index].id)
            })
            .collect()
    }

    #[test]
    fn old_sessions_are_removed() {
        let retention = kept(1000, 1);
        assert_eq!(
            removed(&retention, &[(1, 200), (1, 50), (1, 100), (1, 101)]),
            [3]
        );
    }

    #[test]
    fn the_oldest_sessions_are_removed_until_the_rest_fits() {
        let retention = kept(10, 1);
        assert_eq!(
            removed(&retention, &[(4, 0), (4, 0), (4, 0), (4, 0)]),
            [2, 3]
        );
        assert!(removed(&retention, &[(4, 0), (4, 0), (2, 0)]).is_empty());
        assert_eq!(removed(&retention, &[(40, 0), (1, 0)]), [1]);
    }

    proptest! {
        #[test]
        fn the_newest_are_kept_and_the_rest_fits(
            of in proptest::collection::vec((0..50_u64, 0..200_u64), 0..20), keep in 0..6_usize, max_bytes in 0..200_u64,
        ) {
            let removed = removed(&kept(max_bytes, keep), &of);
            prop_assert!(removed.iter().all(|index| *index >= keep));
            let kept: Vec<_> = (0..of.len()).filter(|index| !removed.contains(index)).collect();
            prop_assert!(kept.iter().filter(|index| **index >= keep).all(|index| of[*index].1 <= 100));
            let bytes: u64 = kept.iter().map(|index| of[*index].0).sum();
            prop_assert!(bytes <= max_bytes || kept.iter().all(|index| *index < keep));
        }
    }
}
