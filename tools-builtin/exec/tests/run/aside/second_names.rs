//! Other names of protected files: they lead to no content that a later program may not write.

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use libtest_mimic::Trial;

use super::{OF_GIT, Place, is_landlock_alone, trials_of};
use crate::setup::ALL;

pub(super) fn trials() -> Vec<Trial> {
    let all = [
        trials_of("a_second_name_of_a_file_of_git_leads_to_a_copy", |layers| {
            // Programs cannot make links to other folders there.
            if is_landlock_alone(layers) {
                return;
            }
            let place = Place::new(layers, &[("file", "")]);
            place.repository(".");
            let before = place.workspace.read(".git/config");
            let names = [
                (".git/config", "a"),
                (".git/HEAD", "b"),
                (".git/refs/heads/main", "c"),
                (".vscode/tasks.json", "f"),
            ];
            let links = names.map(|(file, name)| format!("ln {file} {name}; "));
            let script = format!(
                "git branch -qM main; mkdir .vscode; echo {{}} > .vscode/tasks.json; \
                     ln file g; {} chmod 700 .git/config; chmod 555 .git",
                links.concat()
            );
            let grant = [&ALL[..], &[OF_GIT, "fs:write:.vscode/**"]].concat();
            let (result, questions) = place.sh(&grant, &script, None);
            assert_eq!((questions, place.aside()), (vec![], vec![]), "{result}");
            let path = |name: &str| place.workspace.path().join(name);
            for (file, name) in names {
                let of = |name: &str| fs::metadata(path(name)).unwrap();
                assert_ne!(of(file).ino(), of(name).ino(), "{file}");
                assert_eq!(place.workspace.read(file), place.workspace.read(name));
            }
            assert_eq!(place.workspace.read(".git/config"), before);
            assert_eq!(
                fs::metadata(path(".git/config")).unwrap().mode() & 0o777,
                0o700
            );
            assert_eq!(fs::metadata(path("file")).unwrap().nlink(), 2);
        }),
        trials_of("the_files_of_each_repository_have_one_name", |layers| {
            if is_landlock_alone(layers) {
                return;
            }
            let place = Place::new(layers, &[("file", "")]);
            place.repository(".");
            let path = |name: &str| place.workspace.path().join(name);
            let shares = |folder: &str| walk(&path(folder)).any(|metadata| metadata.nlink() > 1);
            let grant = [&ALL[..], &[OF_GIT]].concat();
            // A person's clone, as git makes it.
            let clone = format!("{}-clone", place.workspace.path().display());
            place.git(".", &format!("clone -q . {clone}"));
            assert!(shares(".git/objects"));
            place.sh(&grant, "true", None);
            assert!(!shares(".git/objects") && !shares(&clone));
            fs::remove_dir_all(&clone).unwrap();
            let script = "git clone -q . copy; mkdir names; for file in $(find .git copy/.git -type f ! -path copy/.git/config ! -path '*/hooks/*'); do ln $file names/n$(echo $file | tr / _); done";
            let (result, questions) = place.sh(&grant, script, None);
            assert_eq!((questions, place.aside()), (vec![], vec![]), "{result}");
            assert!(place.exists("names/ncopy_.git_HEAD"), "{result}");
            assert!(!shares(".git") && !shares("copy/.git"));
            // A new one, which a program without a grant for repositories makes.
            let script = "git init -q new; for file in $(find new/.git -type f ! -name config); do ln $file n$(basename $file); done";
            place.sh(&ALL, script, None);
            assert!(!place.exists("new/.git") || !shares("new/.git"));
            // What a program writes in place, the person's clone does not have.
            place.git(".", &format!("clone -q . {clone}"));
            let script =
                "for file in $(find .git/objects -type f); do chmod u+w $file; echo > $file; done";
            place.sh(&grant, script, None);
            place.git(&clone, "fsck");
            fs::remove_dir_all(&clone).unwrap();
        }),
        trials_of(
            "a_new_repository_whose_settings_have_a_second_name_is_not_left",
            |layers| {
                if is_landlock_alone(layers) {
                    return;
                }
                let place = Place::new(layers, &[("file", "")]);
                let (result, _) = place.sh(&ALL, "git init -q new; ln new/.git/config a", None);
                let config = fs::metadata(place.workspace.path().join("new/.git/config"));
                let is_own = config.is_ok_and(|config| config.nlink() == 1);
                assert!(is_own || place.aside() == ["new/.git"], "{result}");
            },
        ),
        trials_of(
            "what_a_person_puts_back_is_not_changed_by_another_name",
            |layers| {
                // Programs cannot make links to other folders there.
                if is_landlock_alone(layers) {
                    return;
                }
                let place = Place::new(layers, &[("file", "")]);
                let script =
                    "mkdir -p .vscode/in; echo {} > a; ln a .vscode/in/x; ln a .vscode/tasks.json";
                let (result, questions) = place.sh(&ALL, script, Some(true));
                assert_eq!(questions.len(), 1, "{result}");
                for file in [".vscode/tasks.json", ".vscode/in/x"] {
                    let put_back = fs::metadata(place.workspace.path().join(file)).unwrap();
                    assert_eq!(put_back.nlink(), 1, "{file}");
                    assert_eq!(place.workspace.read(file), "{}\n");
                }
            },
        ),
        trials_of(
            "a_new_repository_does_not_take_the_place_of_the_one_that_tracks_its_files",
            |layers| {
                let place = Place::new(layers, &[("src/in/a", ""), ("file", "")]);
                place.repository(".");
                let script = "git init -q src; git init -q src/in; git init -q other; git init -q --bare src/a.git; git clone -q other copy";
                place.sh(&ALL, script, None);
                // Landlock alone keeps git from its locks.
                if !is_landlock_alone(layers) {
                    assert_eq!(place.aside(), ["src/.git", "src/in/.git"]);
                }
                assert!(!place.exists("src/.git/HEAD") && !place.exists("src/in/.git/HEAD"));
            },
        ),
        trials_of(
            "the_settings_of_a_submodule_that_git_adds_remain",
            |layers| {
                if is_landlock_alone(layers) {
                    return;
                }
                let place = Place::new(layers, &[("file", "")]);
                place.repository("source");
                place.git(".", "init -q");
                let add =
                    "git -c protocol.file.allow=always submodule --quiet add \"$PWD/source\" lib";
                let grant = [&ALL[..], &[OF_GIT]].concat();
                let (result, _) = place.sh(&grant, add, None);
                let config = place.workspace.read(".git/config");
                assert!(config.contains("submodule \"lib\""), "{result}");
            },
        ),
        trials_of(
            "a_new_repository_with_a_link_among_its_data_is_moved_aside",
            |layers| {
                if is_landlock_alone(layers) {
                    return;
                }
                for link in ["objects/ab", "refs/heads/x"] {
                    let place = Place::new(layers, &[("file", "")]);
                    let script =
                        format!("git init -q new; mkdir data; ln -s ../../../data new/.git/{link}");
                    place.sh(&ALL, &script, None);
                    assert_eq!(place.aside(), ["new/.git"], "{link}");
                }
            },
        ),
        trials_of("files_of_dependencies_keep_their_names", |layers| {
            let place = Place::new(layers, &[("store", "{}")]);
            let folder = place.workspace.path().join("node_modules/x/.vscode");
            fs::create_dir_all(&folder).unwrap();
            if !is_landlock_alone(layers) {
                place.sh(&ALL, "ln store node_modules/x/.vscode/a", None);
                assert_eq!(fs::metadata(folder.join("a")).unwrap().nlink(), 2);
            }
        }),
        trials_of(
            "of_two_protected_names_of_a_file_only_one_leads_to_a_copy",
            |layers| {
                // Programs cannot make links there.
                if is_landlock_alone(layers) {
                    return;
                }
                let place = Place::new(layers, &[("file", "")]);
                let grant = [&ALL[..], &["fs:write:.vscode/**"]].concat();
                let script =
                    "mkdir .vscode; cd .vscode; echo {} > a; ln a b; stat -c %i a > ../number";
                let (result, _) = place.sh(&grant, script, None);
                let number: u64 = place.workspace.read("number").trim().parse().unwrap();
                let of = |name| fs::metadata(place.workspace.join(name)).unwrap().ino();
                let (a, b) = (of(".vscode/a"), of(".vscode/b"));
                assert!(a != b && [a, b].contains(&number), "{result}");
            },
        ),
        trials_of("a_second_name_that_was_there_stays", |layers| {
            let place = Place::new(layers, &[(".vscode/tasks.json", "{}")]);
            let path = |name: &str| place.workspace.path().join(name);
            fs::hard_link(path(".vscode/tasks.json"), path("mine")).unwrap();
            place.sh(
                &[&ALL[..], &["fs:write:.vscode/**"]].concat(),
                "touch x",
                None,
            );
            assert_eq!(fs::metadata(path("mine")).unwrap().nlink(), 2);
        }),
        trials_of(
            "a_new_link_among_the_data_of_git_is_moved_aside",
            |layers| {
                if is_landlock_alone(layers) {
                    return;
                }
                let place = Place::new(layers, &[("file", "")]);
                place.repository(".");
                let grant = [&ALL[..], &[OF_GIT]].concat();
                place.sh(&grant, "mv .git/refs refs; ln -s ../refs .git/refs", None);
                assert_eq!(place.aside(), [".git/refs"]);
            },
        ),
    ];
    all.into_iter().flatten().collect()
}

/// Returns the metadata of all files below a folder.
fn walk(folder: &std::path::Path) -> Box<dyn Iterator<Item = fs::Metadata>> {
    Box::new(fs::read_dir(folder).unwrap().flatten().flat_map(|entry| {
        let metadata = entry.metadata().unwrap();
        if metadata.is_dir() {
            walk(&entry.path())
        } else {
            Box::new(std::iter::once(metadata))
        }
    }))
}
