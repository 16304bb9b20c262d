//! [`Readings`]: the latest scripts that were read.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tools::IgnorePoison as _;

use super::{Script, ScriptError, Shell};

/// The most scripts that are kept: those of calls that run at the same time.
const KEPT: usize = 16;

/// The latest scripts that were read, the oldest first.
pub(super) struct Readings(Mutex<VecDeque<(Key, Arc<Script>)>>);

/// The text of a script, its dialect and its working directory.
type Key = (String, Shell, String);

impl Readings {
    pub(super) const fn new() -> Self {
        Self(Mutex::new(VecDeque::new()))
    }

    /// Returns the reading of a script. Parses it if it is not among the latest ones.
    ///
    /// # Errors
    /// Returns the errors of [`Script::read`].
    pub(super) fn get(
        &self,
        text: &str,
        dialect: Shell,
        cwd: &str,
    ) -> Result<Arc<Script>, ScriptError> {
        let key = (text.to_owned(), dialect, cwd.to_owned());
        let latest = || self.0.lock().ignore_poison();
        if let Some((_, script)) = latest().iter().find(|(known, _)| *known == key) {
            return Ok(script.clone());
        }
        let script = Arc::new(Script::parse(text, dialect, cwd)?);
        let mut latest = latest();
        if latest.len() == KEPT {
            latest.pop_front();
        }
        latest.push_back((key, script.clone()));
        Ok(script)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_is_parsed_once_for_all_stages_of_its_call() {
        let readings = Readings::new();
        let read = |text, dialect, cwd| readings.get(text, dialect, cwd).unwrap();
        let first = read("a &>b", Shell::Bash, ".");
        assert!(Arc::ptr_eq(&first, &read("a &>b", Shell::Bash, ".")));
        for other in [
            ("a &>c", Shell::Bash, "."),
            ("a &>b", Shell::Sh, "."),
            ("a &>b", Shell::Bash, "sub"),
        ] {
            let other = read(other.0, other.1, other.2);
            assert_ne!((&other.files, other.quoted.is_some()), (&first.files, true));
        }
    }

    #[test]
    fn old_readings_are_dropped() {
        let readings = Readings::new();
        for number in 0..3 * KEPT {
            readings
                .get(&format!("a {number}"), Shell::Bash, ".")
                .unwrap();
            readings.get("# nothing", Shell::Bash, ".").unwrap_err();
        }
        assert_eq!(readings.0.lock().unwrap().len(), KEPT);
    }
}
