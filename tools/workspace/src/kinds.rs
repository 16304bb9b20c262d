//! The kinds of files that count when tools or programs change them.

use std::io::Read;
use std::path::Path;

/// The names in a folder of git that make it run programs, obey another folder, bring changes into the next commit (`MERGE_AUTOSTASH`), or
/// remove files at the next checkout (`sparse-checkout`). The rest is its data.
const SETTINGS: &str = "MERGE_AUTOSTASH alternates attributes autostash branches commondir config config.worktree git-rebase-todo \
    gitdir hooks lazygit.yml opts remotes sparse-checkout strategy strategy_opts";

/// Other names in a folder of git.
const DATA: &str = "index info logs modules objects packed-refs refs shallow worktrees";

/// The names of other folders in a folder of git.
const STATES: &str = "annex lfs rebase-apply rebase-merge reftable rr-cache sequencer svn";

/// The folders of build outputs and dependencies. They hold code that the next build, test or start runs anyway, and up to thousands of
/// files that were settings where they come from: nobody opens an editor or a shell there.
const OUTPUTS: &str = "target node_modules bower_components .venv venv vendor build dist out .tox .nox \
    __pycache__ _build deps .build .pio .terraform";

/// Returns true for the name of a folder of build outputs or dependencies.
pub fn is_output(name: &str) -> bool {
    OUTPUTS.split(' ').any(|output| output == name)
}

/// Returns true if git takes the name, beside a `HEAD`, for its settings or hooks. ASCII case does not count.
pub fn is_repository_setting(name: &str) -> bool {
    contains(SETTINGS, name)
}

/// Returns true if the file with these names below a folder of git is data, which git writes at each commit or fetch.
pub fn is_repository_data(names: &[&str]) -> bool {
    // In the repository of a submodule, branches of a remote lie in `refs/remotes`.
    let has_setting = (0..names.len()).any(|at| {
        is_repository_setting(names[at]) && !(at > 0 && names[at - 1..=at] == ["refs", "remotes"])
    });
    // Both have the names of branches below them.
    matches!(names.first(), Some(&("logs" | "refs"))) || !has_setting
}

/// Returns true if git takes the folder for a repository, whatever its name is. `has` says whether something has a name in it.
pub fn is_folder_of_git(has: impl Fn(&str) -> bool) -> bool {
    has("HEAD") && (has("commondir") || has("objects") && has("refs"))
}

/// Returns true if the entry of a folder of git is a folder of files of its own, such as a worktree in a bare repository. `exists` says
/// whether something has a path below the folder of git.
pub fn is_checkout(name: &str, exists: impl Fn(&Path) -> bool) -> bool {
    !is_repository_part(name) && exists(&Path::new(name).join(".git"))
}

/// Returns true if git takes the name, in a folder of git, for its own. ASCII case does not count.
pub fn is_repository_part(name: &str) -> bool {
    is_repository_setting(name) || is_repository_folder(name) || contains(STATES, name)
}

/// Returns true if git takes the name, beside a `HEAD`, for a part with its data. ASCII case does not count.
pub fn is_repository_folder(name: &str) -> bool {
    contains(DATA, name)
}

fn contains(names: &str, name: &str) -> bool {
    names.split(' ').any(|one| one.eq_ignore_ascii_case(name))
}

/// Returns true if a file, which is read from its begin, is a script.
pub fn reads_as_script(file: impl Read) -> bool {
    let mut begin = Vec::new();
    file.take(5).read_to_end(&mut begin).is_ok() && is_script(&begin)
}

/// Returns true if a text begins like a script. Shells run one with a byte order mark, too.
pub fn is_script(text: &[u8]) -> bool {
    text.strip_prefix(b"\xEF\xBB\xBF")
        .unwrap_or(text)
        .starts_with(b"#!")
}
