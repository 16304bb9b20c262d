//! The answer "always in this project", on a pseudo-terminal.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use rexpect::session::{PtySession, spawn_command};
use serde_json::{Value, json};

use crate::Crib;
use crate::config::{user_file, write_user};
use crate::terminal::{QUESTION, TIMEOUT_MS, rest};

const OFFER: &str = "[a] always in this project";
const CONFIRM: &str = "Write it?";

/// Returns a call that creates a file.
fn write(path: &str) -> Value {
    json!({"name": "fs.write", "arguments": {"path": path, "content": "x\n"}})
}

/// Returns a call that runs a program.
fn program(words: &str) -> Value {
    let mut words = words.split(' ');
    let program = words.next().unwrap();
    json!({"name": "exec.run", "arguments": {"program": program, "args": words.collect::<Vec<_>>()}})
}

/// Starts a session in a root, whose model makes these calls one after the other.
fn session_in(crib: &Crib, root: &Path, calls: &[Value], flags: &[&str]) -> PtySession {
    let turns = calls.iter().map(|call| json!({"calls": [call]}));
    let turns: Vec<_> = turns.chain([json!({"text": "finished"})]).collect();
    // Two sessions can run at once.
    static SCRIPTS: AtomicUsize = AtomicUsize::new(0);
    let name = format!("turns-{}.json", SCRIPTS.fetch_add(1, Ordering::Relaxed));
    let script = crib.write(&name, &json!(turns).to_string());
    let mut command = crib.command(&[&["run", "x", "--script", &script], flags].concat());
    command.current_dir(root);
    spawn_command(command, Some(TIMEOUT_MS)).unwrap()
}

fn session(crib: &Crib, calls: &[Value]) -> PtySession {
    session_in(crib, &crib.root(), calls, &[])
}

/// Returns the choices of the first question, and ends the session with a no to all.
fn choices(mut session: PtySession) -> String {
    session.exp_string(QUESTION).unwrap();
    let choices = session.exp_string("[n] no").unwrap();
    session.send_control('d').unwrap();
    rest(session);
    choices
}

/// Returns true if the session ends without a question.
#[track_caller]
fn is_unasked(session: PtySession) -> bool {
    let (output, _) = rest(session);
    assert!(output.contains("finished"), "{output}");
    !output.contains(QUESTION)
}

/// Answers the first question with `a`. Returns the clause and the two examples that are shown.
fn begin(session: &mut PtySession) -> [String; 3] {
    session.exp_string(OFFER).unwrap();
    session.send_line("a").unwrap();
    let shown = session.exp_string(CONFIRM).unwrap();
    let shown = shown.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
    let rows: Vec<_> = shown
        .lines()
        .filter_map(|line| line.trim_end().strip_prefix("  | "))
        .map(str::to_owned)
        .collect();
    rows.try_into()
        .unwrap_or_else(|rows| panic!("{rows:?}: {shown}"))
}

/// Writes the clause of the first question of these calls. Returns it with its examples, and the rest of the output.
fn write_always(crib: &Crib, calls: &[Value]) -> ([String; 3], String) {
    let mut session = session(crib, calls);
    let shown = begin(&mut session);
    session.send_line("y").unwrap();
    (shown, rest(session).0)
}

fn text(crib: &Crib) -> String {
    std::fs::read_to_string(user_file(crib)).unwrap_or_default()
}

/// Returns the call on this target.
fn call_on(target: &str) -> Value {
    match target.strip_prefix("exec:write:") {
        Some(words) => program(words),
        None => write(target.strip_prefix("fs:write:").unwrap()),
    }
}

/// Returns true if this machine confines programs.
fn is_confined(crib: &Crib) -> bool {
    !crib
        .run(&["doctor"])
        .stdout
        .contains("No programs can be run")
}

