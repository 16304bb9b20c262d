use crate::{Crib, Ended};

/// Runs one call without a terminal.
fn run(crib: &Crib, call: &str, flags: &[&str]) -> Ended {
    crib.run(&[&["run", call, "--provider", "direct"], flags].concat())
}

#[test]
fn a_grant_is_consent_to_write_and_never_to_destroy() {
    let crib = Crib::new();
    run(
        &crib,
        "fs.write path=new content=x",
        &["--grant", "fs:write:new"],
    )
    .expect(0);
    let ended = run(&crib, "fs.remove path=new", &["--grant", "fs:*:**"]).expect(5);
    assert!(
        ended.stderr.contains("--allow fs:destroy:new"),
        "{ended:#?}"
    );
    assert!(crib.root().join("new").exists());
    run(&crib, "fs.remove path=new", &["--allow", "fs:destroy:new"]).expect(0);
    assert!(!crib.root().join("new").exists());
}

#[test]
fn a_call_that_a_person_types_is_consent_to_it() {
    let crib = Crib::new();
    crib.run(&["call", "fs.remove", "path=README.md"]).expect(5);
    crib.run(&[
        "call",
        "fs.remove",
        "path=README.md",
        "--grant",
        "fs:destroy:README.md",
    ])
    .expect(0);
}

#[test]
fn the_strictest_rule_of_a_file_holds() {
    let crib = Crib::new();
    let rules = r#"
        [[policy]]
        verdict = "allow"
        target = "fs:write:**"
        not_match = ["fs.remove fs:destroy:sub"]

        [[policy]]
        verdict = "deny"
        tool = "fs.*"
        target = "fs:*:sub/**"
        reason = "another team owns it"
        match = ["fs.read fs:read:sub/inner.txt"]

        [[policy]]
        verdict = "ask"
        tool = "time.*"
    "#;
    let file = crib.write("rules.toml", rules);
    let flags = ["--policy", &file, "--grant", "fs:write:**"];
    run(&crib, "fs.write path=new content=x", &flags).expect(0);
    let ended = run(&crib, "fs.write path=sub/new content=x", &flags).expect(5);
    assert!(
        ended.stdout.contains("another team owns it")
            || ended.stderr.contains("another team owns it"),
        "{ended:#?}"
    );
    let ended = crib
        .run(&[&["call", "fs.read", "path=sub/inner.txt"], &flags[..]].concat())
        .expect(5);
    assert!(ended.stderr.contains("another team owns it"), "{ended:#?}");
    let ended = crib
        .run(&[&["call", "time.now", "--json"], &flags[..]].concat())
        .expect(5);
    assert_eq!(
        ended.document()["structured"]["error"]["kind"],
        "unapproved"
    );
}

#[test]
fn a_walk_does_not_reach_denied_targets() {
    let crib = Crib::new();
    let file = crib.write(
        "rules.toml",
        "[[policy]]\nverdict = \"deny\"\ntarget = \"fs:read:sub/**\"\n",
    );
    let search = ["call", "fs.search", "pattern=inner", "--policy", &file];
    let ended = crib.run(&search).expect(0);
    assert!(!ended.stdout.contains("inner.txt"), "{ended:#?}");
}

#[test]
fn a_mistake_in_a_policy_is_reported_with_its_place() {
    let crib = Crib::new();
    for (text, line, part) in [
        (
            "\n[[policy]]\nverdict = \"ask\"\n",
            2,
            "policy is invalid: the rule has neither `tool` nor `target`",
        ),
        (
            "[[policy]]\nverdict = \"ask\"\ntool = \"x\"\nmatch = [\"y\"]\n",
            1,
            "the rule `ask x` does not apply to its example \"y\"",
        ),
        (
            "[[policy]]\nverdict = \"ask\"\ntool = \"x\"\ntraget = \"y\"\n",
            4,
            "unknown field `traget`",
        ),
        (
            "\n[[polcy]]\n",
            2,
            "unknown setting polcy; did you mean policy?",
        ),
        ("policy = 'deny'", 1, "policy must be a list of tables"),
        ("=", 1, "invalid TOML"),
    ] {
        let file = crib.write("rules.toml", text);
        let ended = crib.run(&["call", "time.now", "--policy", &file]).expect(2);
        let place = format!("error: {file}:{line}: ");
        assert!(
            ended.stderr.starts_with(&place) && ended.stderr.contains(part),
            "{text}: {ended:#?}"
        );
    }
    let ended = crib
        .run(&["call", "time.now", "--policy", "missing.toml"])
        .expect(2);
    assert!(
        ended.stderr.contains("missing.toml") && ended.stderr.contains("--policy"),
        "{ended:#?}"
    );
    assert!(!ended.stderr.contains("--no-config"), "{ended:#?}");
}

