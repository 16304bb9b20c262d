use std::io;
use std::io::ErrorKind::PermissionDenied;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::process::geteuid;
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
    fs::write(root.join("README.md"), "").unwrap();
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
        ("through-near", "near".into(), false),
        ("target/t", "../README.md".into(), false),
        ("through-built", "target/t".into(), true),
        ("twice", "near-built".into(), true),
        ("near-built", "target/t".into(), true),
        ("by-other", other.join("back"), true),
        ("shell", "/bin/sh".into(), false),
        ("round", "round".into(), false),
        ("target/out", home.join(".bashrc"), false),
    ];
    for (name, target, _) in &links {
        std::os::unix::fs::symlink(target, root.join(name)).unwrap();
    }
    std::os::unix::fs::symlink(root.join("README.md"), other.join("back")).unwrap();
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

/// Makes a folder that git takes for a repository.
fn put_repository(folder: &Path) {
    for name in ["objects/ab", "refs/heads"] {
        fs::create_dir_all(folder.join(name)).unwrap();
    }
    fs::write(folder.join("HEAD"), "ref: refs/heads/main\n").unwrap();
    fs::write(folder.join("config"), "").unwrap();
}

#[test]
fn a_folder_of_git_with_another_name_is_kept_as_a_whole_unless_it_has_checkouts() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    for name in ["sub/meta", "with", "target/x"] {
        put_repository(&root.join(name));
    }
    fs::create_dir(root.join("with/main")).unwrap();
    fs::write(root.join("with/main/.git"), "gitdir: ../worktrees/main\n").unwrap();
    fs::write(root.join("with/main/config"), "").unwrap();
    let look = Look {
        is_kept: true,
        ..look_at(&root)
    };
    let found = look.find().unwrap();
    let kept: Vec<String> = found
        .paths()
        .iter()
        .map(|path| look.relative(path))
        .collect();
    let inner = Look {
        trees: vec![Tree {
            path: "sub/meta/info".to_owned(),
            is_tree: true,
        }],
        ..look_at(&root)
    };
    let info = root.join("sub/meta/info");
    fs::create_dir(&info).unwrap();
    assert!(inner.find().unwrap().found.contains_key(&info));
    let with =
        ["HEAD", "config", "main/.git", "objects", "refs"].map(|name| format!("with/{name}"));
    assert_eq!(kept, [&["sub/meta".to_owned()], &with[..]].concat());
    assert_eq!(
        look.note(&root.join("sub/meta"), &found),
        look.note(&root.join("with/objects"), &found)
    );
}

#[test]
fn the_parts_of_a_folder_of_git_with_another_name_are_judged_as_those_of_git() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    fs::create_dir(root.join("main")).unwrap();
    fs::write(root.join("main/.git"), "gitdir: ../worktrees/main\n").unwrap();
    for repository in ["", "meta", "a/store.git", "target/store"] {
        let repository = root.join(repository);
        put_repository(&repository);
        let look = look_at(&root);
        let before = look.find_with_content().unwrap();
        let planted = [
            ("rebase-merge/git-rebase-todo", "pick x\nexec evil\n"),
            ("sequencer/opts", "x"),
            ("info/attributes", "* filter=x\n"),
        ];
        for (path, text) in planted.iter().chain(&[("refs/heads/x", ""), ("index", "")]) {
            fs::create_dir_all(repository.join(path).parent().unwrap()).unwrap();
            fs::write(repository.join(path), text).unwrap();
        }
        fs::create_dir_all(root.join("main/rebase-merge")).unwrap();
        fs::write(
            root.join("main/rebase-merge/git-rebase-todo"),
            "exec mine\n",
        )
        .unwrap();
        let now = look.find_with_content().unwrap();
        let mut paths = planted.map(|(path, _)| repository.join(path));
        paths.sort();
        let found = now.planted_since(&before, &look);
        // Of a root, each part counts for itself.
        let is_found = found
            .iter()
            .zip(&paths)
            .all(|(found, path)| path.starts_with(found));
        assert!(is_found && found.len() == paths.len(), "{found:?}");
        for path in paths {
            fs::remove_dir_all(path.parent().unwrap()).unwrap();
        }
    }
}

#[test]
fn a_folder_that_looks_like_one_of_git_hides_nothing_that_other_programs_run() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let look = look_at(&root);
    for name in ["", "sub", ".sub"] {
        let place = root.join(name);
        let before = look.find_with_content().unwrap();
        put_repository(&place);
        fs::write(place.join("config"), "[core]\n\tbare = true\n").unwrap();
        let names = ["AGENTS.md", ".envrc", ".vscode/tasks.json", ".unheard-of"];
        for file in names {
            fs::create_dir_all(place.join(file).parent().unwrap()).unwrap();
            fs::write(place.join(file), "").unwrap();
        }
        let now = look.find_with_content().unwrap();
        let planted = now.planted_since(&before, &look);
        let is_planted = |file: &&str| {
            planted
                .iter()
                .any(|path| place.join(file).starts_with(path))
        };
        assert!(names.iter().all(is_planted), "{name}: {planted:?}");
    }
}

#[test]
fn a_look_ends_with_an_error_where_a_program_of_this_user_could_open_what_it_cannot() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let check = |folder: &Path, kind: io::ErrorKind| {
        let open = OpenFolder::open(folder).unwrap();
        check_missed(&open, &kind.into(), folder, &root).is_ok()
    };
    assert!(!check(&root, PermissionDenied) && check(&root, NotFound));
    // Root owns the top of the tree, and is no other user to itself.
    assert_eq!(
        check(Path::new("/"), PermissionDenied),
        !geteuid().is_root()
    );
}
