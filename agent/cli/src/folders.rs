//! The program's own folders in the user's home. Tools cannot reach them.

use std::path::PathBuf;

use etcetera::BaseStrategy as _;

/// The folder name below each base directory.
const NAME: &str = "toolcrib";

/// The name of the user's and of a project's settings file.
pub(crate) const SETTINGS: &str = "toolcrib.toml";

/// Returns the user's settings file: `toolcrib/toolcrib.toml` in `$XDG_CONFIG_HOME` or `~/.config`.
pub(crate) fn settings() -> Option<PathBuf> {
    Some(base()?.config_dir().join(NAME).join(SETTINGS))
}

/// Returns the state folder: `toolcrib` in `$XDG_STATE_HOME` or `~/.local/state`.
pub(crate) fn state() -> Option<PathBuf> {
    let base = base()?;
    let state = base.state_dir().unwrap_or_else(|| base.home_dir().join(".local/state"));
    Some(state.join(NAME))
}

/// Returns the program's folders, existing or not, and the user's settings file, which may be a link to another place.
pub(crate) fn own() -> Vec<PathBuf> {
    let folders = base().map(|base| [base.config_dir(), base.data_dir(), base.cache_dir()].map(|base| base.join(NAME)));
    folders.into_iter().flatten().chain(state()).chain(settings()).collect()
}

fn base() -> Option<impl etcetera::BaseStrategy> {
    etcetera::choose_base_strategy().ok()
}
