//! [`Toolchain`]: what programs of a language need outside of the workspace.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::{fmt, fs, io};

use crate::disk::entries;

/// The needs of a language's programs outside of the workspace: the folders of installed tools, which they only read, and a cache for
/// each workspace. Credential files are left out.
///
/// | toolchain | reads | sets |
/// |---|---|---|
/// | `rust` | `~/.rustup`, `~/.cargo/bin` | `CARGO_HOME` |
/// | `node` | `~/.nvm/versions`, `~/.volta/bin`, `~/.volta/tools`, `~/.local/share/fnm` | `npm_config_cache` |
/// | `python` | `~/.pyenv`, `~/.local/share/uv/python` | `PIP_CACHE_DIR`, `UV_CACHE_DIR` |
///
/// The host's variables `RUSTUP_HOME`, `CARGO_HOME`, `NVM_DIR`, `VOLTA_HOME`, `FNM_DIR` and `PYENV_ROOT` replace these folders. Of the
/// host's `PATH`, programs get the folders that lie in the ones to read. `npmrc` and `pip.conf` of an installed version, which can hold
/// credentials, are hidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Toolchain {
    /// Cargo and the Rust compiler, installed by rustup.
    Rust,
    /// Node and npm, installed by nvm, Volta or fnm.
    Node,
    /// Python, installed by pyenv or uv.
    Python,
}

/// The error for a name that is no toolchain.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("there is no toolchain {name:?}; write rust, node or python")]
pub struct UnknownToolchain {
    /// The name.
    pub name: String,
}

/// The folders and variables of a toolchain on this machine.
#[derive(Debug)]
pub(crate) struct Folders {
    pub(crate) toolchain: Toolchain,
    /// The folders to read, those that exist, without links.
    pub(crate) read: Vec<PathBuf>,
    /// The folders in which programs are looked up.
    pub(crate) search: Vec<PathBuf>,
    /// The files in the folders to read that can hold credentials.
    pub(crate) hidden: Vec<PathBuf>,
    pub(crate) env: Vec<(String, String)>,
    /// The folder that programs may write. May not exist yet.
    pub(crate) cache: PathBuf,
}

impl Toolchain {
    /// All toolchains.
    pub const ALL: [Self; 3] = [Self::Rust, Self::Node, Self::Python];

    /// Returns the name, such as `rust`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Node => "node",
            Self::Python => "python",
        }
    }

    /// Looks for the folders. `variable` returns a variable of the host.
    pub(crate) fn folders(
        self,
        home: &Path,
        cache: &Path,
        variable: &dyn Fn(&str) -> Option<OsString>,
    ) -> Folders {
        let folder = |name: &str, default: &str| {
            let set = variable(name).filter(|value| !value.is_empty());
            real(set.map_or_else(|| home.join(default), PathBuf::from))
        };
        let cache = cache.join(self.name());
        let shown = |path: &Path| path.display().to_string();
        let (read, env) = match self {
            Self::Rust => {
                let rustup = folder("RUSTUP_HOME", ".rustup");
                let env = vec![
                    ("RUSTUP_HOME", shown(&rustup)),
                    ("CARGO_HOME", shown(&cache)),
                ];
                let read = vec![rustup, folder("CARGO_HOME", ".cargo").join("bin")];
                (read, env)
            }
            Self::Node => {
                let volta = folder("VOLTA_HOME", ".volta");
                let read = vec![
                    folder("NVM_DIR", ".nvm").join("versions"),
                    volta.join("bin"),
                    volta.join("tools"),
                    folder("FNM_DIR", ".local/share/fnm"),
                ];
                (read, vec![("npm_config_cache", shown(&cache))])
            }
            Self::Python => {
                let pyenv = folder("PYENV_ROOT", ".pyenv");
                let env = vec![
                    ("PIP_CACHE_DIR", shown(&cache.join("pip"))),
                    ("UV_CACHE_DIR", shown(&cache.join("uv"))),
                    ("PYENV_ROOT", shown(&pyenv)),
                ];
                (vec![pyenv, home.join(".local/share/uv/python")], env)
            }
        };
        let read = read.into_iter().filter_map(|path| path.canonicalize().ok());
        let read: Vec<_> = read.collect();
        let path = variable("PATH").unwrap_or_default();
        let mut search: Vec<_> = std::env::split_paths(&path)
            .filter_map(|path| path.canonicalize().ok())
            .filter(|path| read.iter().any(|read| path.starts_with(read)))
            .collect();
        search.dedup();
        let env = env
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        let hidden = read.iter().flat_map(|read| credentials(read)).collect();
        Folders {
            toolchain: self,
            read,
            search,
            hidden,
            env,
            cache,
        }
    }
}

