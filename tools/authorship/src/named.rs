//! [`GitNames`]: the files and folders that settings and variables of git name, such as a folder of hooks.

use std::fs;
use std::path::{Component, Path, PathBuf};

use host::settings::{SensitivePlace, Settings};
use host::{folders, program};

use crate::git::Git;
use crate::links::{Places, Targets};
use crate::repository::Repository;

/// The variables that name a settings file of git.
const SETTINGS_FILES: [&str; 2] = ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"];

/// The variables of git that name the repository at hand, as in a hook.
const OF_REPOSITORY: [&str; 7] = [
    "GIT_CEILING_DIRECTORIES",
    "GIT_COMMON_DIR",
    "GIT_DIR",
    "GIT_INDEX_FILE",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_WORK_TREE",
];

/// Other variables whose values are commands that git runs.
const COMMANDS: [&str; 4] = ["EDITOR", "PAGER", "SSH_ASKPASS", "VISUAL"];

/// The most files that include each other.
const MAX_FILES: usize = 100;

/// The most repositories inside of each other of which the settings count.
const MAX_REPOSITORIES: usize = 8;

/// The letters between the words of a command. Quotes are not among them.
const BETWEEN: &str = "!;|&<>";

/// The ends of words after which a command names a folder of hooks or of a template.
const BEFORE_FOLDERS: [&str; 6] = [
    "hookspath",
    "templatedir",
    "--template",
    "--exec-path",
    "git_exec_path",
    "git_template_dir",
];

/// The names of hooks.
const HOOKS: &str = "*-msg pre-* post-* p4-* fsmonitor-watchman proc-receive push-to-checkout reference-transaction sendemail-validate update";

/// The letters by which a shell makes other text of a word.
const EXPANDED: [char; 7] = ['$', '*', '?', '[', '`', ')', '}'];

/// The note of a path that settings of git name.
const OF_GIT: &str = "named by a setting of git, which runs or obeys it";

/// The folders of programs that only the package manager of the system changes.
const OF_SYSTEM: [&str; 4] = ["/bin", "/sbin", "/usr/bin", "/usr/sbin"];

/// The warning that links may have been overlooked.
const TOO_MANY: &str = "the workspace has too many files: what links such as .envrc -> env/dev lead to is protected only where the link is one of the first 200000 entries";

/// The note of a path to which a link leads.
const OF_LINK: &str = "the target of a link at a name that programs run or obey";

/// Returns settings with what git runs, reads or obeys as places and files that need a question: those that the settings of the
/// repositories at and above the root, of the user and of the system name. Links at these and at other sensitive names add their targets.
pub(crate) fn protect(settings: Settings) -> Settings {
    let Some(root) = settings.root().map(Path::to_owned) else {
        return settings;
    };
    let of_repositories = Repository::around(&root)
        .take(MAX_REPOSITORIES)
        .map(|repository| GitNames::of_repository(&repository, &root));
    let of_user = GitNames::of_user(&root);
    let content = of_user.paths.iter().map(|path| path.join("**"));
    let control: Vec<_> = content.chain(of_user.paths.iter().cloned()).collect();
    let places = of_repositories.flat_map(|named| [named.paths, named.places].concat());
    let places: Vec<_> = places.chain(of_user.places).collect();
    let named = [&places[..], &of_user.paths, &folders::of_settings()].concat();
    // A link `.envrc` beside the root may lead into it.
    let top = Repository::nearest(&root).map_or_else(|| root.clone(), |nearest| nearest.top);
    let above = root.ancestors().skip(1);
    let above = above.take_while(|above| above.starts_with(&top));
    let home = folders::home().and_then(|home| home.canonicalize().ok());
    let around: Vec<_> = above.map(Path::to_owned).chain(home).collect();
    let mut programs = folders::of_programs(&root);
    programs.retain(|folder| !OF_SYSTEM.iter().any(|one| folder.starts_with(one)));
    let of_links = Places {
        around,
        named,
        programs,
    };
    let targets = Targets::find(&root, &of_links);
    if targets.is_cut {
        program::warn(TOO_MANY);
    }
    let place = |path: PathBuf, note| SensitivePlace {
        is_folder: path.is_absolute() && !path.is_file(),
        path,
        note,
    };
    let places = places.into_iter().map(|path| place(path, OF_GIT));
    let targets = targets.paths.into_iter();
    let targets = targets.map(|path| place(path, OF_LINK));
    let mut settings = settings.with_control_files(control);
    settings.sensitive.extend(places.chain(targets));
    settings
}

