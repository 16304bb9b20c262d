//! The kinds of files that count when tools or programs change them.

use std::io::Read;

/// The names in a folder of git that make it run programs, obey another folder, bring changes into the next commit (`MERGE_AUTOSTASH`), or
/// remove files at the next checkout (`sparse-checkout`). The rest is its data.
const SETTINGS: &str = "MERGE_AUTOSTASH alternates attributes autostash branches commondir config config.worktree git-rebase-todo \
    gitdir hooks lazygit.yml opts remotes sparse-checkout strategy strategy_opts";

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
    SETTINGS
        .split(' ')
        .any(|one| one.eq_ignore_ascii_case(name))
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
