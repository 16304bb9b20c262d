//! The folders of the user that belong to this program. No tool reaches them.

use std::path::PathBuf;

use etcetera::BaseStrategy as _;

/// The name of each.
const NAME: &str = "toolcrib";

/// The name of a file of settings, the user's and a project's.
pub(crate) const SETTINGS: &str = "toolcrib.toml";

/// The user's settings: `toolcrib/toolcrib.toml` in `$XDG_CONFIG_HOME`, or else in `.config` of the user's home.
pub(crate) fn settings() -> Option<PathBuf> {
    Some(base()?.config_dir().join(NAME).join(SETTINGS))
}

/// `toolcrib` in `$XDG_STATE_HOME`, or else in `.local/state` of the user's home.
pub(crate) fn state() -> Option<PathBuf> {
    let base = base()?;
    let state = base.state_dir().unwrap_or_else(|| base.home_dir().join(".local/state"));
    Some(state.join(NAME))
}

/// The folders, whether or not they exist, and the user's settings, which may be a link to somewhere else.
pub(crate) fn own() -> Vec<PathBuf> {
    let folders = base().map(|base| [base.config_dir(), base.data_dir(), base.cache_dir()].map(|base| base.join(NAME)));
    folders.into_iter().flatten().chain(state()).chain(settings()).collect()
}

fn base() -> Option<impl etcetera::BaseStrategy> {
    etcetera::choose_base_strategy().ok()
}