/// The paths that git runs, reads or obeys because of settings and variables. They need not exist.
#[derive(Debug, Default)]
struct GitNames {
    /// Files, and folders with all that is in them.
    paths: Vec<PathBuf>,
    /// Paths that are more often of ordinary work: folders below the root, and names of files behind a variable or a wildcard, in any folder.
    places: Vec<PathBuf>,
    /// Words of the values, which git may read below the top of each repository, and whether they name a folder of hooks.
    relative: Vec<(String, bool)>,
}

impl GitNames {
    /// Returns what the settings of a repository at or above a root name, and the files that they include under any condition.
    fn of_repository(repository: &Repository, root: &Path) -> Self {
        let top = &repository.top;
        let folders = repository.folders();
        // Other worktrees of the repository can lie below the root.
        let worktrees = folders
            .iter()
            .filter_map(|folder| fs::read_dir(folder.join("worktrees")).ok());
        let worktrees = worktrees.flatten().flatten().map(|entry| entry.path());
        let worktrees: Vec<_> = worktrees.collect();
        let files = folders
            .iter()
            .chain(&worktrees)
            .flat_map(|folder| ["config", "config.worktree"].map(|name| folder.join(name)));
        let git = Git::find(repository);
        let mut named = Self::read(git.as_ref(), files.collect(), root, top);
        // Git runs what links in a folder of git elsewhere lead to.
        let elsewhere = folders.iter().filter(|folder| !folder.starts_with(root));
        named
            .paths
            .extend(elsewhere.map(|folder| folder.join("hooks")));
        named
    }

    /// Returns the user's and the system's settings files of git, those that they include under any condition, and what their values and the
    /// variables of git name.
    fn of_user(root: &Path) -> Self {
        let variable = |name: &str| {
            std::env::var_os(name)
                .filter(|value| !value.is_empty())
                .map(PathBuf::from)
        };
        let home = variable("HOME");
        let folder = variable("XDG_CONFIG_HOME").or_else(|| Some(home.as_ref()?.join(".config")));
        let mut files: Vec<_> = SETTINGS_FILES
            .into_iter()
            .filter_map(variable)
            .chain([PathBuf::from("/etc/gitconfig")])
            .collect();
        files.extend(home.map(|home| home.join(".gitconfig")));
        files.extend(folder.map(|folder| folder.join("git/config")));
        let top = root.to_owned();
        let around = Repository::nearest(root).unwrap_or(Repository { top });
        // The repository of all commands of git in this shell.
        let elsewhere = ["GIT_DIR", "GIT_COMMON_DIR"]
            .into_iter()
            .filter_map(variable);
        let elsewhere = elsewhere.filter_map(|folder| std::path::absolute(folder).ok());
        let of_repository =
            elsewhere.flat_map(|folder| ["config", "config.worktree"].map(|it| folder.join(it)));
        let all = files.iter().cloned().chain(of_repository).collect();
        let git = Git::find(&around);
        let mut named = Self::read(git.as_ref(), all, root, &around.top);
        named.paths.extend(files);
        for (name, value) in std::env::vars_os() {
            let name = name.to_string_lossy();
            let is_of_git = name.starts_with("GIT_") && !OF_REPOSITORY.contains(&&*name);
            if !is_of_git && !COMMANDS.contains(&&*name) {
                continue;
            }
            let value = value.to_string_lossy();
            let key = name.strip_prefix("GIT_CONFIG_VALUE_");
            let key = key.and_then(|number| std::env::var(format!("GIT_CONFIG_KEY_{number}")).ok());
            if names_folder(key.as_deref().unwrap_or(&name)) {
                named.paths.push(place(root, &value));
            }
            named.add_words(&value, root, &[root]);
        }
        named
    }