#[test]
fn a_clause_holds_in_later_sessions_of_its_project_alone() {
    let crib = Crib::new();
    let before = "# mine\nlimits.max_steps = 9";
    write_user(&crib, before);
    let later = [write("sub/a"), write("sub/b"), write("new")];
    let mut first = session(&crib, &later);
    let [clause, also, other] = begin(&mut first);
    assert_eq!(clause, "fs:write:sub/**");
    assert_eq!(also, "fs:write:sub/another-file");
    assert_eq!(other, "fs:write:another-file");
    first.send_line("y").unwrap();
    let noted = first.exp_string(QUESTION).unwrap();
    // The second call is unasked in the same session, and the third is not.
    assert!(
        noted.contains("toolcrib always --remove 'fs:write:sub/**'"),
        "{noted}"
    );
    assert!(
        noted.contains("fs:write:new") && noted.matches(" asks for:").count() == 1,
        "{noted}"
    );
    first.send_line("n").unwrap();
    assert!(rest(first).0.contains("finished"));
    assert!(crib.root().join("sub/b").exists() && !crib.root().join("new").exists());
    let written = text(&crib);
    assert!(
        written.starts_with(before) && written.matches("[[always]]").count() == 1,
        "{written}"
    );

    assert!(is_unasked(session(
        &crib,
        &[write("sub/c"), call_on(&also)]
    )));
    assert!(crib.root().join("sub/c").exists());
    assert!(choices(session(&crib, &[call_on(&other)])).contains(OFFER));

    // Another project has a folder of the same name, and a link to it stands where the first one was.
    let other_root = crib.dir.path().join("other");
    std::fs::create_dir_all(other_root.join("sub")).unwrap();
    choices(session_in(&crib, &other_root, &[write("sub/c")], &[]));
    choices(session_in(
        &crib,
        &crib.root().join("sub"),
        &[write("sub/c")],
        &[],
    ));
    let moved = crib.dir.path().join("moved");
    std::fs::rename(crib.root(), &moved).unwrap();
    choices(session_in(&crib, &moved, &[write("sub/d")], &[]));
    symlink(&moved, crib.root()).unwrap();
    choices(session_in(&crib, &crib.root(), &[write("sub/d")], &[]));
}

#[test]
fn a_clause_of_a_command_takes_further_words_of_a_program_that_reads_or_adds() {
    let crib = Crib::new();
    if !is_confined(&crib) {
        return;
    }
    let ([clause, also, other], _) = write_always(&crib, &[program("git status --short")]);
    assert_eq!(clause, "exec:write:git status **");
    assert_eq!(also, "exec:write:git status another-file");
    assert!(is_unasked(session(
        &crib,
        &[program("git status -s"), call_on(&also)]
    )));
    choices(session(&crib, &[call_on(&other)]));
    choices(session(&crib, &[program("git push")]));
    // Of another one it is the command itself.
    let ([clause, also, other], _) = write_always(&crib, &[program("mkdir out")]);
    assert_eq!([&*clause, &*also], ["exec:write:mkdir out"; 2]);
    assert!(is_unasked(session(&crib, &[call_on(&also)])));
    assert!(choices(session(&crib, &[call_on(&other)])).contains(OFFER));
}

