use proptest::prelude::*;
use proptest::sample::select;
use protocol::{Clause, ToolName};

use super::*;

const TOOL: &str = "fs.write";

fn sensitivity(path: &str) -> Option<Sensitivity> {
    SensitivePaths::default()
        .find(path)
        .map(|path| path.sensitivity)
}

/// Returns true if a grant of these layers needs no approval for the target.
fn is_open(layers: &[&[&str]], target: &str) -> bool {
    let layers = layers.iter().map(|layer| Grant::parse(*layer).unwrap());
    let grant = layers.reduce(|all, layer| all.intersect(&layer)).unwrap();
    let target = target.parse().unwrap();
    assert!(grant.permits(&target), "{grant} {target}");
    SensitivePaths::default()
        .needing_approval(&grant, None, &target)
        .next()
        .is_none()
}

#[test]
fn paths_match_at_any_depth_whatever_their_case_and_so_do_the_directories_on_the_way() {
    for path in [
        ".git/config",
        ".GIT/Config",
        "a/b/.git/hooks/pre-commit",
        ".git",
        "sub/.git",
        ".github",
        "x/.github/workflows",
        ".github/workflows/ci.yml",
        ".config",
        "home/.config/autostart/x.desktop",
        "agents.md",
        ".envrc",
        "web.code-workspace",
        "bare/HEAD",
        ".bare/config",
        ".helix/languages.toml",
        "lefthook-local.yml",
        ".lefthook-local.toml",
        "mise.local.toml",
        ".config/mise/config.toml",
        "opencode.jsonc",
        ".crush.json",
        ".pnpmfile.mjs",
        ".rvmrc",
    ] {
        assert_eq!(sensitivity(path), Some(Sensitivity::RunsByItself), "{path}");
    }
    for path in [
        "build.rs",
        "crates/a/Cargo.toml",
        "MAKEFILE",
        "docker-compose.dev.yml",
        "a.gradle",
        ".gitattributes",
    ] {
        assert_eq!(sensitivity(path), Some(Sensitivity::BuildFile), "{path}");
    }
    for path in [
        "toolcrib.toml",
        "deep/er/Toolcrib.TOML",
        ".git/toolcrib.toml",
    ] {
        assert_eq!(sensitivity(path), Some(Sensitivity::Settings), "{path}");
    }
    for path in [
        ".",
        "src/main.rs",
        "git/config",
        "a/config",
        "é/x",
        ".gitignore",
        "a/.GITIGNORE",
        ".cache/x",
    ] {
        assert_eq!(sensitivity(path), None, "{path}");
    }
}

#[test]
fn no_name_with_a_dot_is_harmless_directly_in_a_home() {
    for (home, below) in [(".", ""), ("users/me", "users/me/")] {
        let paths = SensitivePaths::default().with_home(home);
        for path in [".cache", ".cache/a/b", ".gradle/caches/x", ".venv/bin/x"] {
            let found = paths.find(&format!("{below}{path}"));
            let sensitivity = found.map(|path| path.sensitivity);
            assert_eq!(sensitivity, Some(Sensitivity::DotFile), "{home} {path}");
        }
        for path in ["a", "a/.cache/b", "a/.gitignore"] {
            assert_eq!(paths.find(&format!("{below}{path}")), None, "{home} {path}");
        }
        let cargo = paths.find(&format!("{below}.cargo/config.toml")).unwrap();
        assert_eq!(cargo.sensitivity, Sensitivity::RunsByItself);
    }
}

#[test]
fn a_name_with_a_dot_that_is_neither_in_the_table_nor_harmless_counts_at_any_depth() {
    for path in [
        ".gitx/config",
        ".github/CODEOWNERS",
        ".cargox",
        ".env",
        "a/.unheard-of",
        ".unheard-of/Makefile",
        ".foo/a/b",
        ".cache/.foo",
        "a.b/.é",
        "...",
        ".config/unheard-of/x",
        ".gitignore/.x",
    ] {
        assert_eq!(sensitivity(path), Some(Sensitivity::DotFile), "{path}");
    }
    let paths = SensitivePaths::default();
    assert!(
        paths
            .paths()
            .iter()
            .all(|entry| entry.sensitivity != Sensitivity::DotFile)
    );
    let entry = paths.find("sub/.foo/x").unwrap();
    assert_eq!(entry.describe("sub/.foo/x"), entry.note);
    // A host's entry covers its own names.
    let own = SensitivePath::new(".foo/*.txt", Sensitivity::BuildFile, "a text of theirs").unwrap();
    let paths = paths.with_paths([own]);
    for (path, expected) in [
        (".foo/a.txt", Sensitivity::BuildFile),
        (".foo/a", Sensitivity::DotFile),
        (".foo/a.txt/.x", Sensitivity::DotFile),
    ] {
        assert_eq!(paths.find(path).unwrap().sensitivity, expected, "{path}");
    }
}