impl Folders {
    /// Returns the cache, and creates it for the user alone. Removes settings and programs that an earlier program has left there, because
    /// they would decide what this one runs.
    ///
    /// # Errors
    /// Returns an error if it, or one of the two folders around it, is a link: it would lead programs to other files.
    pub(crate) fn cache(&self) -> io::Result<&Path> {
        let cache = self.cache.as_path();
        let mut builder = fs::DirBuilder::new();
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.recursive(true);
        for folder in cache.ancestors().take(3).collect::<Vec<_>>().iter().rev() {
            if fs::symlink_metadata(folder).is_ok_and(|found| !found.is_dir()) {
                let fault = format!("{} is no folder; remove it", folder.display());
                return Err(io::Error::other(fault));
            }
            builder.create(folder)?;
        }
        for name in CODE_OF_CACHES
            .split(' ')
            .filter(|_| self.toolchain == Toolchain::Rust)
        {
            let path = cache.join(name);
            let removed = match fs::symlink_metadata(&path) {
                Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(&path),
                Ok(_) => fs::remove_file(&path),
                Err(_) => Ok(()),
            };
            // Another program of the same cache may have removed it.
            if let Err(error) = removed
                && error.kind() != io::ErrorKind::NotFound
            {
                return Err(error);
            }
        }
        Ok(cache)
    }
}

/// The settings of cargo, and the programs that it installs or finds by name.
const CODE_OF_CACHES: &str = "bin config config.toml credentials credentials.toml env";

/// Returns the path without links, or as it is if it does not exist.
fn real(path: PathBuf) -> PathBuf {
    path.canonicalize().unwrap_or(path)
}

/// Returns the settings files of package managers beside the installed versions in a folder, whose layouts are
/// `node/VERSION`, `node-versions/VERSION/installation`, `node/VERSION` below `image`, and `versions/VERSION`.
fn credentials(folder: &Path) -> Vec<PathBuf> {
    let versions = ["", "node", "node-versions", "image/node", "versions"]
        .map(|name| entries(&folder.join(name)));
    let files = ["etc/npmrc", "installation/etc/npmrc", "pip.conf"];
    let versions = versions.into_iter().flatten();
    versions
        .flat_map(|version| files.map(|file| version.join(file)))
        .filter(|file| file.exists())
        .map(real)
        .collect()
}

impl fmt::Display for Toolchain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Toolchain {
    type Err = UnknownToolchain;

