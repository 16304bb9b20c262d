//! The way of protected files: out of the workspace, and back to it. No link and no folder of a program changes where it leads.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use libtest_mimic::Trial;
use serde_json::json;
use tools::ProtectedFate;
use tools_exec::Aside;
use tools_testkit::TempWorkspace;

use super::room::{SmallDisk, unmount};
use super::{OF_GIT, Place, is_landlock_alone, trials_of};
use crate::setup::ALL;

pub(super) fn mode(path: &Path) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
}

/// Returns all paths below a folder.
fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    entries
        .flat_map(|path| [below(&path), vec![path]].concat())
        .collect()
}

pub(super) fn trials() -> Vec<Trial> {
    let all = [
        trials_of(
            "what_git_obeys_comes_back_however_a_program_takes_it_away",
            |layers| {
                // Programs cannot change permissions there, which git needs.
                if is_landlock_alone(layers) {
                    return;
                }
                let place = Place::new(layers, &[("file", "old")]);
                place.repository(".");
                place.workspace.write(".git/hooks/commit-msg", "check\n");
                let grant = [&ALL[..], &[OF_GIT]].concat();
                for (script, name) in [
                    ("mv .git/hooks .git/h2", ".git/hooks/commit-msg"),
                    ("rm .git/config", ".git/config"),
                    ("rm .git/config; mkdir .git/config", ".git/config"),
                    ("mv .git g", ".git/config"),
                ] {
                    let former = place.workspace.read(name);
                    let (result, _) = place.sh(&grant, script, Some(false));
                    assert_eq!(place.workspace.read(name), former, "{script}: {result}");
                }
            },
        ),
        trials_of(
            "the_patterns_of_a_sparse_checkout_change_only_by_a_clause_that_spells_the_command",
            |layers| {
                // Programs cannot change permissions there, which git needs.
                if is_landlock_alone(layers) {
                    return;
                }
                let place = Place::new(layers, &[("rule", ""), ("big/x", "")]);
                place.repository(".");
                place.git(".", "worktree add -q tree");
                for folder in [".", "tree"] {
                    place.git(folder, "sparse-checkout set --no-cone /* !/big/");
                }
                let files = [
                    ".git/info/sparse-checkout",
                    ".git/worktrees/tree/info/sparse-checkout",
                    ".git/worktrees/tree/config.worktree",
                ];
                let contents = || files.map(|file| place.workspace.read(file));
                let before = contents();
                let grant = [&ALL[..], &[OF_GIT]].concat();
                for script in [
                    "for f in .git .git/worktrees/tree; do echo '!/rule' >> $f/info/sparse-checkout; done",
                    "git sparse-checkout add '!/rule'; git -C tree sparse-checkout add '!/rule'",
                    "rm .git/info/sparse-checkout; cd .git/worktrees/tree; git config -f config.worktree filter.x.clean evil",
                ] {
                    let (_, questions) = place.sh(&grant, script, Some(false));
                    assert_eq!(
                        (questions.len(), contents()),
                        (1, before.clone()),
                        "{script}"
                    );
                }
                let call = json!({"program": "git", "args": ["sparse-checkout", "add", "!/rule"]});
                let wide = [&grant[..], &["exec:write:git sparse-checkout **"]].concat();
                let (_, questions) = place.run(&wide, call.clone(), Some(false));
                assert_eq!((questions.len(), contents()), (1, before.clone()));
                let spelled = [&grant[..], &["exec:write:git sparse-checkout add !/rule"]].concat();
                let (result, questions) = place.run(&spelled, call, None);
                assert!(
                    questions.is_empty() && contents()[0] == format!("{}!/rule\n", before[0]),
                    "{questions:?} {result}"
                );
            },
        ),
        trials_of("only_the_user_can_read_what_lies_aside", |layers| {
            let place = Place::new(layers, &[("file", "")]);
            place.sh(&ALL, "echo evil > AGENTS.md", None);
            let all = below(&place.folder.path().join("aside"));
            assert!(
                all.iter().any(|path| path.ends_with("record.json")),
                "{all:?}"
            );
            for path in all.iter().filter(|path| !path.ends_with("0")) {
                assert_eq!(mode(path) & 0o077, 0, "{}", path.display());
            }
        }),
        trials_of(
            "a_large_file_of_the_same_disk_is_moved_without_a_copy",
            |layers| {
                let place = Place::new(layers, &[("file", "")]);
                place.sh(&ALL, "truncate -s 1T .envrc", None);
                let list = place.list();
                assert!(
                    list[0]
                        .place
                        .as_ref()
                        .unwrap()
                        .starts_with(place.folder.path()),
                    "{list:?}"
                );
            },
        ),
        trials_of(
            "what_is_put_back_has_its_folder_again_and_is_as_it_was",
            |layers| {
                let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
                    return;
                };
                let place = Place {
                    folder,
                    ..Place::new(layers, &[("file", "")])
                };
                let script = "mkdir -p new .vscode; echo x > new/AGENTS.md; echo run > .vscode/x; chmod 711 .vscode/x; ln -s ../file .vscode/b";
                place.sh(&ALL, script, None);
                fs::remove_dir_all(place.workspace.join("new")).unwrap();
                place
                    .list()
                    .iter()
                    .for_each(|file| file.put_back().unwrap());
                assert_eq!(place.workspace.read("new/AGENTS.md"), "x\n");
                assert_eq!(
                    fs::read_link(place.workspace.join(".vscode/b")).unwrap(),
                    Path::new("../file")
                );
                // Programs cannot change permissions with Landlock alone.
                if !is_landlock_alone(layers) {
                    assert_eq!(mode(&place.workspace.join(".vscode/x")), 0o711);
                }
            },
        ),
        trials_of(
            "a_changed_file_is_put_back_over_its_former_content_from_another_disk",
            |layers| {
                if layers
                    .confinement()
                    .is_ok_and(|it| it.keeps_protected_paths())
                {
                    return;
                }
                let Ok(folder) = tempfile::tempdir_in("/dev/shm") else {
                    return;
                };
                let place = Place {
                    folder,
                    ..Place::new(layers, &[("AGENTS.md", "old")])
                };
                let (result, questions) = place.sh(&ALL, "echo new > AGENTS.md", Some(true));
                assert!(
                    questions[0].contains("- AGENTS.md (changed)"),
                    "{questions:?}"
                );
                assert_eq!(place.workspace.read("AGENTS.md"), "new\n", "{result}");
                assert!(place.aside().is_empty());
            },
        ),
        trials_of(
            "a_changed_file_that_lies_aside_is_put_back_later_over_its_former_content",
            |layers| {
                if layers
                    .confinement()
                    .is_ok_and(|it| it.keeps_protected_paths())
                {
                    return;
                }
                let place = Place::new(layers, &[("AGENTS.md", "old")]);
                let (result, _) = place.sh(&ALL, "echo new > AGENTS.md", None);
                assert_eq!(place.workspace.read("AGENTS.md"), "old", "{result}");
                place.list()[0].put_back().unwrap();
                assert_eq!(place.workspace.read("AGENTS.md"), "new\n");
            },
        ),
        trials_of(
            "the_folder_of_a_run_is_there_until_all_its_files_are_back",
            |layers| {
                let place = Place::new(layers, &[("file", "")]);
                place.sh(&ALL, "echo > AGENTS.md; echo > CLAUDE.md", None);
                let list = place.list();
                let folder = list[0].place.as_ref().unwrap().parent().unwrap();
                list[0].put_back().unwrap();
                assert_eq!(place.aside(), ["CLAUDE.md"]);
                list[1].put_back().unwrap();
                assert!(!folder.exists() && place.exists("CLAUDE.md"));
            },
        ),
        trials_of("what_lies_aside_is_listed_oldest_first", |layers| {
            let place = Place::new(layers, &[("file", "")]);
            let times = [30, 10, 50, 20, 40];
            for time in times {
                let path = format!("at-{time}/AGENTS.md");
                place.sh(&ALL, &format!("mkdir at-{time}; echo > {path}"), None);
                let list = place.list();
                let new = list.iter().find(|file| file.path == path).unwrap();
                let folder = new.place.as_ref().unwrap().parent().unwrap();
                // As if the program had run then.
                fs::rename(folder, folder.with_file_name(format!("{time}-1-0"))).unwrap();
            }
            let paths: Vec<String> = place.list().into_iter().map(|file| file.path).collect();
            let expected = [10, 20, 30, 40, 50].map(|time| format!("at-{time}/AGENTS.md"));
            assert_eq!(paths, expected);
        }),
        trials_of(
            "a_link_in_the_place_of_a_protected_folder_hides_no_removed_file",
            |layers| {
                if layers
                    .confinement()
                    .is_ok_and(|it| it.keeps_protected_paths())
                {
                    return;
                }
                let place = Place::new(layers, &[(".idea/x", "old")]);
                let (result, _) = place.sh(
                    &ALL,
                    "mv .idea moved; ln -s moved .idea; echo evil > moved/x",
                    None,
                );
                assert_eq!(place.workspace.read(".idea/x"), "old", "{result}");
                assert_eq!(place.aside(), [".idea"]);
            },
        ),
        trials_of(
            "nothing_is_put_back_through_a_link_that_came_later",
            |layers| {
                let outside = TempWorkspace::from_files([("kept", "kept")]);
                let place = Place::new(layers, &[("sub/file", "")]);
                place.sh(&ALL, "echo evil > sub/AGENTS.md", None);
                fs::rename(place.workspace.join("sub"), place.workspace.join("former")).unwrap();
                assert!(!place.list()[0].leads_elsewhere());
                symlink(outside.path(), place.workspace.join("sub")).unwrap();
                assert!(place.list()[0].leads_elsewhere());
                assert!(place.list()[0].put_back().is_err());
                assert!(!outside.contains("AGENTS.md") && place.aside() == ["sub/AGENTS.md"]);
            },
        ),
        trials_of(
            "a_workspace_that_became_a_link_to_where_it_is_now_has_its_files_back",
            |layers| {
                let place = Place::new(layers, &[("file", "")]);
                place.sh(&ALL, "echo hint > AGENTS.md", None);
                let (root, moved) = (place.root(), place.root().with_extension("moved"));
                fs::rename(&root, &moved).unwrap();
                symlink(&moved, &root).unwrap();
                let file = &Aside::new(place.folder.path().join("aside")).list(&root)[0];
                let is_back = !file.leads_elsewhere() && file.put_back().is_ok();
                fs::remove_file(&root).unwrap();
                fs::rename(&moved, &root).unwrap();
                assert!(is_back && place.workspace.read("AGENTS.md") == "hint\n");
            },
        ),
        trials_of(
            "a_folder_for_planted_files_that_became_a_link_has_none",
            |layers| {
                let Some(small) = SmallDisk::new("64k") else {
                    return;
                };
                let place = Place {
                    folder: small.0,
                    ..Place::new(layers, &[("file", "")])
                };
                place.sh(&ALL, "truncate -s 1G .envrc", None);
                let list = place.list();
                assert_eq!(list.len(), 1);
                let (folder, other) = (
                    place.workspace.join("set-aside-by-toolcrib"),
                    place.workspace.join("set-aside-by-others"),
                );
                fs::rename(&folder, &other).unwrap();
                assert!(list[0].put_back().is_err(), "it is not there");
                assert!(!folder.exists(), "no folder is made for it");
                symlink(&other, &folder).unwrap();
                assert!(
                    list[0].put_back().is_err()
                        && place.list().is_empty()
                        && !place.exists(".envrc")
                );
                unmount(place.folder.path());
            },
        ),
        trials_of(
            "copies_leave_half_of_the_room_to_the_state_of_sessions",
            |layers| {
                for script in [
                    "head -c 600000 /dev/zero > .envrc",
                    // The entries count, too.
                    "mkdir .idea; for i in $(seq 200); do : > .idea/$i; done",
                ] {
                    let Some(small) = SmallDisk::new("1m") else {
                        return;
                    };
                    let place = Place {
                        folder: small.0,
                        ..Place::new(layers, &[("file", "")])
                    };
                    place.sh(&ALL, script, None);
                    let list = place.list();
                    assert!(
                        list[0].place.as_ref().unwrap().starts_with(place.root()),
                        "{script}: {list:?}"
                    );
                    unmount(place.folder.path());
                }
                let Some(large) = SmallDisk::new("2g") else {
                    return;
                };
                let place = Place {
                    folder: large.0,
                    ..Place::new(layers, &[("file", "")])
                };
                place.sh(&ALL, "truncate -s 300M .envrc", None);
                assert!(
                    place.list()[0]
                        .place
                        .as_ref()
                        .unwrap()
                        .starts_with(place.root()),
                    "a run has a bound, too"
                );
                unmount(place.folder.path());
            },
        ),
        trials_of("the_smallest_files_have_the_room", |layers| {
            let Some(small) = SmallDisk::new("64k") else {
                return;
            };
            let place = Place {
                folder: small.0,
                ..Place::new(layers, &[("file", "")])
            };
            place.sh(&ALL, "for i in $(seq 30); do mkdir -p d/$i; echo 123456789 > d/$i/AGENTS.md; done; mkdir z; printf 1 > z/AGENTS.md", None);
            let list = place.list();
            let last = list.iter().find(|file| file.path == "z/AGENTS.md").unwrap();
            assert!(
                last.place
                    .as_ref()
                    .unwrap()
                    .starts_with(place.folder.path()),
                "{last:?}"
            );
            assert!(
                list.iter()
                    .any(|file| file.place.as_ref().unwrap().starts_with(place.root())),
                "{list:?}"
            );
            unmount(place.folder.path());
        }),
        trials_of(
            "a_file_that_cannot_be_moved_leaves_no_copy_and_is_told_once",
            |layers| {
                // With walls, another disk is read-only.
                if layers.confinement().is_ok() {
                    return;
                }
                let place = Place::new(layers, &[(".envrc", ""), ("file", "")]);
                let outside = TempWorkspace::from_files([("envrc", "old")]);
                // A second name asks for a copy.
                fs::hard_link(outside.join("envrc"), outside.join("other")).unwrap();
                let file = place.workspace.join(".envrc");
                let bound = std::process::Command::new("mount")
                    .arg("--bind")
                    .args([&outside.join("envrc"), &file])
                    .output();
                if !bound.unwrap().status.success() {
                    return;
                }
                let (result, questions) =
                    place.sh(&ALL, "echo evil > .envrc; echo > AGENTS.md", Some(true));
                let names = below(&place.root());
                unmount(&file);
                assert_eq!(names.len(), 3, "{names:?} {result}");
                assert!(
                    questions.len() == 1 && !questions[0].contains("stay aside"),
                    "{questions:?}"
                );
                let told = place.told.lock().unwrap();
                let told: Vec<_> = told.iter().map(|it| (&*it.path, &it.fate)).collect();
                let expected = [
                    (".envrc", &ProtectedFate::Stuck),
                    ("AGENTS.md", &ProtectedFate::PutBack),
                ];
                assert_eq!(told, expected, "{result}");
                let note = "could not be moved out of the workspace: .envrc;";
                assert!(result.contains(note), "{result}");
            },
        ),
        trials_of(
            "a_planted_file_on_a_disk_of_its_own_is_renamed_beside_itself",
            |layers| {
                // With walls, another disk is read-only.
                if layers.confinement().is_ok() {
                    return;
                }
                let (Some(small), Some(inner)) = (SmallDisk::new("64k"), SmallDisk::new("1m"))
                else {
                    return;
                };
                let place = Place {
                    folder: small.0,
                    ..Place::new(layers, &[("disk/file", "")])
                };
                let disk = place.workspace.join("disk");
                let bound = std::process::Command::new("mount")
                    .arg("--bind")
                    .arg(inner.0.path())
                    .arg(&disk)
                    .status();
                assert!(bound.unwrap().success());
                place.sh(&ALL, "truncate -s 1G disk/.envrc", None);
                let names = below(&disk);
                let is_renamed =
                    names.len() == 1 && names[0].to_string_lossy().ends_with(".set-aside");
                unmount(&disk);
                unmount(inner.0.path());
                unmount(place.folder.path());
                assert!(is_renamed, "{names:?}");
            },
        ),
    ];
    all.into_iter().flatten().collect()
}