#[test]
fn of_dot_files_that_match_the_one_nearest_to_the_root_holds() {
    let own = SensitivePath::new("data/**", Sensitivity::DotFile, "theirs").unwrap();
    let paths = SensitivePaths::default().with_paths([own]);
    for (path, is_own) in [(".a/data/.b", false), ("data/.b", true), ("x/data/y", true)] {
        assert_eq!(paths.find(path).unwrap().note == "theirs", is_own, "{path}");
    }
}

#[test]
fn a_dot_file_is_named_by_a_clause_that_contains_each_unknown_name_with_a_dot() {
    for (clause, target) in [
        ("fs:write:.foo", "fs:write:.foo"),
        ("fs:write:**/.foo/**", "fs:write:a/.foo/b"),
        ("fs:write:.FOO/*", "fs:write:.FOO/b"),
        ("*:*:.foo/.bar/**", "fs:write:.foo/.bar/x"),
        ("fs:write:.foo/**", "fs:write:.foo/.gitignore"),
        ("fs:write:.git/**", "fs:write:.git/.foo"),
        ("fs:write:**", "fs:write:.gitignore"),
    ] {
        assert!(is_open(&[&[clause]], target), "{clause} {target}");
    }
    for (clause, target) in [
        ("fs:write:**", "fs:write:.foo"),
        ("fs:write:.*", "fs:write:.foo"),
        ("fs:write:.fo?/**", "fs:write:.foo/b"),
        ("fs:write:a/**", "fs:write:a/.foo"),
        ("fs:write:.foo/**", "fs:write:.foo/.bar/x"),
        ("fs:write:{.foo,.bar}/**", "fs:write:.foo/x"),
    ] {
        assert!(!is_open(&[&[clause]], target), "{clause} {target}");
        assert!(
            is_open(
                &[&[
                    clause,
                    &target.parse::<Target>().unwrap().to_clause().to_string()
                ]],
                target
            ),
            "{target}"
        );
        assert!(
            !is_open(&[&[clause], &["fs:write:**"]], target),
            "{clause} {target}"
        );
    }
    assert!(
        is_open(&[&["fs:*:**"]], "fs:destroy:.foo") && is_open(&[&["fs:*:**"]], "fs:read:.foo")
    );
}

#[test]
fn files_of_many_programs_that_load_code_are_in_the_table() {
    for path in [
        ".dir-locals-2.el",
        ".lvimrc",
        "web.sublime-project",
        ".venv/bin/activate",
        "venv/bin/activate.fish",
        ".venv/Scripts/Activate.ps1",
        ".pnp.cjs",
        ".pnp.loader.mjs",
        ".prettierrc.js",
        ".lintstagedrc",
        ".lintstagedrc.js",
        ".pylintrc",
        ".rubocop.yml",
        ".ghci",
        ".iex.exs",
        ".docker/config.json",
        ".tekton/build.yaml",
        "AGENT.md",
        ".github/chatmodes/a.md",
        "rust-project.json",
        ".sqlfluff",
        ".busted",
        ".luacheckrc",
        ".credo.exs",
        ".formatter.exs",
        ".solargraph.yml",
        ".rspec",
        ".mocharc.json",
        ".nycrc",
        ".babelrc",
        ".swcrc",
        ".stylelintrc.json",
        ".commitlintrc.js",
        ".czrc",
        ".releaserc",
        ".huskyrc.json",
        ".perldb",
        ".pryrc",
        ".replit",
        ".wezterm.lua",
        ".tmux.conf",
        ".screenrc",
        ".inputrc",
        ".netrc",
        ".curlrc",
        ".wgetrc",
        ".ripgreprc",
        "GNUmakefile",
        "sub/compose.override.yml",
        "local.auto.tfvars",
    ] {
        assert_eq!(sensitivity(path), Some(Sensitivity::RunsByItself), "{path}");
    }
    for path in [
        "compose.dev.yml",
        "gunicorn.conf.py",
        ".justfile",
        "a/vite.config.mts",
        "tsconfig.build.json",
    ] {
        assert_eq!(sensitivity(path), Some(Sensitivity::BuildFile), "{path}");
    }
}

