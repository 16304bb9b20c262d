//! Folders of git with other names than `.git`.

use libtest_mimic::Trial;

use super::{Place, is_landlock_alone, trials_of};
use crate::setup::ALL;

pub(super) fn trials() -> Vec<Trial> {
    trials_of(
        "a_folder_of_git_with_another_name_is_opened_by_a_clause_that_names_it_alone",
        |layers| {
            // Programs cannot change permissions there, which git needs.
            if is_landlock_alone(layers) {
                return;
            }
            let place = Place::new(layers, &[("file", "")]);
            place.repository(".");
            place.git(".", "init -q --separate-git-dir=meta");
            let script = "mkdir meta/rebase-merge meta/sequencer; echo 'exec evil' > meta/rebase-merge/git-rebase-todo
                          echo > meta/sequencer/opts; cp meta/refs/heads/* meta/refs/heads/x";
            let (result, _) = place.sh(&ALL, script, None);
            let left = ["rebase-merge/git-rebase-todo", "sequencer/opts"];
            let is_left = |path: &str| place.exists(format!("meta/{path}"));
            assert!(!left.into_iter().any(is_left), "{result}");
            let is_kept = layers.confinement().is_ok();
            assert_eq!(is_left("refs/heads/x"), !is_kept, "{result}");

            let grant = [&ALL[..], &["fs:write:meta/**"]].concat();
            let commit = "set -e; echo new > file; git add file; git commit -qm second";
            let (result, questions) = place.sh(&grant, commit, Some(false));
            assert!(
                result.starts_with("[exit code 0") && questions.is_empty(),
                "{result} {questions:?}"
            );
            let (result, _) = place.sh(&grant, script, None);
            assert!(!left.into_iter().any(is_left), "{result}");
        },
    )
}
