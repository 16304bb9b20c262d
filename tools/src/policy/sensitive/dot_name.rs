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
    // Caches, outputs and dependencies, which their tools write again.
    ".angular",
    ".apt_generated",
    ".astro",
    ".aws-sam",
    ".benchmarks",
    ".build",
    ".buildinfo",
    ".built",
    ".cache",
    ".cache-loader",
    ".cargo-checksum.json",
    ".cargo-lock",
    ".cargo-ok",
    ".ccls-cache",
    ".cdk.staging",
    ".cmake",
    ".contentlayer",
    ".coverage",
    ".cxx",
    ".dart_tool",
    ".deps",
    ".dirstamp",
    ".doctrees",
    ".docusaurus",
    ".ds_store",
    ".eggs",
    ".esbuild",
    ".eslintcache",
    ".eunit",
    ".externalnativebuild",
    ".fingerprint",
    ".flutter-plugins",
    ".flutter-plugins-dependencies",
    ".gradle",
    ".grunt",
    ".hpc",
    ".hugo_build.lock",
    ".hypothesis",
    ".import_linter_cache",
    ".ipynb_checkpoints",
    ".jekyll-cache",
    ".jekyll-metadata",
    ".kotlin",
    ".last-run.json",
    ".last_run.json",
    ".libs",
    ".lighthouseci",
    ".mutmut-cache",
    ".mypy_cache",
    ".next",
    ".ninja_deps",
    ".ninja_lock",
    ".ninja_log",
    ".nitro",
    ".nox",
    ".nuxt",
    ".nx",
    ".nyc_output",
    ".open-next",
    ".output",
    ".parcel-cache",
    ".pdm-build",
    ".php-cs-fixer.cache",
    ".php_cs.cache",
    ".phpunit.cache",
    ".phpunit.result.cache",
    ".pio",
    ".pioenvs",
    ".piolibdeps",
    ".pnpm-debug.log",
    ".pnpm-store",
    ".pulp-cache",
    ".pytest_cache",
    ".pytype",
    ".react-router",
    ".resultset.json",
    ".rollup.cache",
    ".rpt2_cache",
    ".rspec_status",
    ".ruff_cache",
    ".rustc_info.json",
    ".rustdoc_fingerprint.json",
    ".sass-cache",
    ".sconf_temp",
    ".sconsign.dblite",
    ".scrapy",
    ".serverless",
    ".shadow-cljs",
    ".shards",
    ".spago",
    ".sqlx",
    ".stack-work",
    ".stryker-tmp",
    ".stylelintcache",
    ".svelte-kit",
    ".swc",
    ".temp",
    ".terraform",
    ".terraform.lock.hcl",
    ".terraform.tfstate.lock.info",
    ".terragrunt-cache",
    ".testmondata",
    ".timestamp",
    ".tmp",
    ".tmp_versions",
    ".tox",
    ".tsbuildinfo",
    ".turbo",
    ".venv",
    ".vinxi",
    ".virtual_documents",
    ".vite",
    ".vitest-reports",
    ".wireit",
    ".yardoc",
    ".yarn-integrity",
    ".zig-cache",
];

/// The start of the names of coverage.py's data of one process, which end with its host and its number.
const COVERAGE: &str = ".coverage.";

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
        && !name
            .strip_prefix(COVERAGE)
            .is_some_and(|process| process.contains('.'))
        && !HARMLESS
            .iter()
            .any(|harmless| harmless.eq_ignore_ascii_case(name))
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
        let sensitivity = |path| paths.find(path).map(SensitivePath::sensitivity);
        assert_eq!(sensitivity(".nx/cache/x"), None);
        assert_eq!(sensitivity(".nx/nxw.js"), Some(Sensitivity::RunsByItself));
    }

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
