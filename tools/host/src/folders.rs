//! The program's own folders in the user's home. Tools cannot reach them.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use etcetera::BaseStrategy;

use crate::program;

/// A root that cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("cannot use {} as the root: {reason}; choose a directory with --root", path.display())]
pub struct InvalidRoot {
    path: PathBuf,
    reason: String,
}

/// Returns the path of a root that names the workspace of a recorded session, with links resolved.
///
/// # Errors
/// - Returns an error if it is not a directory.
/// - Returns an error if it is not UTF-8: several roots would have one name, and with it each other's jobs and approvals.
pub fn workspace(root: &Path) -> Result<String, InvalidRoot> {
    let refused = |reason: &dyn Display| InvalidRoot {
        path: root.to_owned(),
        reason: reason.to_string(),
    };
    let resolved = root.canonicalize().map_err(|error| refused(&error))?;
    if !resolved.is_dir() {
        return Err(refused(&io::Error::from(io::ErrorKind::NotADirectory)));
    }
    let text = resolved.into_os_string().into_string();
    text.map_err(|_| refused(&"its path is not UTF-8"))
}

/// Returns the name of the user's and of a project's settings file, such as `toolcrib.toml`.
pub fn settings_name() -> String {
    format!("{}.toml", program::name())
}

/// Returns the user's settings file, such as `toolcrib/toolcrib.toml` in `$XDG_CONFIG_HOME` or `~/.config`.
pub fn settings() -> Option<PathBuf> {
    Some(
        base()?
            .config_dir()
            .join(program::name())
            .join(settings_name()),
    )
}

/// Returns the user's file of MCP servers, `mcp.json` beside the settings file.
pub fn servers() -> Option<PathBuf> {
    Some(base()?.config_dir().join(program::name()).join("mcp.json"))
}

/// Returns the home of the user.
pub fn home() -> Option<PathBuf> {
    Some(base()?.home_dir().to_owned())
}

/// Returns the folders of the `PATH` as a shell that works in this one reads them, and `~/bin`, which login shells add.
pub fn of_programs(working: &Path) -> Vec<PathBuf> {
    let home = home();
    let path = std::env::var_os("PATH").unwrap_or_default();
    // Bash takes a `~` in the value for the home, where other shells look for a folder of this name.
    let in_home = |folder: &Path| Some(home.as_ref()?.join(folder.strip_prefix("~").ok()?));
    let folders = std::env::split_paths(&path)
        .flat_map(|folder| [in_home(&folder), Some(working.join(folder))]);
    folders
        .chain([home.as_ref().map(|home| home.join("bin"))])
        .flatten()
        .collect()
}

/// Returns the folders in which files with ordinary names run or configure the user's programs: `$XDG_CONFIG_HOME` and `~/.config`.
pub fn of_settings() -> Vec<PathBuf> {
    let folders = base().map(|base| vec![base.config_dir(), base.home_dir().join(".config")]);
    folders.unwrap_or_default()
}

/// Returns the folders of the data of the user's programs, some of which run files in them: `$XDG_DATA_HOME` and `~/.local/share`.
pub fn of_data() -> Vec<PathBuf> {
    let folders = base().map(|base| vec![base.data_dir(), base.home_dir().join(".local/share")]);
    folders.unwrap_or_default()
}

/// Returns the state folder, such as `toolcrib` in `$XDG_STATE_HOME` or `~/.local/state`.
pub fn state() -> Option<PathBuf> {
    Some(state_dir(&base()?).join(program::name()))
}

/// Returns the file of the prompts typed in chats.
pub fn history() -> Option<PathBuf> {
    Some(state()?.join("history"))
}

/// Returns the file of the facts that services tell about models.
pub fn models() -> Option<PathBuf> {
    Some(
        base()?
            .cache_dir()
            .join(program::name())
            .join("models.json"),
    )
}

/// Returns the data folder, such as `toolcrib` in `$XDG_DATA_HOME` or `~/.local/share`.
pub fn data() -> Option<PathBuf> {
    Some(base()?.data_dir().join(program::name()))
}

/// Returns the home of the user, and the folder for the caches of toolchains. It is one of the [own folders](own_folders), but for the part
/// that the programs of a workspace may write.
pub fn toolchains() -> Option<(PathBuf, PathBuf)> {
    let base = base()?;
    let caches = format!("{}-programs", program::name());
    Some((base.home_dir().to_owned(), base.cache_dir().join(caches)))
}

/// Returns the program's folders and those of `toolcrib`, existing or not.
pub fn own_folders() -> impl Iterator<Item = PathBuf> {
    // A program of another name must not reach the keys and approvals of `toolcrib` either.
    let names = [program::name(), "toolcrib"];
    let folders = base().map(|base| {
        let caches = names.map(|name| base.cache_dir().join(format!("{name}-programs")));
        let folders = [
            base.config_dir(),
            base.data_dir(),
            base.cache_dir(),
            state_dir(&base),
        ];
        let named = folders
            .into_iter()
            .flat_map(move |folder| names.map(|name| folder.join(name)));
        named.chain(caches)
    });
    folders.into_iter().flatten()
}

/// Returns the program's own folders, and the user's files of settings and servers, which may be links to other places.
pub fn own() -> impl Iterator<Item = PathBuf> {
    own_folders().chain(settings()).chain(servers())
}

fn state_dir(base: &impl BaseStrategy) -> PathBuf {
    base.state_dir()
        .unwrap_or_else(|| base.home_dir().join(".local/state"))
}

fn base() -> Option<impl BaseStrategy> {
    etcetera::choose_base_strategy().ok()
}