/// Returns a file with a rule of each kind, and the flag that names it.
fn ruled(crib: &Crib) -> [String; 2] {
    let rules = "[[policy]]\nverdict = 'ask'\ntool = 'time.*'\n\n\
                 [[policy]]\nverdict = 'deny'\ntarget = 'fs:*:sub/**'\n\n\
                 [[policy]]\nverdict = 'ask'\ntool = 'fs.write'\n\n\
                 [[policy]]\nverdict = 'ask'\ntool = 'tools.*'\n";
    let file = crib.write("rules.toml", rules);
    ["--policy".to_owned(), file]
}

#[test]
fn a_refusal_by_a_rule_names_the_rule() {
    let crib = Crib::new();
    let [policy, file] = ruled(&crib);
    let run = |call: &str, flags: &[&str]| {
        run(&crib, call, &[&[policy.as_str(), &file], flags].concat()).expect(5)
    };

    let ended = run("time.now", &[]);
    assert!(
        ended
            .stderr
            .contains(&format!("hint: the rule `ask time.*` at {file}:1 asks")),
        "{ended:#?}"
    );
    assert!(!ended.stderr.contains("--allow"), "{ended:#?}");

    let ended = run("tools.output handle=a", &[]);
    assert!(
        ended
            .stderr
            .contains(&format!("hint: the rule `ask tools.*` at {file}:13 asks")),
        "{ended:#?}"
    );

    let ended = run("fs.read path=sub/inner.txt", &[]);
    assert!(
        ended.stderr.contains(&format!(
            "hint: the rule `deny every tool on fs:*:sub/**` at {file}:5 "
        )),
        "{ended:#?}"
    );
    assert!(
        !ended.stderr.contains("--allow") && !ended.stderr.contains("--grant"),
        "{ended:#?}"
    );

    // The call would ask even if granted.
    let ended = run("fs.write path=new content=x", &[]);
    assert!(ended.stderr.contains("--grant fs:write:new"), "{ended:#?}");
    assert!(
        ended
            .stderr
            .contains(&format!("`ask fs.write` at {file}:9 asks")),
        "{ended:#?}"
    );
    let ended = run(
        "fs.write path=new content=x ; fs.remove path=README.md",
        &["--allow", "fs:write:new"],
    );
    assert!(
        ended.stderr.contains("--allow fs:destroy:README.md") && !ended.stderr.contains("--grant"),
        "{ended:#?}"
    );
    assert_eq!(
        ended
            .stderr
            .matches(&format!("`ask fs.write` at {file}:9"))
            .count(),
        1,
        "{ended:#?}"
    );
}

#[test]
fn a_call_that_a_rule_refuses_is_sent_to_the_rule_as_well() {
    let crib = Crib::new();
    let [policy, file] = ruled(&crib);
    let call = |arguments: &[&str]| {
        crib.run(&[&["call"], arguments, &[&policy, &file]].concat())
            .expect(5)
            .stderr
    };
    let error = call(&["time.now"]);
    assert!(
        error.contains(&format!("hint: the rule `ask time.*` at {file}:1 asks")),
        "{error}"
    );
    let error = call(&["fs.read", "path=sub/inner.txt"]);
    assert!(
        error.contains(&format!("`deny every tool on fs:*:sub/**` at {file}:5 ")),
        "{error}"
    );
    let error = call(&[
        "fs.write",
        "--args",
        r#"{"path": "new", "content": "x"}"#,
        "--grant",
        "fs:write:new",
    ]);
    assert!(
        error.contains(&format!("`ask fs.write` at {file}:9 asks")) && !error.contains("--allow"),
        "{error}"
    );
}
