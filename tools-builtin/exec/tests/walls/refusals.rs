//! Launches that are refused, and what they say.

use std::path::PathBuf;

use libtest_mimic::{Failed, Trial};
use tools_exec::walls::{Bubblewrap, Confined, Confinement, Layers, Walls, WallsError};

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |name: &str, test: fn() -> Result<(), Failed>| {
        Trial::test(format!("refusals::{name}"), test)
    };
    vec![
        trial("landlock_without_scopes_is_no_confinement", || {
            let layers = Layers {
                landlock: Some(5),
                seccomp: true,
                bubblewrap: Bubblewrap::Missing,
            };
            let error = layers.confinement().unwrap_err();
            assert!(matches!(error, WallsError::NotConfinement { .. }));
            assert!(
                error
                    .to_string()
                    .contains("neither signals nor abstract Unix sockets"),
                "{error}"
            );
            assert!(
                layers.to_string().contains("No programs can be run"),
                "{layers}"
            );
            Ok(())
        }),
        trial("nothing_confines_without_seccomp", || {
            let works = Bubblewrap::Works {
                path: "/usr/bin/bwrap".into(),
                version: String::new(),
            };
            let layers = Layers {
                landlock: Some(7),
                seccomp: false,
                bubblewrap: works,
            };
            assert!(layers.confinement().is_err());
            Ok(())
        }),
        trial("bubblewrap_confines_without_landlock", || {
            let works = Bubblewrap::Works {
                path: "/usr/bin/bwrap".into(),
                version: String::new(),
            };
            let layers = Layers {
                landlock: None,
                seccomp: true,
                bubblewrap: works,
            };
            assert!(layers.confinement().unwrap().keeps_protected_paths());
            assert!(!Confinement::LandlockAlone.keeps_protected_paths());
            Ok(())
        }),
        trial("a_terminal_without_bubblewrap_is_refused", || {
            let mut confined = launch(|_| ());
            confined.terminal = true;
            confined.command()?;
            confined.layers = confined.layers.without_bubblewrap();
            assert!(matches!(
                confined.command().unwrap_err(),
                WallsError::NoTerminal
            ));
            Ok(())
        }),
        trial(
            "more_protected_paths_than_bubblewrap_takes_are_refused",
            || {
                let folder = tempfile::tempdir()?;
                let folder = folder.path().canonicalize()?;
                let paths: Vec<PathBuf> = (0..3_000)
                    .map(|number| folder.join(number.to_string()))
                    .collect();
                for path in &paths {
                    std::fs::write(path, "")?;
                }
                let with = |count: usize| {
                    launch(|walls| {
                        walls.write.push(folder.clone());
                        walls.protected = paths[..count].to_vec();
                    })
                };
                with(2_000).command()?;
                assert!(matches!(
                    with(3_000).command().unwrap_err(),
                    WallsError::TooManyProtected { protected: 3_000 }
                ));
                // Bubblewrap itself takes as many as are not refused.
                let most = (2_000..3_000)
                    .rev()
                    .find_map(|count| with(count).command().ok());
                let arguments: Vec<_> =
                    most.iter().flat_map(|command| command.get_args()).collect();
                for (more, is_taken) in [(0, true), (10, false)] {
                    let output = std::process::Command::new("bwrap")
                        .arg("--help")
                        .args(&arguments[1..])
                        .args(vec!["x"; more])
                        .output()?;
                    assert_eq!(output.status.success(), is_taken, "{}", arguments.len());
                }
                Ok(())
            },
        ),
        trial("relative_paths_are_refused", || {
            let refused = |path: &str| {
                launch(|walls| walls.write.push(path.into()))
                    .command()
                    .unwrap_err()
            };
            assert!(matches!(refused("src"), WallsError::NotAbsolute { .. }));
            assert!(matches!(
                refused("/usr/../etc"),
                WallsError::NotAbsolute { .. }
            ));
            Ok(())
        }),
        trial("paths_through_links_are_refused", || {
            let folder = tempfile::tempdir()?;
            let link = folder.path().canonicalize()?.join("link");
            std::os::unix::fs::symlink("/usr", &link)?;
            let grants: [fn(&mut Walls) -> &mut Vec<PathBuf>; 4] = [
                |walls| &mut walls.read,
                |walls| &mut walls.write,
                |walls| &mut walls.protected,
                |walls| &mut walls.hidden,
            ];
            for grant in grants {
                let error = launch(|walls| grant(walls).push(link.join("lib")))
                    .command()
                    .unwrap_err();
                assert!(matches!(error, WallsError::NotReal { .. }), "{error}");
            }
            Ok(())
        }),
        trial("arguments_of_the_sandbox_show_no_environment", || {
            let command = launch(|_| ()).command()?;
            assert!(!format!("{:?}", command.get_args().collect::<Vec<_>>()).contains("hunter2"));
            assert!(
                command
                    .get_envs()
                    .all(|(name, _)| name.to_string_lossy().starts_with("TOOLCRIB_WALLS_"))
            );
            Ok(())
        }),
    ]
}

/// A launch with the strongest layers that exist. It is not started.
fn launch(change: impl FnOnce(&mut Walls)) -> Confined {
    let works = Bubblewrap::Works {
        path: "/usr/bin/bwrap".into(),
        version: String::new(),
    };
    let mut walls = Walls::default();
    change(&mut walls);
    Confined {
        program: "/usr/bin/true".into(),
        args: Vec::new(),
        env: vec![("TOKEN".into(), "hunter2".into())],
        cwd: "/".into(),
        walls,
        layers: Layers {
            landlock: Some(7),
            seccomp: true,
            bubblewrap: works,
        },
        terminal: false,
    }
}
