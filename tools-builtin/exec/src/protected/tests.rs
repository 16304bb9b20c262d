use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use tools::policy::SensitivePaths;

use super::*;

#[test]
fn a_workspace_with_too_many_entries_or_too_deep_ones_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("AGENTS.md"), "").unwrap();
    fs::write(folder.path().join("file"), "").unwrap();
    let look = look_at(folder.path());
    assert_eq!(look.find_among(3, None).unwrap().found.len(), 1);
    assert!(
        look.find_among(2, None)
            .unwrap_err()
            .to_string()
            .contains("narrow the grant")
    );
    for (depth, is_fine) in [(MAX_DEPTH, true), (MAX_DEPTH + 1, false)] {
        fs::create_dir_all(folder.path().join(vec!["d"; depth].join("/"))).unwrap();
        assert_eq!(look.find().is_ok(), is_fine, "{depth}");
    }
}

/// Returns a look at all of a root.
fn look_at(root: &Path) -> Look {
    Look {
        judge: Judge::strict(SensitivePaths::default()),
        root: root.to_owned(),
        trees: vec![Tree {
            path: ".".to_owned(),
            is_tree: true,
        }],
        is_kept: false,
        skipped: Vec::new(),
        may_redirect: false,
    }
}

#[test]
fn a_link_that_takes_the_place_of_a_folder_meanwhile_shows_nothing_of_its_target() {
    const SECRET: &str = "a secret";
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("root");
    let outside = root.with_file_name("outside");
    for (above, text) in [(root.join("d"), "mine"), (outside.clone(), SECRET)] {
        fs::create_dir_all(above.join("sub")).unwrap();
        fs::write(above.join("AGENTS.md"), text).unwrap();
        fs::write(above.join("sub/.envrc"), text).unwrap();
    }
    fs::write(outside.join("sub/.bashrc"), SECRET).unwrap();
    std::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
    let is_secret = |found: &Found| {
        let former = found.former.as_ref();
        former.is_some_and(|former| former.text() == Some(SECRET))
    };
    let look = look_at(&root);
    let is_over = AtomicBool::new(false);
    let found = thread::scope(|scope| {
        scope.spawn(|| {
            while !is_over.load(Ordering::Relaxed) {
                let (link, d) = (root.join("link"), root.join("d"));
                renameat_with(CWD, link, CWD, d, RenameFlags::EXCHANGE).unwrap();
            }
        });
        let mut looks = (0..3_000).map(|_| look.find_with_content().unwrap().found);
        let outside = looks.find(|found| found.values().any(is_secret));
        is_over.store(true, Ordering::Relaxed);
        outside
    });
    assert!(found.is_none(), "{found:?}");
}

#[test]
fn a_link_through_which_commands_would_write_elsewhere_counts() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap().join("root");
    fs::create_dir_all(root.join("target")).unwrap();
    let other = root.with_file_name("other");
    fs::create_dir_all(other.join(".git/hooks")).unwrap();
    let home = host::folders::home().unwrap().canonicalize().unwrap();
    let links = [
        ("answer.md", home.join(".bashrc"), true),
        ("sub", home.join(".config/fish"), true),
        ("cache", home.join(".cache/tool/x"), false),
        ("later", home.join(".cache/none/../../.bashrc"), true),
        ("elsewhere", "/usr/share/doc".into(), false),
        ("nothing", "/dev/null".into(), false),
        ("other", other.join(".git/hooks/pre-commit"), true),
        ("missing", other.join("none/x"), true),
        ("by-folder", "none/../README.md".into(), true),
        ("by-process", "/proc/self/cwd/README.md".into(), true),
        ("logs", "target/logs".into(), true),
        ("built", "target".into(), true),
        ("up", "../root/README.md".into(), false),
        ("log", ".envrc".into(), true),
        ("hook", ".git/hooks/pre-push".into(), true),
        ("near", "README.md".into(), false),
        ("target/out", home.join(".bashrc"), false),
    ];
    for (name, target, _) in &links {
        std::os::unix::fs::symlink(target, root.join(name)).unwrap();
    }
    let look = look_at(&root);
    let now = look.find().unwrap();
    let planted = now.planted_since(&Protected::default(), &look);
    for (name, _, counts) in links {
        assert_eq!(planted.contains(&&*root.join(name)), counts, "{name}");
    }
    // A link that was there is none of the program's, unless it leads elsewhere now.
    let same = look.find().unwrap();
    assert_eq!(same.planted_since(&now, &look), [] as [&Path; 0]);
    fs::remove_file(root.join("log")).unwrap();
    std::os::unix::fs::symlink(".vscode/tasks.json", root.join("log")).unwrap();
    let changed = look.find().unwrap();
    assert_eq!(changed.planted_since(&now, &look), [root.join("log")]);
}