#[test]
fn it_is_offered_for_nothing_that_a_clause_cannot_say() {
    let crib = Crib::new();
    std::fs::write(crib.root().join("run.sh"), "true\n").unwrap();
    let remove = json!({"name": "fs.remove", "arguments": {"path": "sub/inner.txt"}});
    let mut asked = vec![remove, write("sub/.envrc"), write("toolcrib.toml")];
    if is_confined(&crib) {
        let commands = [
            "rm sub/inner.txt",
            "make all",
            "sh run.sh",
            "./run.sh",
            "some-program a",
            "git push",
        ];
        asked.extend(commands.map(program));
        let variable = json!({"script": "mkdir $x"});
        asked.push(json!({"name": "exec.shell", "arguments": variable}));
    }
    for call in asked {
        let choices = choices(session(&crib, std::slice::from_ref(&call)));
        assert!(!choices.contains(OFFER), "{call}: {choices}");
    }
    let write = || write("sub/new");
    for flags in [&["--no-config"][..], &["--no-default-grants"]] {
        let choices = choices(session_in(&crib, &crib.root(), &[write()], flags));
        assert!(!choices.contains(OFFER), "{flags:?}: {choices}");
    }
    // A session that has read what a stranger may have written.
    let read = json!({"name": "fs.read", "arguments": {"path": "README.md"}});
    let exposed = choices(session(&crib, &[read, write()]));
    assert!(!exposed.contains(OFFER), "{exposed}");
    // A rule asks in any case, and another narrows what files grant.
    for settings in [
        "[[policy]]\nverdict = 'ask'\ntarget = 'fs:write:sub/**'\n",
        "within = ['fs:read:**']\n",
    ] {
        write_user(&crib, settings);
        let choices = choices(session(&crib, &[write()]));
        assert!(!choices.contains(OFFER), "{settings}: {choices}");
    }
    write_user(&crib, "");
    assert!(choices(session(&crib, &[write()])).contains(OFFER));
    assert_eq!(text(&crib), "");
}

#[test]
fn without_the_second_key_nothing_is_written() {
    for keys in [["n", "n"], ["a", "n"], ["", ""], ["s", "n"]] {
        let crib = Crib::new();
        let mut session = session(&crib, &[write("sub/a")]);
        begin(&mut session);
        session.send_line(keys[0]).unwrap();
        session.exp_string(OFFER).unwrap();
        session.send_line(keys[1]).unwrap();
        rest(session);
        assert!(
            !user_file(&crib).exists() && !crib.root().join("sub/a").exists(),
            "{keys:?}"
        );
    }
}

#[test]
fn a_clause_is_listed_with_its_place_and_taken_back() {
    let crib = Crib::new();
    let before = "# mine\n\n[profiles.x]\nselect = ['fs.*']\n";
    write_user(&crib, before);
    write_always(&crib, &[write("sub/a")]);
    let place = format!("{}:7", user_file(&crib).display());
    let why = ["why", "fs.write", "path=sub/a", "content=x"];
    let why = crib.run(&why).expect(0).stdout;
    assert!(why.contains(" is allowed") && why.contains(&place), "{why}");
    let shown = crib.run(&["config"]).expect(0).stdout;
    assert!(
        shown.contains("fs:write:sub/**") && shown.contains(&place),
        "{shown}"
    );
    // A flag drops all that files grant.
    let dropped = [
        "why",
        "fs.write",
        "--no-default-grants",
        "path=sub/a",
        "content=x",
    ];
    let dropped = crib.run(&dropped).expect(0).stdout;
    assert!(!dropped.contains(" is allowed"), "{dropped}");
    // Another project has none to take back.
    let elsewhere = ["always", "--root", "sub"];
    let remove = ["--remove", "fs:write:sub/**"];
    crib.run(&[&elsewhere[..], &remove].concat()).expect(2);
    crib.run(&[&["always"][..], &remove].concat()).expect(0);
    assert_eq!(text(&crib), before);
    choices(session(&crib, &[write("sub/a")]));
}

#[test]
fn a_file_that_cannot_take_the_entry_stays_as_it_is() {
    let crib = Crib::new();
    let before = "always = []\n";
    write_user(&crib, before);
    let (_, output) = write_always(&crib, &[write("sub/a")]);
    assert!(output.contains("allowed once, because"), "{output}");
    assert_eq!(text(&crib), before);
    assert!(crib.root().join("sub/a").exists());
}

