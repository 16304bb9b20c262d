//! The rule about unknown names with a dot: a dot file or dot folder that no entry of the table covers and that is not known to be harmless.

use std::collections::HashSet;

use once_cell::sync::Lazy;

use super::{SensitivePath, Sensitivity};

/// Names with a dot that only their own tools read, for data: lists of ignored files, marks, examples and caches.
static HARMLESS: Lazy<HashSet<&str>> = Lazy::new(|| names().collect());

fn names() -> impl Iterator<Item = &'static str> {
    let lines = include_str!("harmless.txt").lines();
    let lines = lines.filter(|line| !line.starts_with('#'));
    lines.flat_map(str::split_ascii_whitespace)
}

/// The start of the names of coverage.py's data of one process, which end with its host and its number.
const COVERAGE: &str = ".coverage.";

/// The note of such a path.
const NOTE: &str =
    "a dot file or in a dot folder, which programs may take settings or commands from";

/// The entry that holds for a path with such a name.
static ENTRY: Lazy<SensitivePath> = Lazy::new(|| SensitivePath {
    pattern: ".*/**".to_owned(),
    sensitivity: Sensitivity::DotFile,
    note: NOTE.to_owned(),
});

/// The entry that holds for all other paths if the root lies in a folder of settings.
static OF_SETTINGS: Lazy<SensitivePath> = Lazy::new(|| SensitivePath {
    pattern: "/**".to_owned(),
    sensitivity: Sensitivity::DotFile,
    note: "in a folder of settings, which programs take settings or commands from".to_owned(),
});

/// Returns the entry that holds for paths with an unknown name that begins with a dot.
pub(super) fn entry() -> &'static SensitivePath {
    &ENTRY
}

/// Returns the entry that holds for all other paths if the root lies in a folder of settings.
pub(super) fn entry_of_settings() -> &'static SensitivePath {
    &OF_SETTINGS
}

/// Returns the entries of a home, in which no name is harmless. Those of its own and of the folder above are no files.
pub(super) fn entries_of_home(home: &str) -> impl Iterator<Item = SensitivePath> {
    let names = names().filter(|name| ![".", ".."].contains(name));
    names.chain([".coverage.*"]).filter_map(move |name| {
        let pattern = format!("/{home}/{name}/**");
        SensitivePath::new(pattern, Sensitivity::DotFile, NOTE).ok()
    })
}

/// Returns true for the entry of this rule, not for one of a host.
pub(super) fn is_entry(entry: &SensitivePath) -> bool {
    *entry == *ENTRY
}

/// Returns true if the name begins with a dot and is not known to be harmless. ASCII case does not count.
pub(super) fn is_unknown(name: &str) -> bool {
    name.starts_with('.')
        && !name
            .strip_prefix(COVERAGE)
            .is_some_and(|process| process.contains('.'))
        // Some file systems ignore case.
        && !HARMLESS.contains(&*name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_and_outputs_of_build_tools_are_harmless_but_not_what_a_tool_runs_of_them() {
        for name in [
            ".deps",
            ".libs",
            ".eslintcache",
            ".terraform",
            ".dart_tool",
            ".coverage.host.12.Xabc",
            ".rustc_info.json",
            ".last_run.json",
            ".externalNativeBuild",
        ] {
            assert!(!is_unknown(name), "{name}");
        }
        for name in [
            ".coveragerc",
            ".coverage.",
            ".deps2",
            ".swiftpm",
            ".elixir_ls",
            ".ropeproject",
            ".RData",
        ] {
            assert!(is_unknown(name), "{name}");
        }
        let paths = super::super::SensitivePaths::default();
        let sensitivity = |path| paths.find(path).map(|path| path.sensitivity);
        assert_eq!(sensitivity(".nx/cache/x"), None);
        assert_eq!(sensitivity(".nx/nxw.js"), Some(Sensitivity::RunsByItself));
    }

    #[test]
    fn a_harmless_name_is_in_lower_case_and_occurs_once() {
        for name in names() {
            assert!(
                name.starts_with('.') && *name == name.to_ascii_lowercase(),
                "{name}"
            );
        }
        assert_eq!(names().count(), HARMLESS.len());
    }
}