    /// Reads settings files and those that they include. Relative paths in them lie below the folder of the file, the root, or the top of the
    /// repository.
    fn read(git: Option<&Git>, mut files: Vec<PathBuf>, root: &Path, top: &Path) -> Self {
        let mut named = Self::default();
        let own = files.len();
        let mut read = 0;
        while read < files.len().min(MAX_FILES) {
            let file = files[read].clone();
            read += 1;
            if !file.is_file() {
                continue;
            }
            let list = git.and_then(|git| git.settings(file.to_str()?));
            let list = match list {
                Some(list) => String::from_utf8_lossy(&list).into_owned(),
                None => list_by_lines(&fs::read(&file).unwrap_or_default()),
            };
            let below = [file.parent().unwrap_or(root), root, top];
            // The name of a key is in small letters, except for the middle part.
            for (key, value) in list.split('\0').filter_map(|line| line.split_once('\n')) {
                let section = key.split('.').next().unwrap_or_default();
                let name = key.rsplit('.').next().unwrap_or_default();
                match (section, name) {
                    ("include" | "includeif", "path") => {
                        let included = place(below[0], value);
                        if !files.contains(&included) {
                            files.push(included);
                        }
                    }
                    ("core", "hookspath") | ("init", "templatedir") => {
                        let paths = below.map(|folder| place(folder, value)).into_iter();
                        // With `.`, the names of hooks count, not all of the files.
                        let is_absolute = place(Path::new(""), value).is_absolute();
                        named
                            .paths
                            .extend(paths.filter(|path| is_absolute || !top.starts_with(path)));
                        named.relative.push((value.to_owned(), name == "hookspath"));
                    }
                    _ if is_data(section, name) => {}
                    _ => {
                        named.add_words(value, root, &below);
                        // A name alone may be a prefix of branches, and a folder one of sources.
                        let files = words(value).filter(|word| {
                            let is_path = word.trim_end_matches('/').contains('/');
                            is_path && !place(root, word).is_dir()
                        });
                        let files = files.map(|word| (word.to_owned(), false));
                        named.relative.extend(files);
                    }
                }
            }
        }
        named.paths.extend(files.into_iter().skip(own));
        named.add_in_other_folders();
        named
    }

    /// Adds the relative paths in each folder, because each may be the top of a repository.
    fn add_in_other_folders(&mut self) {
        for (word, is_hooks) in std::mem::take(&mut self.relative) {
            let path: PathBuf = place(Path::new(""), &word).components().collect();
            let path = path.strip_prefix(".").unwrap_or(&path);
            let mut parts = path.components();
            if path.as_os_str().is_empty()
                || !parts.all(|part| matches!(part, Component::Normal(_)))
            {
                continue;
            }
            let names = if is_hooks { HOOKS } else { "" };
            let inner = names.split(' ').map(|name| path.join(name));
            self.places
                .extend(inner.map(|path| path.components().collect()));
        }
    }

    /// Adds what the words of a value name. A plain name counts if there is a file of this name, another path also if it is a folder or
    /// missing, because who creates it chooses what git runs.
    fn add_words(&mut self, value: &str, root: &Path, below: &[&Path]) {
        let unquoted = value.replace(['"', '\'', '\\'], "");
        let parts: Vec<_> = parts(value).filter(|part| !part.is_empty()).collect();
        // Only a shell knows which word becomes the folder of hooks.
        let is_hidden = unquoted.contains(EXPANDED) && parts.iter().any(|part| names_folder(part));
        for word in [value, &unquoted].into_iter().flat_map(words) {
            let is_relative = place(Path::new(""), word).is_relative();
            for path in below.iter().map(|folder| place(folder, word)) {
                let is_around = path.canonicalize().is_ok_and(|path| root.starts_with(path));
                let mut pairs = parts.windows(2);
                let is_named = word.contains('/')
                    || pairs.any(|pair| pair[1] == word && names_folder(pair[0]));
                let is_named = is_named || path.is_file() || is_hidden && path.is_dir();
                if is_around || !is_named {
                } else if is_relative && path.is_dir() {
                    self.places.push(path);
                } else {
                    self.paths.push(path);
                }
            }
        }
        let words = unquoted.split(|letter: char| is_between(letter));
        for (word, known) in words.filter_map(|word| Some((word, behind_variable(word)?))) {
            let name = known.file_name().filter(|_| !word.ends_with('/'));
            self.places.extend(name.map(PathBuf::from));
            if is_hidden {
                self.places.push(known.join("**"));
            }
        }
    }
}

/// Returns the settings of a file that git cannot read, as git lists those of others: a person may repair it, or have another git. The head of
/// a section ends with its line, or with the text.
fn list_by_lines(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let (mut section, mut list) = (String::new(), String::new());
    for line in text.lines().map(str::trim) {
        if let Some(head) = line.strip_prefix('[') {
            let name = head.split([' ', ']', '"', '.']).next().unwrap_or_default();
            section = name.to_ascii_lowercase();
        }
        if let Some((name, value)) = line.split_once('=') {
            let name = name.rsplit(']').next().unwrap_or(name).trim();
            let name = name.to_ascii_lowercase();
            list += &format!("{section}.{name}\n{}\0", value.trim().trim_matches('"'));
        }
    }
    list
}

