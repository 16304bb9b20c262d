//! [`SessionId`]: the name of a recorded session.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

/// The file name ending of a session's journal.
pub(crate) const JOURNAL: &str = "journal";

/// The endings of the files next to a journal: those that SQLite creates, and those of the tasks.
pub(crate) const BESIDE: [&str; 4] = ["journal-wal", "journal-shm", TASKS, NEW_TASKS];

/// The file of the tasks next to a session's journal.
pub(crate) const TASKS: &str = "tasks";

/// The file that replaces it.
pub(crate) const NEW_TASKS: &str = "tasks-new";

/// The digits of base 32 without letters that look like others, in ascending order.
const DIGITS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// The number of digits, which suffices for a thousand years.
const LENGTH: usize = 7;

/// The second in which a session began, written in base 32. IDs sort by time, as numbers and as texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct SessionId(pub(crate) u64);

impl SessionId {
    /// Returns the ID of a session that begins now.
    pub(crate) fn now() -> Self {
        let time = SystemTime::now().duration_since(UNIX_EPOCH);
        Self(time.unwrap_or_default().as_secs())
    }

    /// Parses a whole ID.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        if text.len() != LENGTH {
            return None;
        }
        let digit = |c: u8| DIGITS.iter().position(|digit| *digit == c);
        text.bytes()
            .try_fold(0, |number, c| Some(number * 32 + digit(c)? as u64))
            .map(Self)
    }

    /// Returns the name of the session's file with this ending.
    pub(crate) fn file(self, ending: &str) -> String {
        format!("{self}.{ending}")
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for place in (0..LENGTH).rev() {
            let digit = DIGITS[(self.0 >> (5 * place)) as usize % DIGITS.len()];
            write!(f, "{}", char::from(digit))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn ids_are_read_as_written_and_sort_as_texts(a in 0..1_u64 << 35, b in 0..1_u64 << 35) {
            let [a, b] = [a, b].map(SessionId);
            prop_assert_eq!(SessionId::parse(&a.to_string()), Some(a));
            prop_assert_eq!(a.cmp(&b), a.to_string().cmp(&b.to_string()));
        }
    }

    #[test]
    fn other_texts_are_no_ids() {
        for text in [
            "",
            "000000",
            "00000000",
            "000000l",
            "000000A",
            "00000ä",
            "zzzzzzzzzzzzzzzzzzzz",
        ] {
            assert_eq!(SessionId::parse(text), None, "{text}");
        }
    }
}
