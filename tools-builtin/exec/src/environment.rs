//! The environment variables of a program.

use std::collections::BTreeMap;
use std::path::Path;

use crate::lookup::FOLDERS;

/// The variables of the host that a program gets. The others may hold secrets.
const PASSED: [&str; 6] = ["LANG", "LANGUAGE", "LC_ALL", "LC_CTYPE", "LC_MESSAGES", "TZ"];

/// Returns all variables of a program. `network` are those that lead it to the network. `more` are those that the call sets, each as
/// `NAME=VALUE`, also in place of others.
pub(crate) fn environment(
    home: &Path,
    network: Option<Vec<(String, String)>>,
    more: &[String],
) -> Vec<(String, String)> {
    let passed = PASSED.iter().filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)));
    let home = home.display().to_string();
    let own = [("PATH", FOLDERS.join(":")), ("HOME", home.clone()), ("TMPDIR", home), ("TERM", "dumb".to_owned())];
    let mut all: BTreeMap<String, String> = passed.collect();
    all.extend(own.map(|(name, value)| (name.to_owned(), value)));
    all.extend(network.into_iter().flatten());
    all.extend(
        more.iter()
            .filter_map(|variable| variable.split_once('='))
            .map(|(name, value)| (name.to_owned(), value.to_owned())),
    );
    all.into_iter().collect()
}