#[test]
fn an_entry_covers_its_matches_and_the_way_to_them_and_says_which_a_path_is() {
    let entry = SensitivePath::new("deploy/**", Sensitivity::RunsByItself, "a deployment").unwrap();
    for (path, covered) in [
        ("deploy/web.yaml", true),
        ("sub/deploy", true),
        ("sub", false),
        ("deployed/x", false),
    ] {
        assert_eq!(entry.covers(path), covered, "{path}");
    }
    let workflows =
        SensitivePath::new(".github/workflows/**", Sensitivity::RunsByItself, "a job").unwrap();
    for path in [".github/workflows/ci.yml", ".github/workflows"] {
        assert_eq!(workflows.describe(path), "a job", "{path}");
    }
    let on_the_way = workflows.describe(".github");
    assert!(
        on_the_way.contains("a job") && on_the_way.contains(&workflows.pattern),
        "{on_the_way}"
    );
}

#[test]
fn each_entry_that_matches_is_named_by_itself() {
    for (grant, target) in [
        ("fs:write:.vscode/**", "fs:write:.vscode/.git/config"),
        ("fs:write:.agents/**", "fs:write:.agents/.envrc"),
        ("fs:write:**/.cargo/**", "fs:write:.cargo/x/AGENTS.md"),
    ] {
        assert!(!is_open(&[&[grant]], target), "{grant} {target}");
        assert!(
            is_open(
                &[&[
                    grant,
                    &target.parse::<Target>().unwrap().to_clause().to_string()
                ]],
                target
            ),
            "{target}"
        );
    }
    let deep = SensitivePath::new("/src/deep/*.sh", Sensitivity::RunsByItself, "theirs").unwrap();
    let deep = SensitivePaths::default().with_paths([deep]);
    let target: Target = "fs:write:src/deep/a.sh".parse().unwrap();
    for (clause, is_named) in [
        ("fs:write:src/**", false),
        ("fs:write:**/deep/*", false),
        ("fs:write:src/deep/**", true),
    ] {
        let grant = Grant::parse([clause]).unwrap();
        let is_open = deep
            .needing_approval(&grant, None, &target)
            .next()
            .is_none();
        assert_eq!(is_open, is_named, "{clause}");
    }
    let own = SensitivePath::new("/src/**", Sensitivity::RunsByItself, "theirs").unwrap();
    let (paths, grant) = (
        SensitivePaths::default().with_paths([own]),
        Grant::parse(["fs:write:src/**"]).unwrap(),
    );
    let is_open = |path: &str| {
        let target = Target::new(Access::Write, "fs", path).unwrap();
        paths
            .needing_approval(&grant, None, &target)
            .next()
            .is_none()
    };
    assert!(is_open("src/lib.rs") && !is_open("src/.envrc"));
}

#[test]
fn a_named_folder_of_git_covers_each_head_in_it_and_no_other_entry() {
    for path in [
        ".git/HEAD",
        ".git/logs/HEAD",
        ".git/refs/remotes/origin/HEAD",
        ".git/modules/a/HEAD",
    ] {
        let path = format!("fs:write:{path}");
        assert!(is_open(&[&["fs:write:.git/**"]], &path), "{path}");
        for clause in ["fs:write:**", "fs:write:**/HEAD", "fs:write:.g*/**"] {
            assert!(!is_open(&[&[clause]], &path), "{clause} {path}");
        }
    }
    assert!(is_open(&[&["fs:write:.bare/**"]], "fs:write:.bare/HEAD"));
    assert!(
        is_open(&[&["fs:write:.git/**"]], "fs:write:.git/refs/heads/.x"),
        "dot files in it are its own"
    );
    for path in ["fs:write:HEAD", "fs:write:bare/HEAD"] {
        assert!(
            !is_open(&[&["fs:write:**", "fs:write:.git/**"]], path),
            "{path}"
        );
        assert!(is_open(&[&["fs:write:**/HEAD"]], path), "{path}");
    }
    for (folder, path) in [
        (".git", ".git/x/.gitconfig"),
        (".claude", ".claude/worktrees/x/CLAUDE.md"),
        (".direnv", ".direnv/x/.envrc"),
        (".cargo", ".cargo/registry/rust-toolchain.toml"),
        (".githooks", ".githooks/HEAD"),
    ] {
        let (clause, target) = (format!("fs:write:{folder}/**"), format!("fs:write:{path}"));
        assert!(!is_open(&[&[&clause]], &target), "{target}");
    }
    // The entries of a host stay as they are, whatever their notes.
    let note = SensitivePaths::default().find("HEAD").unwrap().note.clone();
    let own = [
        ("deploy/**", Sensitivity::RunsByItself),
        ("key", Sensitivity::RunsByItself),
        ("HEAD", Sensitivity::Settings),
    ];
    let own = own.map(|(pattern, sensitivity)| {
        SensitivePath::new(pattern, sensitivity, note.as_str()).unwrap()
    });
    let grant = Grant::parse(["fs:write:deploy/**", "fs:write:.git/**"]).unwrap();
    let paths = SensitivePaths::default().with_paths(own);
    for (path, pattern) in [("deploy/key", "key"), (".git/HEAD", "HEAD")] {
        let target = Target::new(Access::Write, "fs", path).unwrap();
        let needing: Vec<_> = paths
            .needing_approval(&grant, None, &target)
            .map(|path| path.pattern.as_str())
            .collect();
        assert_eq!(needing, [pattern], "{path}");
    }
}

