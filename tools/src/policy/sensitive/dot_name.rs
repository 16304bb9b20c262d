//! The rule about unknown names with a dot: a dot file or dot folder that no entry of the table covers and that is not known to be harmless.

use once_cell::sync::Lazy;

use super::{SensitivePath, Sensitivity};

/// Names with a dot that only their own tools read, for data: lists of ignored files, marks, examples and caches.
const HARMLESS: &[&str] = &[
    // The name of the directory itself, and of the one above it.
    ".",
    "..", //
    // Lists of files, and marks.
    ".bzrignore",
    ".cfignore",
    ".containerignore",
    ".cvsignore",
    ".dockerignore",
    ".ebignore",
    ".eslintignore",
    ".gcloudignore",
    ".git-blame-ignore-revs",
    ".gitignore",
    ".gitkeep",
    ".helmignore",
    ".hgignore",
    ".ignore",
    ".jshintignore",
    ".keep",
    ".markdownlintignore",
    ".nojekyll",
    ".npmignore",
    ".p4ignore",
    ".prettierignore",
    ".rgignore",
    ".slugignore",
    ".stylelintignore",
    ".vercelignore",
    ".vscodeignore", //
    // Texts and data of people.
    ".all-contributorsrc",
    ".clang-format",
    ".editorconfig",
    ".env.example",
    ".env.sample",
    ".env.template",
    ".mailmap",
    // Caches and reports, which their tools write again.
    ".angular",
    ".cache",
    ".coverage",
    ".ds_store",
    ".eggs",
    ".gradle",
    ".hypothesis",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".next",
    ".nox",
    ".nuxt",
    ".nyc_output",
    ".parcel-cache",
    ".pytest_cache",
    ".ruff_cache",
    ".svelte-kit",
    ".tox",
    ".turbo",
    ".venv",
];

/// The entry that holds for a path with such a name.
static ENTRY: Lazy<SensitivePath> = Lazy::new(|| SensitivePath {
    pattern: ".*/**".to_owned(),
    sensitivity: Sensitivity::DotFile,
    note: "a dot file or in a dot folder, which programs may take settings or commands from"
        .to_owned(),
});

/// Returns the entry that holds for paths with an unknown name that begins with a dot.
pub(super) fn entry() -> &'static SensitivePath {
    &ENTRY
}

/// Returns true for the entry of this rule, not for one of a host.
pub(super) fn is_entry(entry: &SensitivePath) -> bool {
    *entry == *ENTRY
}

/// Returns true if the name begins with a dot and is not known to be harmless. ASCII case does not count.
pub(super) fn is_unknown(name: &str) -> bool {
    name.starts_with('.')
        && !HARMLESS
            .iter()
            .any(|harmless| harmless.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_harmless_name_is_in_lower_case_and_occurs_once() {
        for (at, name) in HARMLESS.iter().enumerate() {
            assert!(
                name.starts_with('.') && *name == name.to_ascii_lowercase(),
                "{name}"
            );
            assert!(!HARMLESS[..at].contains(name), "{name}");
        }
    }
}
