//! The built-in table of sensitive paths. The README of `toolcrib-fs` lists it.

use super::SensitivePath;
use super::Sensitivity::{self, BuildFile, RunsByItself, Settings};

/// The note of git's files.
const GIT: &str = "a part of a git repository, and git runs the hooks and the commands that its configuration names";

/// The sensitivity, note and patterns of each kind of file.
///
/// `.gitattributes` and `.gitmodules` are build files: `.gitattributes` selects among filters that git's configuration defines, and
/// git refuses commands in `.gitmodules`.
const TABLE: &[(Sensitivity, &str, &[&str])] = &[
    (Settings, "the settings of Toolcrib, which decide what its tools may do", &["toolcrib.toml"]),
    // Version control.
    (
        RunsByItself,
        GIT,
        // `HEAD` makes git take the directory for a repository, and obey its `config`.
        &[".git/**", ".gitconfig", ".config/git/**", ".githooks/**", ".bare/**", "HEAD"],
    ),
    (
        RunsByItself,
        "a part of a repository whose configuration names commands that hg or jj runs",
        &[".hg/**", ".hgrc", ".jj/**", ".config/jj/**"],
    ),
    (
        RunsByItself,
        "a list of hooks that git runs at the next commit or push",
        &[
            ".husky/**", ".lefthook/**", "lefthook*.yml", "lefthook*.yaml", "lefthook*.toml", "lefthook*.json",
            ".lefthook*", ".pre-commit-config.yaml", ".overcommit.yml",
        ],
    ),
    // Build services.
    (
        RunsByItself,
        "a job that a build service runs, with its secrets, when this is pushed",
        &[
            ".github/workflows/**", ".github/actions/**", ".forgejo/workflows/**", ".gitea/workflows/**",
            ".gitlab-ci.yml", ".gitlab/ci/**", ".circleci/**", ".buildkite/**", ".woodpecker/**", ".woodpecker.yml",
            ".woodpecker.yaml", ".drone.yml", ".travis.yml", ".cirrus.yml", ".appveyor.yml", "appveyor.yml",
            "azure-pipelines.yml", "bitbucket-pipelines.yml", "Jenkinsfile",
        ],
    ),
    // Toolchains and package managers.
    (
        RunsByItself,
        "a setting of cargo or rustup that names programs which they run in place of their own",
        &[".cargo/**", ".rustup/**", "rust-toolchain.toml", "rust-toolchain"],
    ),
    (
        RunsByItself,
        "a setting of a package manager that names programs which it loads",
        &[".npmrc", ".yarnrc", ".yarnrc.yml", ".yarn/**", ".pnpmfile.cjs", ".pnpmfile.mjs", "bunfig.toml"],
    ),
    (
        RunsByItself,
        "a file that the shell loads when a directory is entered",
        &[
            ".envrc", ".direnv/**", ".config/direnv/**", "mise.toml", "mise.*.toml", ".mise.toml", ".mise.*.toml",
            ".mise/**", ".config/mise/**", ".config/mise.toml", ".rvmrc", ".tool-versions",
        ],
    ),
    // Editors.
    (
        RunsByItself,
        "a setting of an editor that names tasks and programs which it runs when the folder is opened",
        &[
            ".vscode/**", "*.code-workspace", ".idea/**", ".run/**", ".fleet/**", ".zed/**", ".helix/**",
            ".config/helix/**", ".vs/**", ".devcontainer/**", ".devcontainer.json", ".gitpod.yml", ".vim/**", ".vimrc",
            ".gvimrc", ".exrc", ".nvimrc", ".nvim.lua", ".config/nvim/**", ".emacs", ".emacs.d/**", ".dir-locals.el",
        ],
    ),
    // The user's account.
    (
        RunsByItself,
        "a start-up file of a shell or of a session, which runs at the next one",
        &[
            ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".profile", ".zshrc",
            ".zshenv", ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".cshrc", ".tcshrc", ".login", ".config/fish/**",
            ".config/powershell/**", "Microsoft.PowerShell_profile.ps1", "profile.ps1", ".xinitrc", ".xprofile",
            ".xsession", ".xsessionrc", ".pam_environment", ".config/environment.d/**",
        ],
    ),
    (
        RunsByItself,
        "a unit or an entry that the session starts by itself",
        &[
            ".config/systemd/**", ".local/share/systemd/**", ".config/autostart/**", ".local/share/dbus-1/**",
            "Library/LaunchAgents/**",
        ],
    ),
    (
        RunsByItself,
        "a program on the user's search path, which runs in place of others of its name",
        &[".local/bin/**"],
    ),
    (
        RunsByItself,
        "a part of the user's keys, which decide who logs in and which commands ssh and gpg run",
        &[".ssh/**", ".gnupg/**"],
    ),
    (
        RunsByItself,
        "a start-up file of an interpreter or a debugger, which runs with the next one",
        &[
            ".gdbinit", ".lldbinit", ".pdbrc", ".Rprofile", ".irbrc", ".psqlrc", ".sqliterc", "sitecustomize.py",
            "usercustomize.py", "site-packages/*.pth",
        ],
    ),
    // Agents.
    (
        RunsByItself,
        "a file that agents take instructions, permissions or commands from",
        &[
            "AGENTS.md", "AGENTS.override.md", ".agents/**", "CLAUDE.md", "CLAUDE.local.md", ".claude/**",
            ".claude.json", "GEMINI.md", ".gemini/**", "QWEN.md", ".qwen/**", "WARP.md", ".mcp.json", ".cursor/**",
            ".cursorrules", ".windsurf/**", ".windsurfrules", ".clinerules/**", ".roo/**", ".roorules", ".codex/**",
            ".opencode/**", "opencode.json", "opencode.jsonc", ".crush/**", "crush.json", ".crush.json",
            ".continue/**", ".aider.conf.yml", ".goosehints", ".junie/**", ".kiro/**", ".amazonq/**",
            ".github/copilot-instructions.md", ".github/instructions/**", ".github/prompts/**", ".github/agents/**",
        ],
    ),
    // Builds and tests.
    (BuildFile, "a build script, which cargo runs at the next build", &["build.rs"]),
    (
        BuildFile,
        "a manifest, whose dependencies and scripts run at the next build",
        &[
            "Cargo.toml", "package.json", "deno.json", "pyproject.toml", "setup.py", "setup.cfg", "composer.json",
            "Gemfile", "*.gemspec", "mix.exs", "Package.swift", "build.zig", "pom.xml", "build.sbt", "*.csproj",
            "Directory.Build.props", "Directory.Build.targets", "flake.nix", "shell.nix", "default.nix",
        ],
    ),
    (
        BuildFile,
        "a list of commands, which a build tool runs when it is asked to",
        &[
            "Makefile", "GNUmakefile", "*.mk", "CMakeLists.txt", "*.cmake", "meson.build", "configure", "configure.ac",
            "Justfile", ".justfile", "Taskfile.yml", "Taskfile.yaml", "Rakefile", "SConstruct", "build.xml",
            "*.gradle", "*.gradle.kts", "gradlew", "gradle/wrapper/**", "mvnw", ".mvn/**", "BUILD.bazel",
            "MODULE.bazel", "*.bzl", ".bazelrc", "Procfile", "Vagrantfile",
        ],
    ),
    (
        BuildFile,
        "a container's recipe, whose commands run when it is built or started",
        &[
            "Dockerfile", "Dockerfile.*", "*.dockerfile", "Containerfile", "compose.yml", "compose.yaml",
            "docker-compose*.yml", "docker-compose*.yaml",
        ],
    ),
    (
        BuildFile,
        "a configuration that is code, which a test or build tool loads",
        &[
            "conftest.py", "noxfile.py", "tox.ini", "*.config.js", "*.config.cjs", "*.config.mjs", "*.config.ts",
            ".eslintrc.js", ".eslintrc.cjs", "gulpfile.js", "Gruntfile.js",
        ],
    ),
    (
        BuildFile,
        "a setting of git, which decides what it fetches or which of its filters run",
        &[".gitmodules", ".gitattributes"],
    ),
];

/// Returns true for an entry of a folder of git, in which each `HEAD` is git's own.
pub(super) fn is_folder_of_git(entry: &SensitivePath) -> bool {
    entry.note == GIT && [".git/**", ".bare/**"].contains(&&*entry.pattern)
}

/// Returns true for the built-in entry of `HEAD`, not for one of a host.
pub(super) fn is_head(entry: &SensitivePath) -> bool {
    (entry.sensitivity, &*entry.note, &*entry.pattern) == (RunsByItself, GIT, "HEAD")
}

pub(super) fn paths() -> Vec<SensitivePath> {
    let entries = |(sensitivity, note, patterns): &(Sensitivity, &str, &'static [&str])| {
        let (sensitivity, note) = (*sensitivity, (*note).to_owned());
        patterns.iter().map(move |pattern| SensitivePath {
            pattern: (*pattern).to_owned(),
            sensitivity,
            note: note.clone(),
        })
    };
    TABLE.iter().flat_map(entries).collect()
}