    fn from_str(name: &str) -> Result<Self, UnknownToolchain> {
        Self::ALL
            .into_iter()
            .find(|toolchain| toolchain.name() == name)
            .ok_or_else(|| UnknownToolchain {
                name: name.to_owned(),
            })
    }
}

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
    let passed = PASSED.split(' ').map(|name| (name, std::env::var_os(name)));
    let passed = passed.chain([("PATH", std::env::join_paths(search).ok())]);
    let passed =
        passed.filter_map(|(name, value)| Some((name.to_owned(), value?.into_string().ok()?)));
    let home = home.display().to_string();
    let own = [
        ("HOME", home.clone()),
        ("TMPDIR", home),
        ("TERM", "dumb".to_owned()),
    ];
    let of_toolchains = toolchains.iter().flat_map(|folders| folders.env.clone());
    let of_call = more.iter().filter_map(|variable| variable.split_once('='));
    let mut all: BTreeMap<String, String> = passed.collect();
    all.extend(own.map(|(name, value)| (name.to_owned(), value)));
    all.extend(of_toolchains);
    all.extend(network);
    all.extend(of_call.map(|(name, value)| (name.to_owned(), value.to_owned())));
    all.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_folders_are_those_of_the_tools_and_no_credentials() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path().canonicalize().unwrap();
        for folder in [
            ".rustup/toolchains",
            ".cargo/bin",
            ".cargo/registry",
            ".pyenv/shims",
            ".nvm/versions/a/bin",
        ] {
            std::fs::create_dir_all(home.join(folder)).unwrap();
        }
        let path = [".cargo/bin", ".pyenv/shims", ".nvm/versions/a/bin", "bin"]
            .map(|folder| home.join(folder));
        let path =
            std::env::join_paths([&path[..], &path[..1], &[PathBuf::from("/usr/bin")]].concat())
                .unwrap();
        let variable = |name: &str| (name == "PATH").then(|| path.clone());
        let found = |toolchain: Toolchain| {
            let folders = toolchain.folders(&home, Path::new("/cache"), &variable);
            let below = |paths: &[PathBuf]| {
                paths
                    .iter()
                    .map(|path| path.strip_prefix(&home).unwrap().display().to_string())
                    .collect::<Vec<_>>()
            };
            (below(&folders.read), below(&folders.search))
        };
        let texts = |texts: &[&str]| {
            texts
                .iter()
                .map(|text| (*text).to_owned())
                .collect::<Vec<_>>()
        };
        let rust = texts(&[".rustup", ".cargo/bin"]);
        assert_eq!(found(Toolchain::Rust).0, rust);
        assert_eq!(found(Toolchain::Rust).1[0], ".cargo/bin");
        std::fs::create_dir_all(home.join(".nvm/versions/node/v20/etc")).unwrap();
        std::fs::write(home.join(".nvm/versions/node/v20/etc/npmrc"), "token").unwrap();
        let hidden = Toolchain::Node
            .folders(&home, Path::new("/cache"), &variable)
            .hidden;
        assert_eq!(hidden, [home.join(".nvm/versions/node/v20/etc/npmrc")]);
        assert_eq!(
            found(Toolchain::Node),
            (texts(&[".nvm/versions"]), texts(&[".nvm/versions/a/bin"]))
        );
        assert_eq!(
            found(Toolchain::Python),
            (texts(&[".pyenv"]), texts(&[".pyenv/shims"]))
        );
        for toolchain in Toolchain::ALL {
            assert_eq!(toolchain.name().parse(), Ok(toolchain));
        }
        assert!("go".parse::<Toolchain>().is_err());
    }

    #[test]
    fn a_cache_behind_a_link_is_given_to_no_program() {
        for link in ["caches", "caches/id", "caches/id/rust"] {
            let dir = tempfile::tempdir().unwrap();
            let (link, target) = (dir.path().join(link), dir.path().join("ssh"));
            std::fs::create_dir_all(target.join("bin")).unwrap();
            std::fs::create_dir_all(link.parent().unwrap()).unwrap();
            std::os::unix::fs::symlink(&target, &link).unwrap();
            let cache = dir.path().join("caches/id");
            let folders = Toolchain::Rust.folders(Path::new("/nowhere"), &cache, &|_| None);
            let error = folders.cache().unwrap_err();
            assert!(error.to_string().contains("remove it"), "{error}");
            assert!(target.join("bin").exists());
        }
    }

    #[test]
    fn the_settings_and_programs_of_an_earlier_program_are_removed_from_the_cache_of_cargo() {
        let dir = tempfile::tempdir().unwrap();
        let folders = Toolchain::Rust.folders(Path::new("/nowhere"), dir.path(), &|_| None);
        let cache = folders.cache().unwrap();
        std::fs::create_dir_all(cache.join("bin/x")).unwrap();
        std::fs::write(cache.join("config.toml"), "").unwrap();
        std::os::unix::fs::symlink("/etc", cache.join("config")).unwrap();
        std::fs::create_dir(cache.join("registry")).unwrap();
        folders.cache().unwrap();
        let left: Vec<_> = std::fs::read_dir(cache)
            .unwrap()
            .map(|entry| entry.unwrap().file_name())
            .collect();
        assert_eq!(left, ["registry"]);
    }

    #[test]
    fn a_variable_of_the_host_replaces_a_folder() {
        let elsewhere = tempfile::tempdir().unwrap();
        let variable = |name: &str| (name == "RUSTUP_HOME").then(|| elsewhere.path().into());
        let folders =
            Toolchain::Rust.folders(Path::new("/nowhere"), Path::new("/cache"), &variable);
        assert_eq!(folders.read, [elsewhere.path().canonicalize().unwrap()]);
        assert!(
            folders
                .env
                .contains(&("CARGO_HOME".to_owned(), "/cache/rust".to_owned()))
        );
    }
}