#[test]
fn a_clause_names_its_folder_and_root_alone_whatever_characters_their_names_have() {
    for name in [
        "q\"u'o",
        "st*r",
        "**",
        "[x]{a,b}?",
        "rtl\u{202e}",
        "del\u{7f}",
        "esc\u{1b}[2J",
        "a\"\n[[policy]]\nverdict = \"allow\"\n#\\",
    ] {
        let crib = Crib::new();
        let is_folder = !name.contains(|c: char| c.is_ascii_control());
        let (root, folder) = if is_folder {
            (crib.root(), name)
        } else {
            (crib.dir.path().join(name), "sub")
        };
        for made in [folder, "stir", "x"] {
            std::fs::create_dir_all(root.join(made)).unwrap();
        }
        let session = |path: &str| session_in(&crib, &root, &[write(path)], &[]);
        let mut first = session(&format!("{folder}/a"));
        begin(&mut first);
        first.send_line("y").unwrap();
        let (output, _) = rest(first);
        assert!(!output.contains("\u{1b}[2J"), "{output:?}");
        let written = text(&crib);
        let table: toml::Table = toml::from_str(&written).unwrap();
        assert!(
            table.len() == 1 && table["always"].as_array().unwrap().len() == 1,
            "{name:?}: {written} {output}"
        );
        assert!(is_unasked(session(&format!("{folder}/b"))), "{name:?}");
        for asked in ["stir/b", "x/b"] {
            choices(session(asked));
        }
        choices(session_in(&crib, crib.dir.path(), &[write("sub/b")], &[]));
    }
}

#[test]
fn a_command_is_permitted_with_the_words_that_it_has() {
    let crib = Crib::new();
    if !is_confined(&crib) {
        return;
    }
    for name in ["a*", "$x", "a;b", "'\"\\", "del\u{7f}"] {
        let call = |name| json!({"name": "exec.run", "arguments": {"program": "mkdir", "args": ["-p", name]}});
        write_always(&crib, &[call(name)]);
        assert!(is_unasked(session(&crib, &[call(name)])), "{name:?}");
        choices(session(&crib, &[call("ab")]));
    }
}

#[test]
fn sessions_that_run_at_once_write_each_clause_once() {
    let crib = Crib::new();
    for folder in ["other", "third"] {
        std::fs::create_dir(crib.root().join(folder)).unwrap();
    }
    let mut first = session(&crib, &[write("sub/a"), write("other/a")]);
    let mut second = session(&crib, &[write("sub/b"), write("third/a")]);
    begin(&mut first);
    begin(&mut second);
    for session in [&mut first, &mut second] {
        session.send_line("y").unwrap();
        begin(session);
        session.send_line("y").unwrap();
    }
    for session in [first, second] {
        assert!(rest(session).0.contains("finished"));
    }
    let written = text(&crib);
    assert_eq!(written.matches("[[always]]").count(), 3, "{written}");
}

#[test]
fn a_clause_that_stands_twice_is_taken_back_as_a_whole() {
    let crib = Crib::new();
    write_always(&crib, &[write("sub/a")]);
    let once = text(&crib);
    write_user(&crib, &once.repeat(2));
    crib.run(&["always", "--remove", "fs:write:sub/**"])
        .expect(0);
    assert_eq!(text(&crib), "");
    choices(session(&crib, &[write("sub/b")]));
}

#[test]
fn the_file_keeps_its_kind_its_lines_and_its_mode() {
    let crib = Crib::new();
    let real = crib.dir.path().join("dotfiles.toml");
    let before = "# mine\r\nlimits.max_steps = 9\r\n";
    std::fs::write(&real, before).unwrap();
    let mode = |mode| std::fs::set_permissions(&real, Permissions::from_mode(mode)).unwrap();
    mode(0o644);
    write_user(&crib, "");
    std::fs::remove_file(user_file(&crib)).unwrap();
    symlink(&real, user_file(&crib)).unwrap();
    write_always(&crib, &[write("sub/a")]);
    assert!(user_file(&crib).is_symlink());
    assert!(text(&crib).starts_with(before) && text(&crib).contains("[[always]]"));
    assert_eq!(real.metadata().unwrap().permissions().mode() & 0o777, 0o644);
    // Who made it read-only wants no change.
    mode(0o444);
    let written = text(&crib);
    let (_, output) = write_always(&crib, &[write("new")]);
    assert!(output.contains("allowed once, because"), "{output}");
    crib.run(&["always", "--remove", "fs:write:sub/**"])
        .expect(2);
    assert_eq!(text(&crib), written);
    // A link can lead to a place that is absent for a time, and its settings must not be hidden then.
    std::fs::remove_file(&real).unwrap();
    let (_, output) = write_always(&crib, &[write("newer")]);
    assert!(output.contains("allowed once, because"), "{output}");
    assert!(user_file(&crib).is_symlink() && !real.exists());
}