#[test]
fn the_clauses_that_lift_a_protection_are_those_by_which_writes_need_no_approval() {
    let lifted = |layers: &[&[&str]], rules: &[&str]| {
        let layers = layers.iter().map(|layer| Grant::parse(*layer).unwrap());
        let grant = layers.reduce(|all, layer| all.intersect(&layer)).unwrap();
        let rules = rules
            .iter()
            .map(|rule| crate::policy::Rule::for_target(Verdict::Allow, rule.parse().unwrap()));
        let (policy, tool) = (
            Policy::new().with_rules(rules),
            TOOL.parse::<ToolName>().unwrap(),
        );
        let paths = SensitivePaths::default();
        let clauses = paths.lifted_by(&grant, Some((&policy, (&tool).into())));
        clauses
            .into_iter()
            .map(Clause::to_string)
            .collect::<Vec<_>>()
    };
    for clause in [
        "fs:write:.git/**",
        "fs:*:**/.git/hooks/*",
        "*:*:.git/config",
        "fs:write:**/.envrc",
        "fs:write:a.code-workspace",
    ] {
        assert_eq!(lifted(&[&["fs:write:**", clause]], &[]), [clause]);
        assert_eq!(
            lifted(&[&["fs:write:**"]], &["fs:write:src/**", clause]),
            [clause]
        );
        assert_eq!(
            lifted(&[&[clause], &["fs:write:**"]], &[]),
            [""; 0],
            "each layer has to name it"
        );
    }
    let (ask, other) = (Verdict::Ask, Verdict::Allow);
    let rule = |verdict, tool: &str| {
        let clause = "fs:write:.git/**".parse().unwrap();
        crate::policy::Rule::new(verdict, Some(tool), Some(clause)).unwrap()
    };
    for (rule, count) in [
        (rule(ask, TOOL), 0),
        (rule(other, "fs.edit"), 0),
        (rule(other, TOOL), 1),
    ] {
        let (policy, tool) = (
            Policy::new().with_rules([rule]),
            TOOL.parse::<ToolName>().unwrap(),
        );
        let (paths, grant) = (
            SensitivePaths::default(),
            Grant::parse(["fs:write:**"]).unwrap(),
        );
        assert_eq!(
            paths
                .lifted_by(&grant, Some((&policy, (&tool).into())))
                .len(),
            count
        );
    }
    for clause in [
        "fs:write:**",
        "fs:read:.git/**",
        "net:write:.git/**",
        "fs:write:.g*/**",
        "fs:write:src/main.rs",
        "fs:write:toolcrib.toml",
    ] {
        assert_eq!(lifted(&[&[clause]], &[clause]), [""; 0], "{clause}");
    }
}

#[test]
fn a_slash_at_the_beginning_is_the_root() {
    let paths = SensitivePaths::default();
    let entry = SensitivePath::new("/conf/./a*.toml", Sensitivity::Settings, "theirs").unwrap();
    assert_eq!(entry.pattern, "/conf/a*.toml");
    let paths = paths.with_paths([entry]);
    for (path, expected) in [
        ("conf/a.toml", true),
        ("conf/A1é.toml", true),
        ("conf", true),
        ("x/conf/a.toml", false),
        ("conf/b.toml", false),
        ("conf/a.toml/x", false),
    ] {
        assert_eq!(paths.find(path).is_some(), expected, "{path}");
    }
    for pattern in ["", "/", ".", "..", "../x", "a\\b", "//"] {
        assert!(
            SensitivePath::new(pattern, Sensitivity::Settings, "").is_err(),
            "{pattern:?}"
        );
    }
}

