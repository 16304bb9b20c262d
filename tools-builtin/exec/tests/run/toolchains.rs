//! Toolchains outside of the workspace.

use std::fs;
use std::os::unix::fs::symlink;

use libtest_mimic::Trial;
use serde_json::json;
use tools_exec::{Sandbox, Toolchain};
use tools_testkit::TempWorkspace;

use crate::setup::{ALL, host_with, run, sh, trial};

pub(crate) fn trials() -> Vec<Trial> {
    let links = trial("a_cache_behind_a_link_is_found_by_its_variable", || {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir(home.path().join("real")).unwrap();
        symlink("real", home.path().join("link")).unwrap();
        let sandbox = Sandbox {
            toolchains: vec![Toolchain::Node],
            home: home.path().to_owned(),
            cache: home.path().join("link/cache"),
            ..Sandbox::default()
        };
        let workspace = TempWorkspace::new();
        let answer = sh(
            &host_with(&workspace, &ALL, sandbox),
            "echo kept > $npm_config_cache/a && echo $npm_config_cache",
        );
        assert!(
            answer.starts_with("[exit code 0,") && answer.contains("/real/cache/"),
            "{answer}"
        );
    });
    let folders = trial(
        "a_toolchain_is_read_its_cache_is_written_and_credentials_are_out_of_reach",
        || {
            let home = tempfile::tempdir().unwrap();
            let file = |name: &str| {
                let path = home.path().join(name);
                fs::create_dir_all(path.parent().unwrap()).unwrap();
                fs::write(&path, "text-of-a-file").unwrap();
                path.display().to_string()
            };
            let (version, credentials) = (file(".nvm/versions/node"), file(".npmrc"));
            let workspace = TempWorkspace::new();
            let cache = home.path().join("cache");
            let sandbox = || Sandbox {
                toolchains: vec![Toolchain::Node],
                home: home.path().to_owned(),
                cache: cache.clone(),
                ..Sandbox::default()
            };
            let script = format!(
                "cat {version} {credentials}; echo x > {version}; mkdir -p $npm_config_cache && echo kept > $npm_config_cache/a; cat $npm_config_cache/*"
            );
            for _ in 0..2 {
                let answer = sh(&host_with(&workspace, &ALL, sandbox()), &script);
                assert_eq!(answer.matches("text-of-a-file").count(), 1, "{answer}");
                assert!(answer.contains("kept"), "{answer}");
            }
            assert_eq!(
                fs::read_to_string(home.path().join(".nvm/versions/node")).unwrap(),
                "text-of-a-file"
            );
            let [of_workspace] = &fs::read_dir(&cache).unwrap().collect::<Vec<_>>()[..] else {
                panic!("one workspace")
            };
            assert!(
                of_workspace
                    .as_ref()
                    .unwrap()
                    .path()
                    .join("node/a")
                    .exists()
            );
            let answer = sh(
                &host_with(&workspace, &ALL, Sandbox::default()),
                &format!("cat {version}"),
            );
            assert!(!answer.contains("text-of-a-file"), "{answer}");
        },
    );
    let hint = trial("a_path_belongs_to_no_toolchain", || {
        let home = tempfile::tempdir().unwrap();
        fs::create_dir_all(home.path().join(".local/share/uv")).unwrap();
        symlink("/usr/bin", home.path().join(".local/share/uv/python")).unwrap();
        let workspace = TempWorkspace::new();
        for program in ["../bin/sh", "./sh"] {
            let sandbox = Sandbox {
                home: home.path().to_owned(),
                cache: home.path().join("cache"),
                ..Sandbox::default()
            };
            let refused = run(
                &host_with(&workspace, &ALL, sandbox),
                json!({"program": program}),
            )
            .unwrap_err();
            assert!(
                refused.to_string().contains("name another program"),
                "{refused}"
            );
        }
    });
    vec![folders, links, hint]
}
