//! Grants of unusual shapes.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Output;

use libtest_mimic::Trial;
use tools_exec::walls::Walls;

use crate::case::Case;
use crate::site::{SECRET, Site};
use crate::work::{Test, trial};

pub(crate) fn trials(case: &Case) -> Vec<Trial> {
    let tests: [(&str, Test); 9] = [
        (
            "a_grant_of_everything_leaves_out_hidden_paths_and_other_processes",
            |site, case| {
                let script = "cat \"$OUTSIDE/secret\"; cat \"$SITE/lodge/lair/hidden/state\"; ls -d /proc/$BYSTANDER; cat /proc/$BYSTANDER/environ
echo new >\"$OUTSIDE/new\"";
                let output = shell(site, case, script, |walls| walls.read = vec!["/".into()]);
                let printed = String::from_utf8_lossy(&output.stdout);
                // Inside of bubblewrap, the folders for temporary files of everybody are private ones.
                let is_private = !case.alone
                    && ["/tmp", "/var/tmp"]
                        .iter()
                        .any(|folder| site.path("").starts_with(folder));
                assert_eq!(
                    printed.matches(SECRET).count(),
                    usize::from(!is_private),
                    "{output:?}"
                );
                assert_eq!(printed.contains("/proc/"), case.alone, "{output:?}");
                assert!(!site.path("outside/new").exists());
                Ok(())
            },
        ),
        ("a_hidden_file_cannot_be_read", |site, case| {
            let output = shell(site, case, "cat \"$OUTSIDE\"/*", |walls| {
                walls.read.push(site.path("outside"));
                walls.hidden.push(site.path("outside/secret"));
            });
            assert!(
                !String::from_utf8_lossy(&output.stdout).contains(SECRET),
                "{output:?}"
            );
            Ok(())
        }),
        ("a_grant_below_a_hidden_path_is_void", |site, case| {
            let output = shell(
                site,
                case,
                "echo started; cat \"$SITE/lodge/lair/hidden/state\"",
                |walls| {
                    walls.read.push(site.path("lodge/lair/hidden/state"));
                    walls.write.push(site.path("lodge/lair/hidden"));
                },
            );
            assert!(
                String::from_utf8_lossy(&output.stdout).starts_with("started"),
                "{output:?}"
            );
            assert!(
                !String::from_utf8_lossy(&output.stdout).contains(SECRET),
                "{output:?}"
            );
            Ok(())
        }),
        (
            "a_writable_path_in_a_protected_tree_is_protected",
            |site, case| {
                if case.alone {
                    return Ok(());
                }
                shell(site, case, "echo after >guarded/deep/config", |walls| {
                    walls.protected = vec![site.path("granted/guarded")];
                    walls.write.push(site.path("granted/guarded/deep"));
                });
                assert_eq!(site.text("granted/guarded/deep/config"), "before");
                Ok(())
            },
        ),
        (
            "a_readable_path_in_a_writable_tree_is_writable",
            |site, case| {
                shell(site, case, "echo after >file", |walls| {
                    walls.read.push(site.path("granted/file"))
                });
                assert_eq!(site.text("granted/file"), "after\n");
                Ok(())
            },
        ),
        (
            "a_writable_file_can_be_changed_but_not_its_neighbours",
            |site, case| {
                let script = "echo after >\"$OUTSIDE/file\"; echo after >\"$OUTSIDE/secret\"; echo after >\"$OUTSIDE/new\"; rm \"$OUTSIDE/file\"";
                shell(site, case, script, |walls| {
                    walls.write.push(site.path("outside/file"))
                });
                assert_eq!(
                    (site.text("outside/file"), site.text("outside/secret")),
                    ("after\n".into(), SECRET.into())
                );
                assert!(!site.path("outside/new").exists());
                Ok(())
            },
        ),
        ("missing_paths_are_ignored", |site, case| {
            let output = shell(site, case, "echo started", |walls| {
                let missing = site.path("missing/path");
                for paths in [
                    &mut walls.read,
                    &mut walls.write,
                    &mut walls.protected,
                    &mut walls.hidden,
                ] {
                    paths.push(missing.clone());
                }
                walls.hidden.push(site.path("granted/absent"));
            });
            assert!(
                String::from_utf8_lossy(&output.stdout).contains("started"),
                "{output:?}"
            );
            assert!(!site.path("missing").exists() && !site.path("granted/absent").exists());
            Ok(())
        }),
        (
            "a_folder_that_becomes_a_link_is_not_followed",
            |site, case| {
                for swapped in ["lodge/inner/folder", "lodge/inner"] {
                    let folder = site.path("lodge/inner/folder");
                    fs::create_dir_all(&folder)?;
                    let mut launch = site.launch(
                        case,
                        "/bin/sh",
                        &["-c", "echo after >$SITE/lodge/inner/folder/new"],
                    );
                    launch.cwd = "/".into();
                    launch.walls = Walls {
                        write: vec![folder],
                        ..Walls::default()
                    };
                    let mut command = launch.command()?;
                    fs::rename(site.path(swapped), site.path("away"))?;
                    symlink(
                        if swapped.ends_with("inner") {
                            "../outside"
                        } else {
                            "../../outside/folder"
                        },
                        site.path(swapped),
                    )?;
                    let output = case.switch_user(&mut command).output()?;
                    assert!(!site.path("outside/folder/new").exists());
                    assert_eq!(output.status.code(), Some(126), "{output:?}");
                    fs::remove_file(site.path(swapped))?;
                    fs::remove_dir_all(site.path("away"))?;
                }
                Ok(())
            },
        ),
        (
            "variables_of_the_loader_take_effect_only_behind_the_walls",
            |site, case| {
                let mut launch = site.launch(case, "/bin/true", &[]);
                launch.env.push(("LD_DEBUG".into(), "libs".into()));
                launch.env.push((
                    "LD_DEBUG_OUTPUT".into(),
                    site.path("outside/trace").display().to_string(),
                ));
                let mut command = launch.command()?;
                let output = case.switch_user(&mut command).output()?;
                let traced = fs::read_dir(site.path("outside"))?.flatten();
                assert_eq!(
                    traced
                        .filter(|entry| entry.file_name().to_string_lossy().starts_with("trace"))
                        .count(),
                    0,
                    "{output:?}"
                );
                Ok(())
            },
        ),
    ];
    tests
        .into_iter()
        .map(|(name, test)| trial(format!("{case}::grants::{name}"), test, case))
        .collect()
}

fn shell(site: &Site, case: &Case, script: &str, change: impl FnOnce(&mut Walls)) -> Output {
    let mut launch = site.launch(case, "/bin/sh", &["-c", script]);
    launch
        .env
        .push(("BYSTANDER".into(), std::process::id().to_string()));
    change(&mut launch.walls);
    let mut command = launch.command().unwrap();
    case.switch_user(&mut command).output().unwrap()
}
