//! The question about files that lie aside: a person sees each file to which the yes applies.

use std::path::PathBuf;
use std::process::Command;

use libtest_mimic::Trial;
use serde_json::json;
use tools::context::AnswerFuture;
use tools::{Answer, Person, ProtectedFate, Question, ToolContext};
use tools_testkit::RecordingPerson;

use super::{Place, is_landlock_alone, trials_of};
use crate::setup::{ALL, run, text};

/// A person who agrees when the file that lies aside is gone.
struct Thief(PathBuf);

impl Person for Thief {
    fn answer<'a>(&'a self, _: &'a Question, _: &'a ToolContext) -> AnswerFuture<'a> {
        let done = Command::new("find")
            .arg(&self.0)
            .args(["-name", "0", "-delete"])
            .status();
        done.unwrap();
        Box::pin(std::future::ready(Ok(Answer::Confirmation(true))))
    }
}

pub(super) fn trials() -> Vec<Trial> {
    let all = [
        trials_of("a_yes_puts_back_only_what_the_question_shows", |layers| {
            // Of long contents fewer fit.
            for content in ["$(seq 60)", "x"] {
                let place = Place::new(layers, &[]);
                for number in 10..50 {
                    place.workspace.write(format!("d/{number}/file"), "");
                }
                place.workspace.write(
                    "plan",
                    format!("for i in $(seq 10 49); do echo \"{content}\" > d/$i/AGENTS.md; done"),
                );
                let (result, questions) = place.sh(&ALL, ". ./plan", Some(true));
                let [question] = &questions[..] else {
                    panic!("{questions:?} {result}")
                };
                let is_shown =
                    |number: usize| question.contains(&format!("- d/{number}/AGENTS.md (new)"));
                let shown: Vec<usize> = (10..50).filter(|number| is_shown(*number)).collect();
                assert!((2..40).contains(&shown.len()), "{question}");
                assert!(
                    question.contains(&format!("\n{} more stay aside", 40 - shown.len())),
                    "{question}"
                );
                for number in 10..50 {
                    assert_eq!(
                        place.exists(format!("d/{number}/AGENTS.md")),
                        is_shown(number),
                        "{number} {question}"
                    );
                }
            }
        }),
        trials_of(
            "a_yes_puts_back_no_file_whose_content_was_not_shown",
            |layers| {
                let place = Place::new(layers, &[("file", "")]);
                let script =
                "for i in $(seq 300); do echo line $i; done > .envrc; printf '\\377' > .npmrc; echo hint > AGENTS.md
                          mkdir -p .vscode/a .idea; echo run > .vscode/a/tasks.json
                          for i in $(seq 60); do echo a line that is not so short $i > .idea/file$i; done";
                let (result, questions) = place.sh(&ALL, script, Some(true));
                let [question] = &questions[..] else {
                    panic!("{questions:?}")
                };
                assert!(
                    question.contains("| hint")
                        && question.contains("| run")
                        && !question.contains("envrc"),
                    "{question}"
                );
                assert!(
                    place.exists("AGENTS.md") && place.exists(".vscode/a/tasks.json"),
                    "{result}"
                );
                for path in [".envrc", ".npmrc", ".idea/file60"] {
                    assert!(!place.exists(path), "{path}: {result}");
                }
                assert_eq!(place.aside().len(), 3);
                // Nothing is asked if nothing is shown.
                let (_, questions) = place.sh(
                    &ALL,
                    "head -c 4000 /dev/zero | tr '\\0' x > .envrc",
                    Some(true),
                );
                assert!(
                    questions.is_empty() && !place.exists(".envrc"),
                    "{questions:?}"
                );
            },
        ),
        trials_of(
            "a_yes_puts_back_no_folder_of_which_a_part_was_not_shown",
            |layers| {
                // One that is no text, a long one, a pipe, and a link to a place with a long name.
                for hidden in [
                    "printf '\\377' > .idea/in/x",
                    "seq 400 > .idea/in/x",
                    "mkfifo .idea/in/x",
                    "ln -s $(seq -s - 150) .idea/in/x",
                ] {
                    let place = Place::new(layers, &[("file", "")]);
                    let script =
                        format!("mkdir -p .idea/in; echo run > .idea/a; {hidden}; echo > .envrc");
                    let (result, questions) = place.sh(&ALL, &script, Some(true));
                    let [question] = &questions[..] else {
                        panic!("{hidden}: {questions:?} {result}")
                    };
                    assert!(
                        !question.contains("| run") && question.contains("\n1 more stay aside"),
                        "{hidden}: {question}"
                    );
                    assert!(place.exists(".envrc"), "{hidden}: {result}");
                    assert_eq!(place.aside(), [".idea"], "{hidden}: {result}");
                }
            },
        ),
        trials_of(
            "a_question_shows_whole_contents_and_where_links_lead_without_invisible_characters",
            |layers| {
                let place = Place::new(layers, &[("file", "")]);
                let script = "echo 'run \u{202e}me' > AGENTS.md; ln -s evil\u{200b}place .envrc
                          for i in $(seq 100 200); do echo $i >> CLAUDE.md; done; seq 400 > GEMINI.md; printf '\\377' > .npmrc";
                let (_, questions) = place.sh(&ALL, script, Some(false));
                let [question] = &questions[..] else {
                    panic!("{questions:?}")
                };
                assert!(
                    question.contains("\n  a link to evil") && question.contains("\n  | run "),
                    "{question}"
                );
                assert!(!question.contains(['\u{202e}', '\u{200b}']), "{question}");
                assert!(question.contains("\n3 more stay aside"), "{question}");
                assert!(
                    !question.contains("| 1\n") && !question.contains("| 100\n"),
                    "all of it or none: {question}"
                );
            },
        ),
        trials_of(
            "a_new_dot_file_that_no_list_knows_is_asked_about_and_an_old_one_may_change",
            |layers| {
                let place = Place::new(layers, &[(".unheard-of", "old"), ("sub/file", "")]);
                let (result, questions) = place.sh(
                    &ALL,
                    "echo > .unheard-of; echo > sub/.unknown; echo > .gitignore",
                    None,
                );
                assert_eq!(
                    (place.aside(), questions.len()),
                    (vec!["sub/.unknown".to_owned()], 1),
                    "{result}"
                );
                assert!(place.exists(".gitignore") && place.workspace.read(".unheard-of") == "\n");
            },
        ),
        trials_of(
            "caches_outputs_and_dependencies_of_build_tools_remain",
            |layers| {
                let place = Place::new(layers, &[("sub/file", "")]);
                let script = "for d in .deps .libs .dart_tool .zig-cache .nx sub/.vite .tmp; do mkdir $d; echo > $d/x; done
                              mkdir -p .terraform/modules/m/.github/workflows .build/checkouts/x
                              echo > .terraform/modules/m/.github/workflows/ci.yml; echo > .build/checkouts/x/.swiftlint.yml
                              echo > .eslintcache; echo > .terraform.lock.hcl; echo > .coverage.host.1.Xa";
                let (result, questions) = place.sh(&ALL, script, None);
                assert_eq!((place.aside(), questions.len()), (vec![], 0), "{result}");
            },
        ),
        trials_of(
            "the_question_about_a_new_folder_names_the_file_of_each_content",
            |layers| {
                let place = Place::new(layers, &[("file", "")]);
                let script = "mkdir -p dep/.idea; echo a > dep/AGENTS.md; echo c > dep/.idea/2; echo b > dep/.idea/1";
                let (result, questions) = place.sh(&ALL, script, Some(false));
                let [question] = &questions[..] else {
                    panic!("{questions:?} {result}")
                };
                let contents =
                    "\n  dep/.idea:\n  a folder\n  1:\n  | b\n  2:\n  | c\n  dep/AGENTS.md:\n  | a";
                assert!(question.contains(contents), "{question}");
            },
        ),
        trials_of(
            "files_of_a_folder_that_was_there_have_a_line_each",
            |layers| {
                let place = Place::new(layers, &[("sub/file", "")]);
                let (_, questions) = place.sh(
                    &ALL,
                    "echo > sub/.envrc; echo > sub/AGENTS.md; echo > CLAUDE.md",
                    Some(false),
                );
                assert_eq!(questions[0].matches("\n- ").count(), 3, "{questions:?}");
            },
        ),
        trials_of(
            "a_yes_to_a_file_that_cannot_be_put_back_is_told_as_aside",
            |layers| {
                let place = Place::new(layers, &[("file", "")]);
                let host = place
                    .host(&ALL)
                    .with_person(Thief(place.folder.path().join("aside")));
                let result = text(
                    run(
                        &host,
                        json!({"program": "sh", "args": ["-c", "echo evil > AGENTS.md"]}),
                    )
                    .unwrap(),
                );
                let told = place.told.lock().unwrap();
                assert!(
                    !place.exists("AGENTS.md") && told.len() == 1,
                    "{told:?} {result}"
                );
                assert_ne!(told[0].fate, ProtectedFate::PutBack);
                assert!(
                    result.contains("AGENTS.md could not be put back"),
                    "{result}"
                );
            },
        ),
        trials_of(
            "an_answer_that_does_not_fit_the_question_is_no_yes_and_the_model_reads_so",
            |layers| {
                let place = Place::new(layers, &[("file", "")]);
                let asks_first = is_landlock_alone(layers);
                let answers = asks_first.then_some(Answer::Confirmation(true));
                let answers = answers.into_iter().chain([Answer::Text("yes".into())]);
                let host = place.host(&ALL).with_person(RecordingPerson::new(answers));
                let script = "echo evil > AGENTS.md";
                let program = json!({"program": "sh", "args": ["-c", script]});
                let result = text(run(&host, program).unwrap());
                assert_eq!(place.aside(), ["AGENTS.md"]);
                assert!(
                    result.contains("the host failed to ask the question"),
                    "{result}"
                );
            },
        ),
    ];
    all.into_iter().flatten().collect()
}
