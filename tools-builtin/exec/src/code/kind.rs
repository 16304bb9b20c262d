//! The kinds of files: those that run, those that say how a project is built, and data.

use std::fs::{self, Metadata};
use std::path::Path;

use tools_workspace::reads_as_script;

use crate::command::has_word;
use crate::lookup::is_executable;

/// The files by which a build tool or an interpreter knows a project.
const PROJECT: &str = "BUILD.bazel CMakeLists.txt Cargo.toml GNUmakefile Gemfile Justfile Makefile Pipfile \
    Rakefile Taskfile.yml Vagrantfile build.gradle build.gradle.kts build.ninja build.rs \
    build.sbt build.xml build.zig composer.json conftest.py deno.json go.mod gradlew \
    justfile makefile meson.build mix.exs mvnw noxfile.py package.json pom.xml \
    pyproject.toml pytest.ini setup.cfg setup.py sitecustomize.py tox.ini usercustomize.py";

/// The endings of scripts.
const SCRIPTS: [&str; 24] = [
    ".bash", ".bat", ".cjs", ".cmake", ".cmd", ".fish", ".js", ".jsx", ".lua", ".mjs", ".mk",
    ".nu", ".php", ".pl", ".ps1", ".py", ".rake", ".rb", ".sh", ".tcl", ".ts", ".tsx", ".vim",
    ".zsh",
];

/// The endings of scripts that say how a project is built.
const BUILDS: [&str; 8] = [
    ".bash", ".cmake", ".fish", ".gradle", ".mk", ".sh", ".wrap", ".zsh",
];

/// The endings of data, which no program takes for code by itself.
const DATA: [&str; 26] = [
    ".bmp", ".css", ".csv", ".db", ".gif", ".htm", ".html", ".ico", ".jpeg", ".jpg", ".json",
    ".jsonl", ".log", ".md", ".ndjson", ".npy", ".parquet", ".pdf", ".png", ".rst", ".sqlite",
    ".svg", ".tsv", ".txt", ".webp", ".xml",
];

/// Returns true if the name is one by which tools know a project.
pub(super) fn is_of_project(name: &str) -> bool {
    has_word(PROJECT, name) || name.contains(".config.")
}

/// Returns true if the name is that of a file that says how a project is built.
pub(super) fn says_how_to_build(name: &str) -> bool {
    is_of_project(name) || BUILDS.iter().any(|ending| name.ends_with(ending))
}

/// Returns true if a program may take a file of this name for code.
pub(super) fn may_be_code(name: &str, metadata: &Metadata) -> bool {
    let is_data = !name.starts_with('.') && DATA.iter().any(|ending| name.ends_with(ending));
    !is_data || is_of_project(name) || is_executable(metadata)
}

/// Returns true if the file runs, or has the name of one that an interpreter or a build tool runs.
pub(super) fn is_script(path: &Path, metadata: &Metadata) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let has_ending = SCRIPTS.iter().any(|ending| name.ends_with(ending));
    has_ending
        || has_word(PROJECT, &name)
        || is_executable(metadata)
        || starts_with_interpreter(path)
}

fn starts_with_interpreter(path: &Path) -> bool {
    let is_file = fs::metadata(path).is_ok_and(|metadata| metadata.is_file());
    is_file && fs::File::open(path).is_ok_and(reads_as_script)
}
