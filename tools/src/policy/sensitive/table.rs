//! The built-in table of sensitive paths. The README of `toolcrib-fs` lists it.

use super::SensitivePath;
use super::Sensitivity::{self, BuildFile, RunsByItself, Settings};

/// The note of git's files.
const GIT: &str = "a part of a git repository, and git runs the hooks and the commands that its configuration names";

/// The sensitivity, note and patterns of each kind of file.
///
/// `.gitattributes` and `.gitmodules` are build files: `.gitattributes` selects among filters that git's configuration defines, and
/// git refuses commands in `.gitmodules`.
// A pattern a line would make 900 lines of it.
#[rustfmt::skip]
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
            ".lefthook*", ".pre-commit-config.yaml", ".pre-commit-config.yml", ".pre-commit-hooks.yaml", "prek.toml",
            ".overcommit.yml", ".huskyrc*", "husky.config.*", ".simple-git-hooks.*", "simple-git-hooks.*",
            ".lintstagedrc*", "lint-staged.config.*", ".commitlintrc*", "commitlint.config.*", ".czrc", ".cz.json",
            ".cz.toml", ".cz.yaml", ".releaserc*", "release.config.*", ".autorc", ".gitlint", ".yorkie/**",
            ".captainhook.json", "captainhook.json", "grumphp.yml", "grumphp.yml.dist",
        ],
    ),
    // Build services.
    (
        RunsByItself,
        "a job that a build service runs, with its secrets, when this is pushed",
        &[
            ".github/workflows/**", ".github/actions/**", ".github/dependabot.yml", ".github/dependabot.yaml",
            ".forgejo/**", ".gitea/**", ".gitlab-ci.yml", ".gitlab-ci.yaml", ".gitlab-ci-*.yml", "*.gitlab-ci.yml",
            ".gitlab/ci/**", ".circleci/**", ".tekton/**", ".teamcity/**", ".semaphore/**", ".harness/**",
            ".azure-pipelines/**", ".azuredevops/**", ".jenkins/**", ".screwdriver/**", ".werft/**", ".prow.yaml",
            ".prow/**", ".zuul.d/**", ".zuul.yaml", "zuul.d/**", ".builds/**", ".build.yml", ".ci-operator.yaml",
            ".argo/**", ".readthedocs.yaml", ".readthedocs.yml", ".platform/**", ".platform.app.yaml",
            ".ebextensions/**", ".scrutinizer.yml", ".mergify.yml", ".mergify/**", ".kodiak.toml", ".buildkite/**",
            ".woodpecker/**", ".woodpecker.yml", ".woodpecker.yaml", ".drone.yml", ".travis.yml", ".cirrus.yml",
            ".appveyor.yml", "appveyor.yml", "azure-pipelines.yml", "azure-pipelines-*.yml", "azure-pipelines.yaml",
            "azure-pipelines-*.yaml", "bitbucket-pipelines.yml", "Jenkinsfile", "Jenkinsfile.*", "*.jenkinsfile",
            "cloudbuild*.yaml", "cloudbuild*.yml", "buildspec*.yml", "buildspec*.yaml", "codemagic.yaml",
            "bitrise.yml", "wercker.yml", "shippable.yml", "netlify.toml", "vercel.json", "render.yaml",
            "railway.toml", "railway.json", "amplify.yml", "renovate.json", "renovate.json5", ".renovaterc*",
        ],
    ),
    // Toolchains and package managers.
    (
        RunsByItself,
        "a setting of cargo or rustup that names programs which they run in place of their own",
        &[
            ".cargo/**", ".rustup/**", "rust-toolchain.toml", "rust-toolchain", "rust-project.json",
            ".rust-project.json", "rust-analyzer.toml", ".rust-analyzer.toml",
        ],
    ),
    (
        RunsByItself,
        "a setting of a package manager that names programs which it loads",
        &[
            ".npmrc", ".yarnrc", ".yarnrc.yml", ".yarn/**", ".pnpmfile.cjs", ".pnpmfile.mjs", "bunfig.toml",
            ".bunfig.toml", ".pnp.*", ".condarc", ".pip/**", "pip.conf", ".config/pip/**", ".pydistutils.cfg",
            "uv.toml", ".config/uv/**", ".bundle/**", ".gemrc", ".config/composer/**", ".m2/settings*.xml",
            ".m2/toolchains.xml", ".m2/extensions.xml", ".sbtopts", ".jvmopts", ".sbtrc", ".gradle/init.d/**",
            ".gradle/init.gradle", ".gradle/gradle.properties", ".mvn/**", "nuget.config", ".config/nix/**",
            ".config/nixpkgs/**", ".cabal/config", ".luarocks/config*", ".prototools", ".config/yarn/**",
            ".config/containers/**", ".docker/config.json", ".docker/cli-plugins/**", ".dockercfg", ".terraformrc",
            ".tofurc", "terraform.rc",
        ],
    ),
    (
        RunsByItself,
        "a file that the shell loads when a directory is entered",
        &[
            ".envrc", ".direnv/**", ".config/direnv/**", "mise.toml", "mise.*.toml", ".mise.toml", ".mise.*.toml",
            ".mise/**", ".config/mise/**", ".config/mise.toml", ".rvmrc", ".tool-versions", ".rtx.toml", ".rtx/**",
            ".autoenv.zsh", ".autoenv", ".smartcd/**", ".sdkmanrc", ".asdfrc", ".shadowenv.d/**", ".flox/**",
            ".devenv.flake.nix", ".config/zsh/**", ".oh-my-zsh/**", ".config/starship.toml", ".config/nushell/**",
            ".config/elvish/**", ".config/xonsh/**", ".xonshrc", ".config/direnv.toml",
        ],
    ),
    // Editors.
    (
        RunsByItself,
        "a setting of an editor that names tasks and programs which it runs when the folder is opened",
        &[
            ".vscode/**", "*.code-workspace", ".idea/**", ".run/**", ".fleet/**", ".zed/**", ".helix/**",
            ".config/helix/**", ".vs/**", ".devcontainer/**", ".devcontainer.json", ".gitpod.yml", ".vim/**", ".vimrc",
            ".gvimrc", ".exrc", ".nvimrc", ".nvim.lua", ".nvim/**", ".config/nvim/**", ".lvimrc", ".lvim/**",
            ".config/lvim/**", ".local.vimrc", ".vimrc.local", ".vimspector.json", ".ideavimrc", ".gvimrc.local",
            ".neoconf.json", ".nlsp-settings/**", ".projections.json", ".projectionist.json", ".lazy.lua", ".exrc.lua",
            ".coc-settings.json", "coc-settings.json", ".emacs", ".emacs.el", ".emacs.d/**", ".config/emacs/**",
            ".spacemacs", ".spacemacs.d/**", ".doom.d/**", ".config/doom/**", ".dir-locals.el", ".dir-locals-2.el",
            ".projectile", "*.sublime-project", "*.sublime-workspace", "*.sublime-build", "*.sublime-settings",
            ".config/sublime-text/**", ".atom/**", ".lapce/**", ".kakrc", ".config/kak/**", ".kakoune/**",
            ".kateproject", ".kateconfig", ".theia/**", ".nova/**", ".tm_properties", ".settings/**", ".classpath",
            ".project", ".externalToolBuilders/**", ".netbeans/**", "nbproject/**", ".metals/**", ".bloop/**",
            ".bsp/**", ".ensime", ".replit", "replit.nix", ".gitpod.yaml", ".gitpod/**", ".gitpod.Dockerfile",
            ".ona/**", ".idx/**", ".stackblitzrc", ".codesandbox/**", "sandbox.config.json", "glitch.json",
            ".micro/**", ".config/micro/**", ".nanorc", ".config/zed/**", ".config/Code/**", ".clangd", ".ccls",
            ".ycm_extra_conf.py", ".color_coded", ".sourcekit-lsp/**", ".merlin", "hie.yaml", ".hie-bios",
            ".solargraph.yml", ".luarc.json", ".luarc.jsonc", ".phpactor.json", ".phpactor.yml", ".efmrc", ".pylsp*",
            ".pyre_configuration", ".watchman*", ".nodemonrc*", ".bacon.toml",
        ],
    ),
    // The user's account.
    (
        RunsByItself,
        "a start-up file of a shell or of a session, which runs at the next one",
        &[
            ".bashrc", ".bash_profile", ".bash_login", ".bash_logout", ".bash_aliases", ".bash.d/**", ".bashrc.d/**",
            ".profile", ".profile.d/**", ".zshrc", ".zshrc.local", ".zimrc", ".zpreztorc", ".p10k.zsh", ".zshenv",
            ".zprofile", ".zlogin", ".zlogout", ".kshrc", ".mkshrc", ".shrc", ".shinit", ".ashrc", ".yashrc",
            ".elvish/**", ".cshrc", ".tcshrc", ".login", ".logout", ".config/fish/**", ".config/powershell/**",
            "Microsoft.PowerShell_profile.ps1", "profile.ps1", ".xinitrc", ".xprofile", ".xsession", ".xsessionrc",
            ".xserverrc", ".Xresources", ".Xdefaults", ".pam_environment", ".config/environment.d/**", ".inputrc",
            ".editrc", ".tmux.conf", ".tmux/**", ".config/tmux/**", ".tmuxinator/**", ".tmuxp*", ".tmux-sessionizer",
            ".screenrc", ".byobu/**", ".zellij/**", ".config/zellij/**", ".wezterm.lua", ".config/wezterm/**",
            ".alacritty.toml", ".alacritty.yml", ".config/alacritty/**", ".config/kitty/**", ".config/ghostty/**",
            ".config/foot/**", ".hyper.js", ".config/i3/**", ".i3/**", ".config/sway/**", ".config/hypr/**",
            ".hammerspoon/**", ".skhdrc", ".yabairc", ".config/awesome/**", ".config/bspwm/**", ".config/sxhkd/**",
            ".config/openbox/**", ".fvwm/**", ".xmonad/**", ".xbindkeysrc", ".mailcap", ".config/mimeapps.list",
            ".muttrc", ".mutt/**", ".forward", ".procmailrc", ".fetchmailrc", ".lesskey", ".lessfilter", ".curlrc",
            ".config/curlrc", ".wgetrc", ".wget2rc", ".netrc", ".ripgreprc", ".config/fd/**", ".ackrc",
            ".config/bat/**", ".config/lf/**", ".config/ranger/**", ".config/nnn/**", ".config/yazi/**",
            ".config/broot/**", ".config/lazygit/**", ".tigrc", ".config/gh/**", ".config/glab-cli/**", ".taskrc",
            ".rclone.conf", ".config/rclone/**",
        ],
    ),
    (
        RunsByItself,
        "a unit or an entry that the session starts by itself",
        &[
            ".config/systemd/**", ".local/share/systemd/**", ".config/autostart/**", ".config/autostart-scripts/**",
            ".config/plasma-workspace/**", ".local/share/dbus-1/**", ".local/share/applications/**",
            "Library/LaunchAgents/**",
        ],
    ),
    (
        RunsByItself,
        "a program or a part of an environment on the search path, which runs in place of others of its name",
        &[
            ".local/bin/**", ".bin/**", ".venv/bin/activate*", ".venv/Scripts/activate*", "venv/bin/activate*",
            "venv/Scripts/activate*", "env/bin/activate*", "env/Scripts/activate*", "pyvenv.cfg",
            ".config/dotnet-tools.json", "dotnet-tools.json",
        ],
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
            ".gdbinit", ".gdbearlyinit", ".config/gdb/**", ".gdb_autoload/**", "*-gdb.py", "*-gdb.gdb", ".lldbinit",
            ".lldbinit-*", ".radare2rc", ".config/radare2/**", ".pdbrc", ".pdbrc.py", ".pythonrc", ".pythonrc.py",
            ".pythonstartup", ".ipython/profile_*/startup/**", ".ipython/profile_*/*.py", ".jupyter/*.py",
            ".jupyter/*.json", "jupyter_*_config.py", "ipython_config.py", ".ptpython/**", ".config/ptpython/**",
            ".bpython/**", ".config/bpython/**", ".Rprofile", ".Renviron", ".Rprofile.site", "renv/activate.R",
            ".radian_profile", ".irbrc", ".pryrc", ".byebugrc", ".rdbgrc", ".rdbgrc.rb", ".rdebugrc", ".psqlrc",
            ".myclirc", ".my.cnf", ".sqliterc", ".mongorc.js", ".mongoshrc.js", ".duckdbrc", ".config/pgcli/**",
            ".ghci", ".iex.exs", ".erlang", ".perldb", ".perltidyrc", ".replyrc", ".ammonite/**", ".nrepl.edn",
            ".nrepl/**", ".rebel_readline.edn", ".ocamlinit", ".utoprc", ".config/utop/**", ".sbclrc", ".clisprc*",
            ".ccl-init.lisp", ".eclrc", ".roswell/**", ".guile", ".racketrc", ".config/racket/**", ".octaverc",
            "startup.m", ".juliarc.jl", ".maximarc", ".gnuplot", ".gpinit", ".tclshrc", ".wishrc", ".latexmkrc",
            "latexmkrc", ".valgrindrc", ".ltracerc", ".perfconfig", ".jdbrc", "jdb.ini", ".psyshrc.php",
            ".config/psysh/**", ".psysh.php", "sitecustomize.py", "usercustomize.py", "site-packages/*.pth",
            "dist-packages/*.pth",
        ],
    ),
    // Agents.
    (
        RunsByItself,
        "a file that agents take instructions, permissions or commands from",
        &[
            "AGENTS.md", "AGENTS.override.md", "AGENTS.local.md", "AGENT.md", ".agents/**", ".agent/**", ".agents.md",
            "CLAUDE.md", "CLAUDE.local.md", ".claude/**", ".claude.json", ".claude-plugin/**", "GEMINI.md",
            ".gemini/**", "QWEN.md", ".qwen/**", "WARP.md", ".warp/**", ".mcp.json", "mcp.json", ".mcp/**",
            ".cursor/**", ".cursorrules", ".windsurf/**", ".windsurfrules", ".codeium/**", ".clinerules-*",
            ".clinerules/**", ".cline/**", ".roo/**", ".roorules", ".roorules-*", ".roomodes", ".kilocode/**",
            ".kilocodemodes", ".kilocoderules", ".kilocoderules-*", ".augment/**", ".augment-guidelines", ".trae/**",
            ".tabnine/**", ".cody/**", "airules.md", ".rules", ".airules", ".ai/**", ".aiassistant/**", ".devin/**",
            ".openhands/**", ".openhands_instructions", ".zencoder/**", ".pearai/**", ".void/**", ".voidrules",
            ".goose/**", ".config/goose/**", ".ruler/**", ".rulesync/**", ".specify/**", ".serena/**",
            ".taskmaster/**", ".letta/**", ".amp/**", ".ampcode/**", ".factory/**", ".droid/**", ".plandex/**",
            ".gptme/**", "gptme.toml", ".sweep/**", "sweep.yaml", ".mentat/**", ".pi/**", ".jules/**",
            ".coderabbit.yaml", ".coderabbit.yml", ".codiumai.toml", ".pr_agent.toml", ".greptile/**", "greptile.json",
            ".bito.yaml", ".ellipsis/**", "ellipsis.yaml", ".grok/**", "GROK.md", ".vibe/**", ".deepagents/**",
            ".forge/**", ".rovodev/**", ".firebender/**", "firebender.json", ".refact/**", "CONVENTIONS.md",
            "CRUSH.md", "OPENCODE.md", "CODEX.md", "JULES.md", "REPLIT.md", "copilot-instructions.md", ".codex/**",
            ".opencode/**", "opencode.json", "opencode.jsonc", ".crush/**", "crush.json", ".crush.json",
            ".continue/**", ".aider.conf.yml", ".aider.model.settings.yml", ".aiderrules", ".goosehints", ".junie/**",
            ".kiro/**", ".amazonq/**", ".github/copilot/**", ".github/copilot-instructions.md",
            ".github/instructions/**", ".github/prompts/**", ".github/agents/**", ".github/chatmodes/**",
            ".github/skills/**", ".github/hooks/**", ".copilot/**", "*.instructions.md", "*.prompt.md",
            "*.chatmode.md", "*.agent.md",
        ],
    ),
    // Linters, formatters and test runners, which editors and hooks start by themselves.
    (
        RunsByItself,
        "a setting of a linter, formatter or test runner that names programs and code which it loads",
        &[
            ".prettierrc*", ".eslintrc*", ".stylelintrc*", ".babelrc*", ".swcrc", ".postcssrc*", ".mocharc*",
            ".nycrc*", ".c8rc*", ".jestrc*", ".avarc*", ".taprc", ".remarkrc*", ".markdownlint*", ".textlintrc*",
            ".xo-config*", ".xorc*", ".jscsrc", ".jshintrc", ".tern-project", ".ncurc*", ".npmpackagejsonlintrc*",
            ".depcheckrc*", ".knip.*", ".size-limit*", ".bundlewatch*", ".graphqlrc*", ".graphqlconfig*",
            ".storybook/**", ".ladle/**", ".esbuild*", ".parcelrc", ".terserrc*", ".svgrrc*", ".linguirc*",
            ".pylintrc", "pylintrc", ".pylintrc.toml", ".flake8", ".isort.cfg", ".pycodestyle", ".pep8", ".style.yapf",
            ".mypy.ini", ".coveragerc", ".pytest.ini", ".bandit*", ".sqlfluff", ".cookiecutterrc", ".rubocop*",
            ".standard.yml", ".rspec", ".rspec-local", ".simplecov", ".reek.yml", ".erb-lint.yml", ".erb_lint.yml",
            ".haml-lint.yml", ".slim-lint.yml", ".yardopts", ".rdoc_options", ".autotest", ".spring.rb", ".cucumber*",
            ".credo.exs", ".formatter.exs", ".dialyzer*", ".doctor.exs", ".sobelow-conf", ".busted", ".luacheckrc",
            ".luacov", ".ldoc*", ".php-cs-fixer*", ".php_cs*", ".phpcs.xml*", ".phan/**", ".phpstan*", ".phpunit*",
            ".golangci*", ".goreleaser*", ".air.toml", ".ko.yaml", ".mockery*", ".clang-tidy", ".scalafix*",
            ".scalafmt*", ".swiftlint*", ".swiftformat", ".hlint.yaml", ".stylish-haskell.yaml", ".fourmolu.yaml",
            ".tflint.hcl", ".checkov*", ".trivy*", ".semgrep*", ".hadolint*", ".shellcheckrc", ".yamllint*",
            ".ansible-lint*", ".ansible.cfg", ".vale.ini", ".vale/**", ".trunk/**", ".mega-linter*", ".super-linter*",
            ".pmdrc", ".bazeliskrc", ".buckconfig*", ".tox.ini", ".config/nextest.toml", ".tarpaulin.toml",
            ".nose.cfg", ".noserc", ".perlcritic*", ".proverc", ".dzil/**",
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
            "*.fsproj", "*.vbproj", "*.vcxproj", "Directory.*.props", "Directory.*.targets", "global.json",
            "flake.nix", "shell.nix", "default.nix", "devenv.nix", "devenv.yaml", "devbox.json", "pixi.toml",
            "Pipfile", "requirements*.txt", "environment.yml", "go.mod", "go.work", "deno.jsonc", "jsr.json",
            "pnpm-workspace.yaml", "lerna.json", "nx.json", "project.json", "turbo.json", "angular.json", "rush.json",
            "tsconfig*.json", "jsconfig.json", "deps.edn", "project.clj", "bb.edn", "shadow-cljs.edn", "stack.yaml",
            "*.cabal", "cabal.project*", "package.yaml", "dune-project", "dune", "*.opam", "rebar.config*",
            "gleam.toml", "shard.yml", "Podfile", "Cartfile", "pubspec.yaml", "build.yaml", "elm.json", "spago.dhall",
            "DESCRIPTION", "cpanfile", "Makefile.PL", "Build.PL", "*.rockspec", "*.nimble", "config.nims", "*.nims",
            "v.mod", "conanfile.*", "vcpkg.json", "wrangler.toml", "wrangler.json*", "Brewfile", "Berksfile",
        ],
    ),
    (
        BuildFile,
        "a list of commands, which a build tool runs when it is asked to",
        &[
            "Makefile", "GNUmakefile", "*.mk", "CMakeLists.txt", "*.cmake", "meson.build", "configure", "configure.ac",
            "Justfile", ".justfile", "Taskfile.yml", "Taskfile.yaml", "Rakefile", "SConstruct", "build.xml",
            "*.gradle", "*.gradle.kts", "gradlew*", "gradle/wrapper/**", "gradle.properties", "mvnw*", "BUILD",
            "BUILD.bazel", "BUCK", "WORKSPACE", "WORKSPACE.bazel", "MODULE.bazel", "*.bzl", ".bazelrc", "Procfile*",
            "Vagrantfile", "Earthfile", "Tiltfile", "Snakefile", "*.smk", "dodo.py", "fabfile.py", "tasks.py",
            "wscript", "build.ninja", "xmake.lua", "premake5.lua", "Capfile", "Dangerfile", "dangerfile.*", "Fastfile",
            "Appfile", "Thorfile", "Steepfile", "Jakefile*", "Cakefile", "magefile.go", "build.sc", "build.mill",
            "build.cake", "build.fsx", "autogen.sh", "bootstrap.sh", "Makefile.*", "*.just", "taskfile.dist.yml",
            "Taskfile.dist.yaml", "mprocs.yaml", "process-compose*.yaml", "skaffold.yaml", "helmfile.yaml",
            "serverless.yml", "Pulumi*.yaml", "cdk.json", "*.tf", "*.pkr.hcl", "dagger.json", "fly.toml",
            "buildozer.spec", "supervisord.conf", "gunicorn.conf.py", "uwsgi.ini", "SConscript*", "wscript_build",
            "Jamroot*", "Jamfile*", "*.jam", "Tupfile*", "Tuprules.*", "*.do", "CMakePresets.json",
            "CMakeUserPresets.json", "*.bazelrc", "bazel.rc", "WORKSPACE.bzlmod", "BSDmakefile", "Kbuild",
            "rakefile.*", "Mintfile", "Deliverfile", "Matchfile", "Gymfile", "Snapfile", "Puppetfile", "Policyfile.rb",
            "Cheffile", "kitchen.yml", "terragrunt.hcl", "*.nf", "nextflow.config", "MLproject", "dvc.yaml",
            "pavement.py", "shovel.py", "maskfile.md", "config.ru", "puma.rb", "unicorn.rb", "hatch_build.py",
            "build.boot", "dub.json", "dub.sdl", "Setup.hs", "Setup.lhs", "plopfile.*", "meson.options",
            "meson_options.txt",
        ],
    ),
    (
        BuildFile,
        "a container's recipe, whose commands run when it is built or started",
        &[
            "Dockerfile", "Dockerfile.*", "*.dockerfile", "Containerfile", "compose*.yml", "compose*.yaml",
            "docker-compose*.yml", "docker-compose*.yaml", "podman-compose*.yml", "podman-compose*.yaml",
            "docker-bake.*", "devcontainer.json", "*.containerfile", "Containerfile.*",
        ],
    ),
    (
        BuildFile,
        "a configuration that is code, which a test or build tool loads",
        &[
            "conftest.py", "pytest.ini", "mypy.ini", "psalm.xml", "phpstan.neon", "ansible.cfg", "nodemon.json",
            "bacon.toml", "Guardfile", "noxfile.py", "tox.ini", "*.config.js", "*.config.cjs", "*.config.mjs",
            "*.config.ts", "*.config.cts", "*.config.mts", "*.config.jsx", "*.config.tsx", "*.config.py",
            "*.config.lua", "*.config.rb", "*.conf.js", "*.conf.py", "*.conf.lua", "gulpfile.*", "Gruntfile.*",
            "codecept.conf.*", "nightwatch.conf.*", "webpack.*.js", "jest.setup.*", "vitest.workspace.*",
            "vitest.setup.*", "cypress.json", "cypress/support/**", "cypress/plugins/**", "setupTests.*",
            "spec_helper.rb", "rails_helper.rb", "test_helper.rb", "test_helper.exs",
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
    [".git/**", ".bare/**"].contains(&&*entry.pattern)
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
