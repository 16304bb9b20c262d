//! Clauses with wildcards: the commands that they do not cover, because a word makes the program do more.

use serde_json::json;

use crate::Crib;
use crate::config::write_user;

/// Commands, each with the words of a clause that matches it.
const COMMANDS: &[(&str, &[&str])] = &[
    ("git grep **", &["git", "grep", "-Osh", "evil"]),
    (
        "git grep **",
        &["git", "grep", "--open-files-in=sh", "evil"],
    ),
    (
        "git fetch **",
        &["git", "fetch", "--upload-pack=sh -c id", "."],
    ),
    (
        "git ls-remote **",
        &["git", "ls-remote", "--upload-pa", "id", "."],
    ),
    ("git ls-remote **", &["git", "ls-remote", "ext::sh -c id"]),
    ("git **", &["git", "-c", "core.pager=id", "log"]),
    (
        "git diff **",
        &[
            "git",
            "diff",
            "--no-index",
            "--output=toolcrib.toml",
            "a",
            "b",
        ],
    ),
    ("git log **", &["git", "log", "--ext-diff"]),
    ("git show **", &["git", "show", "--outpu=x"]),
    ("rg **", &["rg", "--pre=sh", "x"]),
    ("rg **", &["rg", "--hostname-bin", "./x", "y"]),
    ("sort **", &["sort", "--compress-prog=./x", "a"]),
    ("sort **", &["sort", "-uo", "b", "a"]),
    ("uniq **", &["uniq", "a", "b"]),
    ("tree **", &["tree", "-ao", "x"]),
    ("find **", &["find", ".", "-exec", "id", ";"]),
    ("find **", &["find", ".", "-execdir", "id", ";"]),
    ("find **", &["find", ".", "-ok", "id", ";"]),
    ("find **", &["find", ".", "-delete"]),
    ("find **", &["find", ".", "-fprintf", "x", "y"]),
    ("find **", &["find", ".", "-fls", "x"]),
    (
        "tar **",
        &["tar", "-tf", "a", "--checkpoint-action=exec=id"],
    ),
    ("tar **", &["tar", "-tfa", "-I", "id"]),
    ("tar **", &["tar", "-xf", "a", "--to-comm=id"]),
    ("sed **", &["sed", "1e id", "a"]),
    ("awk **", &["awk", "BEGIN{system(\"id\")}"]),
    ("go test **", &["go", "test", "-exec", "sh", "./..."]),
    ("go test **", &["go", "test", "--toolexec=x"]),
    ("go vet **", &["go", "vet", "-vettool=x"]),
    ("make **", &["make", "--eval=$(shell id)"]),
    ("make **", &["make", "SHELL=./x"]),
    ("npm **", &["npm", "test", "--script-shell=./x"]),
    (
        "cargo test **",
        &["cargo", "test", "--config", "build.rustc-wrapper=\"x\""],
    ),
    (
        "timeout 9 git log **",
        &["timeout", "9", "git", "log", "--output=x"],
    ),
];

#[test]
fn a_clause_covers_no_command_with_a_word_that_makes_its_program_do_more() {
    let crib = Crib::new();
    let mut faults = Vec::new();
    for (pattern, command) in COMMANDS {
        let allow = format!("exec:write:{pattern}");
        let (program, args) = (
            format!("program={}", command[0]),
            format!("args={}", json!(command[1..])),
        );
        let why = |allow: &str| {
            let ended = crib.run(&[
                "why", "exec.run", &program, &args, "--json", "--allow", allow,
            ]);
            ended.expect(0).document()
        };
        let shown = why(&allow);
        let unspelled = &shown["rulings"][0]["unspelled"][0];
        if shown["verdict"] != "ask"
            || !unspelled["clause"]
                .as_str()
                .is_some_and(|clause| clause.contains(&allow))
        {
            faults.push(format!("{allow} {command:?} {shown}"));
        }
        let target = shown["rulings"][0]["target"].as_str().unwrap().to_owned();
        // Spelled, the command is allowed.
        if why(&target)["verdict"] != "allow" {
            faults.push(target);
        }
    }
    assert!(faults.is_empty(), "{faults:#?}");
}

#[test]
fn the_word_that_a_clause_does_not_spell_is_named_to_people_and_models() {
    let crib = Crib::new();
    let call = [
        "exec.run",
        "program=find",
        r#"args=[".","-name","README.md","-delete"]"#,
    ];
    let flags = ["--allow", "exec:write:find **", "--grant", "fs:*:**"];
    let page = crib
        .run(&[&["why"], &call[..], &flags].concat())
        .expect(0)
        .stdout;
    assert!(
        page.contains("not covered by") && page.contains("`-delete`"),
        "{page}"
    );
    let prompt = r#"exec.run program=find args='[".","-name","README.md","-delete"]'"#;
    let refused = crib
        .run(&[&["run", "--provider", "direct", prompt], &flags[..]].concat())
        .expect(5);
    assert!(refused.stdout.contains("`-delete`"), "{refused:#?}");
    assert!(crib.root().join("README.md").exists(), "{refused:#?}");
}

#[test]
fn a_clause_that_covers_less_than_its_program_can_do_is_remarked_once() {
    let crib = Crib::new();
    let remarks = |flags: &[&str], label: &str| {
        let stderr = crib
            .run(&[&["run", "time.now", "--provider", "direct"], flags].concat())
            .expect(0)
            .stderr;
        let is_remark = |line: &&str| line.starts_with(label) && line.contains("does not cover");
        stderr
            .lines()
            .filter(is_remark)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let [warning] = &remarks(&["--allow", "exec:write:sort **"], "warning: ")[..] else {
        panic!("no warning")
    };
    assert!(
        warning.contains("exec:write:sort **") && warning.contains("-o"),
        "{warning}"
    );
    for clause in [
        "exec:write:ls **",
        "exec:write:sort -u",
        "exec:write:**",
        "exec:write:sh **",
        "fs:write:**",
    ] {
        assert!(
            remarks(&["--allow", clause], "warning: ").is_empty(),
            "{clause}"
        );
    }
    write_user(&crib, "grants = [\"exec:write:sort **\"]\n");
    assert_eq!(
        (
            remarks(&[], "note: ").len(),
            remarks(&[], "warning: ").len()
        ),
        (1, 0)
    );
}

#[test]
fn a_rule_that_denies_a_command_sees_it_behind_options_and_launchers() {
    let crib = Crib::new();
    write_user(
        &crib,
        "[[policy]]\nverdict = \"deny\"\ntarget = \"exec:write:git push **\"\n",
    );
    for command in [
        &["git", "push"][..],
        &["git", "-C", "sub", "push", "--force"],
        &["git", "--no-pager", "push"],
        &["/usr/bin/git", "push"],
        &["env", "A=b", "git", "push"],
        &["timeout", "9", "git", "push"],
    ] {
        let (program, args) = (
            format!("program={}", command[0]),
            format!("args={}", json!(command[1..])),
        );
        let call = [
            "why",
            "exec.run",
            &program,
            &args,
            "--json",
            "--allow",
            "exec:write:**",
        ];
        assert_eq!(
            crib.run(&call).expect(0).document()["verdict"],
            "deny",
            "{command:?}"
        );
    }
}