/// Returns true if a word of a command is one before the folder of hooks or of a template.
fn names_folder(word: &str) -> bool {
    let word = word.to_ascii_lowercase();
    BEFORE_FOLDERS.iter().any(|end| word.ends_with(end))
}

/// Returns the part of a path that is known behind the last variable, command or wildcard in it.
fn behind_variable(word: &str) -> Option<PathBuf> {
    let word = word.trim_end_matches([')', '}', '`', '/']);
    let known = &word[word.rfind(EXPANDED)?..];
    let known = Path::new(&known[known.find('/')?..]);
    let names = known.components().rev().map_while(|part| match part {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    let names: Vec<_> = names.collect();
    (!names.is_empty()).then(|| names.into_iter().rev().collect())
}

/// Returns true if the values are names, addresses, or places of repositories.
fn is_data(section: &str, name: &str) -> bool {
    match section {
        "branch" | "gui" | "maintenance" | "safe" | "scalar" | "url" => true,
        // A key can be a file.
        "user" => name != "signingkey",
        "core" => name == "worktree",
        "remote" => ["fetch", "push", "pushurl", "url"].contains(&name),
        "submodule" => ["active", "branch", "url"].contains(&name),
        _ => false,
    }
}

/// Returns the parts of a value that may be paths: its words, those within quotes with their spaces, and the path at the end of an option.
fn words(value: &str) -> impl Iterator<Item = &str> {
    let words = parts(value);
    let of_options = words.clone().filter(|word| !word.starts_with('/'));
    let of_options = of_options.filter_map(|word| word.find('/').map(|at| &word[at..]));
    let letters = words.clone().filter(|word| word.starts_with('-'));
    let of_letters = letters.filter_map(|word| word.get(2..).filter(|path| path.contains('/')));
    words
        .clone()
        .chain(value.split(['"', '\'']).map(str::trim))
        .chain(of_options)
        .chain(of_letters)
        .filter(|word| !word.is_empty())
}

fn parts(value: &str) -> impl Iterator<Item = &str> + Clone {
    value.split(|letter: char| is_between(letter) || "\"'=:()`".contains(letter))
}

fn is_between(letter: char) -> bool {
    letter.is_whitespace() || BETWEEN.contains(letter)
}

/// Returns the path of a text below the home or a folder. A home is taken to have the name of its user.
fn place(folder: &Path, text: &str) -> PathBuf {
    let home = std::env::home_dir();
    let name = home.as_ref().and_then(|home| home.file_name());
    let own = name.map(|name| format!("~{}/", name.to_string_lossy()));
    let below = ["~/", "$HOME/", "${HOME}/"]
        .into_iter()
        .chain(own.as_deref())
        .find_map(|prefix| text.strip_prefix(prefix));
    match (below, home) {
        (Some(below), Some(home)) => home.join(below),
        _ => folder.join(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_home_has_several_names() {
        let home = std::env::home_dir().unwrap();
        let name = home.file_name().unwrap().to_str().unwrap();
        for text in ["~/a", "$HOME/a", &format!("~{name}/a")] {
            assert_eq!(place(Path::new("/x"), text), home.join("a"), "{text}");
        }
        assert_eq!(place(Path::new("/x"), "~other/a"), Path::new("/x/~other/a"));
    }

    #[test]
    fn settings_that_git_cannot_read_are_read_by_lines() {
        let text = b"[core\n hooksPath = \"tools/x\" \n[remote \"o.x\"] url = a\n[include]path=../b=c\nplain\n";
        let list = "core.hookspath\ntools/x\0remote.url\na\0include.path\n../b=c\0";
        assert_eq!(list_by_lines(text), list);
    }

    #[test]
    fn relative_paths_count_in_each_folder() {
        let word = |(word, is_hooks): (&str, bool)| (word.to_owned(), is_hooks);
        let words = ["./tools//fsm", "~/x/y", "/a/b", "../x/y", "a/../b"];
        let words = words.map(|word| (word, false));
        let hooks = [("hooks", true), (".", true)];
        let mut named = GitNames {
            relative: words.into_iter().chain(hooks).map(word).collect(),
            ..GitNames::default()
        };
        named.add_in_other_folders();
        let (first, hooks) = named.places.split_first().unwrap();
        assert_eq!(first, Path::new("tools/fsm"));
        assert!(hooks.contains(&PathBuf::from("hooks/pre-*")));
        assert!(
            hooks.iter().all(|path| path.starts_with("hooks")),
            "{hooks:?}"
        );
    }
}
