use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Crib;

/// Has the features of dependencies that only tests and examples of the checkout turn on. One that is missing here costs time alone.
const FEATURES: &str = r#"
[package]
name = "features"
edition = "2024"

[dependencies]
chrono = { version = "0.4", default-features = false, features = ["clock", "now", "serde"] }
clap = "4"
futures-task = "0.3"
getrandom = { version = "0.4", features = ["std", "sys_rng"] }
hyper-util = { version = "0.1", default-features = false, features = ["server", "service"] }
indexmap = { version = "2", features = ["serde"] }
rmcp = { version = "3", default-features = false, features = ["auth", "macros", "transport-streamable-http-client-reqwest"] }
schemars = { version = "1", features = ["chrono04"] }
serde_core = { version = "1", features = ["rc", "result"] }
tempfile = "3"
tokio = { version = "1", features = ["macros", "test-util"] }
tower = { version = "0.5", default-features = false, features = ["make"] }
typenum = { version = "1", features = ["const-generics"] }
url = { version = "2", features = ["serde"] }
zerocopy = { version = "0.8", features = ["derive"] }
"#;

#[test]
fn a_new_workspace_has_a_tool_crate_a_program_and_a_test() {
    let crib = Crib::new();
    let created = crib.run(&["new", "my-bot"]).expect(0).stdout;
    assert!(
        created.contains("not published") && created.contains("toolcrib new my-bot --path DIR"),
        "{created}"
    );
    let other = crib
        .run(&["new", "other-bot", "--path", checkout().to_str().unwrap()])
        .expect(0)
        .stdout;
    assert!(
        other.contains("cargo run -- list") && !other.contains("--path"),
        "{other}"
    );
    let read = |file: &str| std::fs::read_to_string(crib.root().join("my-bot").join(file)).unwrap();
    assert!(read("Cargo.toml").contains("toolcrib-testkit = { version = "));
    assert!(read("program/src/main.rs").contains("use my_bot_tools as _;"));
    assert!(read("tools/tests/tools.rs").contains("use my_bot_tools::register;"));
    for file in [
        "Cargo.toml",
        "README.md",
        "program/Cargo.toml",
        "tools/Cargo.toml",
        "tools/src/lib.rs",
    ] {
        assert!(!read(file).contains('@'), "{file}");
    }
}

#[test]
fn a_new_package_has_tools_an_agent_and_a_test() {
    let crib = Crib::new();
    let created = crib
        .run(&[
            "new",
            "my-agent",
            "--lib",
            "--path",
            checkout().to_str().unwrap(),
        ])
        .expect(0)
        .stdout;
    assert!(created.contains("cargo run`"), "{created}");
    let read = |file: &str| fs::read_to_string(crib.root().join("my-agent").join(file)).unwrap();
    let manifest: toml::Table = toml::from_str(&read("Cargo.toml")).unwrap();
    let dependencies = manifest["dependencies"].as_table().unwrap();
    let of_toolcrib = dependencies.keys().filter(|name| name.contains("toolcrib"));
    assert!(of_toolcrib.eq(["toolcrib-agent", "toolcrib-tools"]));
    for file in [
        "Cargo.toml",
        "README.md",
        "src/count.rs",
        "src/lib.rs",
        "src/main.rs",
        "tests/tools.rs",
    ] {
        assert!(!read(file).contains('@'), "{file}");
    }
}

#[test]
fn a_new_workspace_and_a_new_package_have_the_profile_of_dependencies_and_the_versions_of_the_checkout()
 {
    let crib = Crib::new();
    let checkout = checkout();
    let profile = |folder: &Path| {
        let manifest = fs::read_to_string(folder.join("Cargo.toml")).unwrap();
        let manifest: toml::Table = toml::from_str(&manifest).unwrap();
        let mut profile = manifest["profile"]["dev"]["package"]["*"].clone();
        // Only in the workspace of its own, where the packages of Toolcrib are dependencies.
        profile.as_table_mut().unwrap().remove("incremental");
        profile
    };
    let lock = |folder: &Path| fs::read_to_string(folder.join("Cargo.lock")).unwrap();
    let expected = profile(&checkout);
    for (name, flags) in [("my-bot", &[][..]), ("my-agent", &["--lib"])] {
        let path = ["new", name, "--path", checkout.to_str().unwrap()];
        crib.run(&[&path[..], flags].concat()).expect(0);
        let folder = crib.root().join(name);
        assert_eq!(profile(&folder), expected, "{name}");
        assert_eq!(lock(&folder), lock(&checkout), "{name}");
    }
}

#[test]
fn a_new_workspace_names_the_features_that_there_are() {
    let crib = Crib::new();
    crib.run(&["new", "my-bot"]).expect(0);
    let manifest = fs::read_to_string(crib.root().join("my-bot/Cargo.toml")).unwrap();
    let (comment, _) = manifest.split_once("\ntoolcrib = ").unwrap();
    let named: BTreeSet<_> = comment.split('`').skip(1).step_by(2).collect();
    let own: toml::Table = toml::from_str(include_str!("../../Cargo.toml")).unwrap();
    let features = own["features"].as_table().unwrap();
    assert_eq!(named, features.keys().map(String::as_str).collect());
}