#[test]
fn a_clause_names_what_it_spells_and_no_wildcard_does() {
    for clause in [
        "fs:write:.git/**",
        "fs:write:**/.git/*",
        "*:*:.git/config",
        r"fs:write:\.git/**",
        "fs:write:.git/{config,x}",
    ] {
        assert!(is_open(&[&[clause]], "fs:write:.git/config"), "{clause}");
    }
    for clause in [
        "*:*:**",
        "fs:write:**",
        "fs:write:.*/**",
        "fs:write:.gi[t]/**",
        "fs:write:.gi?/**",
        "fs:write:{.git,src}/**",
        "fs:write:{x/.git/y,.g*}/**",
        "fs:write:{a[}],x/.git/y,.g*}/**",
        "fs:write:**/config",
    ] {
        assert!(!is_open(&[&[clause]], "fs:write:.git/config"), "{clause}");
    }
    assert!(is_open(&[&["fs:write:.GIT/**"]], "fs:write:.GIT/config"));
    assert!(!is_open(
        &[&["fs:write:**", "fs:write:.github/**"]],
        "fs:write:.git/config"
    ));
    assert!(!is_open(
        &[&["fs:write:**", "fs:read:.git/**"]],
        "fs:write:.git/config"
    ));
    // An entry without a literal segment is named only by a clause without wildcards.
    assert!(is_open(
        &[&["fs:write:a/b.code-workspace"]],
        "fs:write:a/b.code-workspace"
    ));
    assert!(!is_open(
        &[&["fs:write:a/*.code-workspace"]],
        "fs:write:a/b.code-workspace"
    ));
}

#[test]
fn every_layer_has_to_name_it() {
    let named = &["fs:write:.git/**"][..];
    for other in [&["*:*:**"][..], &["fs:write:**"], &["fs:*:.*/**"]] {
        assert!(
            !is_open(&[named, other], "fs:write:.git/config"),
            "{other:?}"
        );
        assert!(
            is_open(&[named, &[other, named].concat()], "fs:write:.git/config"),
            "{other:?}"
        );
    }
}

#[test]
fn a_rule_that_allows_has_to_name_it_as_well() {
    let (tool, target) = (TOOL.parse::<ToolName>().unwrap(), ".git/config");
    let target = Target::new(Access::Write, "fs", target).unwrap();
    let grant = Grant::parse(["fs:write:**"]).unwrap();
    for (rule, expected) in [
        ("fs:write:**", false),
        ("fs:write:.git/**", true),
        ("fs:read:.git/**", false),
    ] {
        let rule =
            crate::policy::Rule::for_target(crate::policy::Verdict::Allow, rule.parse().unwrap());
        let policy = Policy::by_effects().with_rules([rule]);
        let is_open = SensitivePaths::default()
            .needing_approval(&grant, Some((&policy, (&tool).into())), &target)
            .next()
            .is_none();
        assert_eq!(is_open, expected, "{policy:?}");
    }
}

#[test]
fn settings_always_ask_and_only_for_them_destroying_does() {
    let spelled = &["fs:*:toolcrib.toml", "fs:*:.git/config", "fs:*:build.rs"][..];
    for (target, expected) in [
        ("fs:read:toolcrib.toml", true),
        ("fs:write:toolcrib.toml", false),
        ("fs:destroy:toolcrib.toml", false),
        ("fs:read:.git/config", true),
        ("fs:write:build.rs", true),
    ] {
        assert_eq!(is_open(&[spelled], target), expected, "{target}");
    }
    assert!(is_open(&[&["fs:destroy:**"]], "fs:destroy:.git/config"));
    assert!(
        is_open(&[&["git:write:**"]], "git:write:.git/config"),
        "another scheme has other paths"
    );
}

#[test]
fn the_table_is_in_normal_form_and_has_no_entry_twice() {
    let paths = SensitivePaths::default();
    for (at, path) in paths.paths().iter().enumerate() {
        let again = SensitivePath::new(&path.pattern, path.sensitivity, &path.note).unwrap();
        assert_eq!(&again, path);
        let is_same = |other: &SensitivePath| other.pattern.eq_ignore_ascii_case(&path.pattern);
        assert!(!paths.paths()[..at].iter().any(is_same), "{path:?}");
        assert!(
            path.note.starts_with("a ") || path.note.starts_with("the "),
            "{path:?}"
        );
    }
}

