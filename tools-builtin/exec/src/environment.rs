//! The environment variables of a program.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::toolchain::Folders;

/// The variables of the host that a program gets. The others may hold secrets.
const PASSED: &str = "LANG LANGUAGE LC_ALL LC_CTYPE LC_MESSAGES TZ";

/// Returns all variables of a program. `search` are the folders in which programs are looked up, `network` the variables that lead it to
/// the network, and `more` those that the call sets, each as `NAME=VALUE`, also in place of others.
pub(crate) fn environment(
    toolchains: &[Folders],
    search: &[PathBuf],
    home: &Path,
    network: Vec<(String, String)>,
    more: &[String],
) -> Vec<(String, String)> {
    let text = |name: &str, value: OsString| Some((name.to_owned(), value.into_string().ok()?));
    let passed = PASSED
        .split(' ')
        .filter_map(|name| text(name, std::env::var_os(name)?));
    let path = std::env::join_paths(search)
        .ok()
        .and_then(|path| text("PATH", path));
    let home = home.display().to_string();
    let own = [
        ("HOME", home.clone()),
        ("TMPDIR", home),
        ("TERM", "dumb".to_owned()),
    ];
    let of_toolchains = toolchains.iter().flat_map(|folders| folders.env.clone());
    let of_call = more.iter().filter_map(|variable| variable.split_once('='));
    let mut all: BTreeMap<String, String> = passed.chain(path).collect();
    all.extend(own.map(|(name, value)| (name.to_owned(), value)));
    all.extend(of_toolchains);
    all.extend(network);
    all.extend(of_call.map(|(name, value)| (name.to_owned(), value.to_owned())));
    all.into_iter().collect()
}