#[test]
fn nothing_is_overwritten_and_a_bad_name_is_refused() {
    let crib = Crib::new();
    assert!(crib.run(&["new", "sub"]).expect(2).stderr.contains("sub"));
    for name in ["", "My-Bot", "1st", "a/b", "..", "bot-"] {
        crib.run(&["new", name]).expect(2);
    }
    let taken = crib.run(&["new", "tokio"]).expect(2).stderr;
    assert!(taken.contains("choose another"), "{taken}");
    assert!(
        crib.run(&["new", "bot", "--path", "sub"])
            .expect(2)
            .stderr
            .contains("--path")
    );
    assert!(!crib.root().join("bot").exists());
}

#[test]
#[ignore = "builds a workspace of its own: cargo test -p toolcrib --test it -- --ignored a_new_workspace_compiles"]
fn a_new_workspace_compiles_passes_its_tests_and_runs() {
    let workspace = NewWorkspace::new(&[]);
    // With the features and the profile of the checkout, its build of the dependencies is used again.
    add_features(&workspace.folder());
    workspace.cargo(&["test", "--workspace"]);
    assert!(
        workspace
            .cargo(&["run", "--", "list"])
            .contains("text.count")
    );
    let answer = workspace.cargo(&[
        "run",
        "--",
        "run",
        "--provider",
        "direct",
        "text.count text='to be or not'",
    ]);
    assert_eq!(answer.trim(), "4");
    workspace.assert_versions();
}

#[test]
#[ignore = "builds a package of its own: cargo test -p toolcrib --test it -- --ignored a_new_workspace_compiles"]
fn a_new_workspace_compiles_that_is_a_package() {
    let package = NewWorkspace::new(&["--lib"]);
    add_features(&package.folder());
    package.cargo(&["test"]);
    let answer = package.cargo(&["run"]);
    assert!(
        answer.contains("= the lamp of the kitchen is On")
            && answer.contains("lamp:write:hall")
            && answer.ends_with("There is light in the kitchen.\n"),
        "{answer}"
    );
    package.assert_versions();
}

#[test]
#[ignore = "builds all dependencies: cargo test -p toolcrib --test it -- --ignored a_new_crate_declares_its_features"]
fn a_new_crate_declares_its_features() {
    // The program is one line that uses the library `toolcrib`.
    NewWorkspace::new(&[]).cargo(&["check", "--package", "my-bot-tools", "--tests"]);
}

struct NewWorkspace(Crib);

impl NewWorkspace {
    fn new(flags: &[&str]) -> Self {
        let workspace = Self(Crib::new());
        let checkout = checkout();
        let path = ["new", "my-bot", "--path", checkout.to_str().unwrap()];
        workspace.0.run(&[&path[..], flags].concat()).expect(0);
        workspace
    }

    /// Asserts that the build took only versions of the checkout.
    fn assert_versions(&self) {
        let versions = |folder: &Path| -> BTreeSet<_> {
            let lock = fs::read_to_string(folder.join("Cargo.lock")).unwrap();
            let lock: toml::Table = toml::from_str(&lock).unwrap();
            let packages = lock["package"].as_array().unwrap().iter();
            let text = |value: &toml::Value| value.as_str().unwrap().to_owned();
            packages
                .map(|package| (text(&package["name"]), text(&package["version"])))
                .filter(|(name, _)| !name.starts_with("my-bot") && name != "features")
                .collect()
        };
        let built = versions(&self.folder());
        let others: Vec<_> = built.difference(&versions(&checkout())).cloned().collect();
        assert!(others.is_empty(), "{others:?}");
    }

    fn folder(&self) -> PathBuf {
        self.0.root().join("my-bot")
    }

    /// Runs cargo, which uses what the checkout has built, and returns its output.
    fn cargo(&self, arguments: &[&str]) -> String {
        let mut command = Command::new(env!("CARGO"));
        command
            .args(arguments)
            .current_dir(self.folder())
            .env("CARGO_TARGET_DIR", checkout().join("target"));
        // .ci/run checks the crates of the checkout elsewhere.
        command.env_remove("RUSTC_WRAPPER");
        let output = command.output().unwrap();
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }
}

fn checkout() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Adds a member that turns on the features which the tests of the checkout turn on, and the checkout's profile.
fn add_features(workspace: &Path) {
    fs::create_dir_all(workspace.join("features/src")).unwrap();
    fs::write(workspace.join("features/src/lib.rs"), "").unwrap();
    fs::write(workspace.join("features/Cargo.toml"), FEATURES).unwrap();
    let root = fs::read_to_string(workspace.join("Cargo.toml")).unwrap();
    let own = &root[..root.find("[profile.dev]").unwrap()];
    let own = if own.contains("[workspace]") {
        own.replacen("members = [", "members = [\"features\", ", 1)
    } else {
        format!("{own}[workspace]\nmembers = [\"features\"]\nresolver = \"3\"\n")
    };
    let manifest = fs::read_to_string(checkout().join("Cargo.toml")).unwrap();
    let profile = &manifest
        [manifest.find("[profile.dev]").unwrap()..manifest.find("[profile.release]").unwrap()];
    fs::write(workspace.join("Cargo.toml"), own + profile).unwrap();
}