#[test]
fn a_file_that_became_invalid_stays_as_it_is() {
    let crib = Crib::new();
    let mut session = session(&crib, &[write("sub/a")]);
    begin(&mut session);
    write_user(&crib, "grants = [");
    session.send_line("y").unwrap();
    let (output, _) = rest(session);
    assert!(output.contains("allowed once, because"), "{output}");
    assert_eq!(text(&crib), "grants = [");
}

#[test]
fn a_project_permits_nothing_always() {
    let crib = Crib::new();
    let root = crib.root().canonicalize().unwrap();
    let entry = format!("[[always]]\nroot = {root:?}\nclause = 'fs:write:**'\n");
    crate::config::write_project(&crib, &entry);
    let refused = crib.run(&["run", "x"]).expect(2).stderr;
    assert!(refused.contains("only in the user's file"), "{refused}");
}

#[test]
fn a_job_has_no_clause_of_a_persons_sessions() {
    for (flags, is_written) in [(&[][..], false), (&["--grant", "fs:write:sub/**"], true)] {
        let crib = Crib::new();
        let root = crib.root().canonicalize().unwrap();
        write_user(
            &crib,
            &format!("[[always]]\nroot = {root:?}\nclause = 'fs:write:sub/**'\n"),
        );
        let work = crate::cron::call("fs.write", json!({"path": "sub/a", "content": "x"}));
        crate::cron::add(&crib, crate::cron::due(work, &["fs:write:sub/**"]));
        crib.run(&[&["cron", "run", "--once"], flags].concat());
        let written: PathBuf = crib.root().join("sub/a");
        assert_eq!(written.exists(), is_written);
    }
}

/// Returns the verdict about a program, run by a model.
fn verdict(crib: &Crib, words: &str, flags: &[&str]) -> String {
    let arguments = program(words)["arguments"].to_string();
    let why = ["why", "exec.run", "--json", "--args", &arguments];
    let document = crib.run(&[&why[..], flags].concat()).expect(0).document();
    document["verdict"].as_str().unwrap().to_owned()
}

#[test]
fn harmless_commands_run_in_sessions_of_a_person_until_a_setting_drops_them() {
    let crib = Crib::new();
    assert_eq!(verdict(&crib, "ls -la sub", &[]), "allow");
    for asked in ["find . -delete", "git status", "touch x"] {
        assert_eq!(verdict(&crib, asked, &[]), "ask", "{asked}");
    }
    assert_eq!(verdict(&crib, "ls", &["--no-default-grants"]), "ask");
    let project = |text| crate::config::write_project(&crib, text);
    project("harmless_commands = false\n");
    assert_eq!(verdict(&crib, "ls", &[]), "ask");
    project("");
    for settings in [
        "harmless_commands = false\n",
        "default_grants = false\n",
        "within = ['fs:read:**']\n",
        "programs.unconfined = true\n",
        "[[policy]]\nverdict = 'ask'\ntarget = 'exec:write:ls **'\n",
    ] {
        write_user(&crib, settings);
        assert_eq!(verdict(&crib, "ls", &[]), "ask", "{settings}");
    }
    write_user(&crib, "harmless_commands = false\n");
    project("harmless_commands = true\n");
    crib.run(&["why", "fs.read", "path=a"]).expect(2);
    let ceiling = crib.run(&["audit", "ceiling"]).expect(0).stdout;
    assert!(
        ceiling.contains("exec:write:ls **") && ceiling.contains("lists folders"),
        "{ceiling}"
    );
}