/// Clauses that name entries, and clauses that do not.
fn clause() -> impl Strategy<Value = String> {
    let patterns = vec![
        "**",
        "*",
        ".*/**",
        ".git/**",
        "**/.git/**",
        "sub/**",
        "**/.envrc",
        "{.git,sub}/**",
        ".git/config",
    ];
    (select(vec!["fs:write", "fs:*", "*:*"]), select(patterns))
        .prop_map(|(head, pattern)| format!("{head}:{pattern}"))
}

fn grant() -> impl Strategy<Value = Grant> {
    let layer = prop::collection::vec(clause(), 1..4);
    prop::collection::vec(layer, 1..4).prop_map(|layers| {
        let layers = layers.into_iter().map(|layer| Grant::parse(layer).unwrap());
        layers.reduce(|all, layer| all.intersect(&layer)).unwrap()
    })
}

/// Paths, sensitive or not.
fn path() -> impl Strategy<Value = String> {
    let name = select(vec![
        ".git",
        "config",
        "sub",
        ".envrc",
        "hooks",
        "x",
        "toolcrib.toml",
        "build.rs",
        "HEAD",
        ".foo",
    ]);
    prop::collection::vec(name, 1..5).prop_map(|names| names.join("/"))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(500) })]

    #[test]
    fn an_intersection_is_open_only_where_both_sides_are(a in grant(), b in grant(), path in path()) {
        let paths = SensitivePaths::default();
        let target = Target::new(Access::Write, "fs", &path).unwrap();
        let is_open = |grant: &Grant| grant.permits(&target) && paths.needing_approval(grant, None, &target).next().is_none();
        prop_assert_eq!(is_open(&a.intersect(&b)), is_open(&a) && is_open(&b));
    }

    #[test]
    fn case_and_depth_hide_nothing(path in path(), upper in any::<u64>(), above in path()) {
        let flipped = path.char_indices().map(|(at, c)| if upper >> (at % 64) & 1 == 1 { c.to_ascii_uppercase() } else { c });
        let flipped: String = flipped.collect();
        prop_assert_eq!(sensitivity(&flipped), sensitivity(&path));
        let deeper = format!("{above}/{path}");
        prop_assert!(sensitivity(&deeper) >= sensitivity(&path));
    }

    #[test]
    fn an_entry_more_makes_nothing_less_sensitive(path in path(), entry in path(), kind in 0_usize..3) {
        let kind = [Sensitivity::RunsByItself, Sensitivity::Settings, Sensitivity::DotFile][kind];
        let paths = SensitivePaths::default().with_paths([SensitivePath::new(entry, kind, "theirs").unwrap()]);
        prop_assert!(paths.find(&path).map(|path| path.sensitivity) >= sensitivity(&path));
    }
}

#[test]
fn entries_hold_below_a_root_that_lies_in_them_or_on_their_way() {
    let all = |root: &str| SensitivePaths::default().below(root);
    let found = |root: &str, path: &str| all(root).find(path).map(|entry| entry.sensitivity);
    for (root, path, sensitivity) in [
        (
            "/p/.github",
            "workflows/ci.yml",
            Some(Sensitivity::RunsByItself),
        ),
        ("/p/.github", "docs/a.md", None),
        ("/p/.github/workflows", "ci.yml", Some(Sensitivity::DotFile)),
        ("/p/.git/hooks", "pre-commit", Some(Sensitivity::DotFile)),
        (
            "/home/me/.local/share",
            "systemd/user/x",
            Some(Sensitivity::RunsByItself),
        ),
        ("/p/.claude/worktrees/x", "src/main.rs", None),
        (
            "/p/.claude/worktrees/x/.vscode",
            "tasks.json",
            Some(Sensitivity::DotFile),
        ),
        ("/", "src/main.rs", None),
    ] {
        assert_eq!(found(root, path), sensitivity, "{root} {path}");
    }
    assert!(all("/p/.vscode").is_in_settings_folder());
    assert!(!all("/p/.github").is_in_settings_folder());
}

#[test]
fn an_entry_of_a_path_itself_precedes_one_of_what_could_be_below_it() {
    let entry = SensitivePath::new("/env", Sensitivity::RunsByItself, "mine").unwrap();
    let paths = SensitivePaths::default().with_paths([entry]);
    assert_eq!(paths.find("env").unwrap().note, "mine");
}
