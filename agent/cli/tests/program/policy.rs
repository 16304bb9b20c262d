use crate::{Crib, Ended};

/// A run of one call, with nobody to ask.
fn run(crib: &Crib, call: &str, flags: &[&str]) -> Ended {
    crib.run(&[&["run", call, "--provider", "direct"], flags].concat())
}

#[test]
fn a_grant_is_consent_to_write_and_never_to_destroy() {
    let crib = Crib::new();
    run(&crib, "fs.write path=new content=x", &["--grant", "fs:write:new"]).expect(0);
    let ended = run(&crib, "fs.remove path=new", &["--grant", "fs:*:**"]).expect(5);
    assert!(ended.stderr.contains("--allow fs:destroy:new"), "{ended:#?}");
    assert!(crib.root().join("new").exists());
    run(&crib, "fs.remove path=new", &["--allow", "fs:destroy:new"]).expect(0);
    assert!(!crib.root().join("new").exists());
}

#[test]
fn the_flag_that_a_refusal_names_works_at_once() {
    let crib = Crib::new();
    let ended = run(&crib, "fs.remove path=README.md", &[]).expect(5);
    assert!(ended.stderr.contains("add --allow fs:destroy:README.md"), "{ended:#?}");
    run(&crib, "fs.remove path=README.md", &["--allow", "fs:destroy:README.md"]).expect(0);
}

#[test]
fn a_call_that_a_person_types_is_consent_to_it() {
    let crib = Crib::new();
    crib.run(&["call", "fs.remove", "path=README.md"]).expect(5);
    crib.run(&["call", "fs.remove", "path=README.md", "--grant", "fs:destroy:README.md"]).expect(0);
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
        reason = "it is somebody else's"
        match = ["fs.read fs:read:sub/inner.txt"]

        [[policy]]
        verdict = "ask"
        tool = "time.*"
    "#;
    let file = crib.write("rules.toml", rules);
    let flags = ["--policy", file.to_str().unwrap(), "--grant", "fs:write:**"];
    run(&crib, "fs.write path=new content=x", &flags).expect(0);
    let ended = run(&crib, "fs.write path=sub/new content=x", &flags).expect(5);
    assert!(
        ended.stdout.contains("it is somebody else's") || ended.stderr.contains("it is somebody else's"),
        "{ended:#?}"
    );
    let ended = crib.run(&[&["call", "fs.read", "path=sub/inner.txt"], &flags[..]].concat()).expect(5);
    assert!(ended.stderr.contains("it is somebody else's"), "{ended:#?}");
    let ended = crib.run(&[&["call", "time.now", "--json"], &flags[..]].concat()).expect(5);
    assert_eq!(ended.document()["structured"]["error"]["kind"], "unapproved");
}

#[test]
fn a_walk_does_not_reach_what_a_rule_denies() {
    let crib = Crib::new();
    let file = crib.write("rules.toml", "[[policy]]\nverdict = \"deny\"\ntarget = \"fs:read:sub/**\"\n");
    let search = ["call", "fs.search", "pattern=inner", "--policy", file.to_str().unwrap()];
    let ended = crib.run(&search).expect(0);
    assert!(!ended.stdout.contains("inner.txt"), "{ended:#?}");
}

#[test]
fn the_policy_of_the_readme_is_one() {
    let crib = Crib::new();
    let readme = include_str!("../../README.md");
    let block = readme.split("```toml\n").find(|block| block.starts_with("[[policy]]"));
    let rules = block.unwrap().split("```").next().unwrap();
    let file = crib.write("rules.toml", rules);
    std::fs::write(crib.root().join(".env"), "secret").unwrap();
    let ended = crib.run(&["call", "fs.read", "path=.env", "--policy", file.to_str().unwrap()]).expect(5);
    assert!(ended.stderr.contains("secrets stay where they are"), "{ended:#?}");
}

#[test]
fn a_file_that_is_no_policy_is_pointed_out_with_the_place() {
    let crib = Crib::new();
    for (text, part) in [
        ("[[policy]]\nverdict = \"ask\"\n", "has to name `tool`, `target` or both"),
        ("[[policy]]\nverdict = \"ask\"\ntool = \"x\"\nmatch = [\"y\"]\n", "has to apply to \"y\" and does not"),
        ("[[policy]]\nverdict = \"ask\"\ntool = \"x\"\ntraget = \"y\"\n", "line 4"),
        ("[[polcy]]\n", "unknown field `polcy`"),
        ("=", "line 1"),
    ] {
        let file = crib.write("rules.toml", text);
        let ended = crib.run(&["call", "time.now", "--policy", file.to_str().unwrap()]).expect(2);
        assert!(ended.stderr.contains("rules.toml") && ended.stderr.contains(part), "{text}: {ended:#?}");
    }
    let ended = crib.run(&["call", "time.now", "--policy", "missing.toml"]).expect(2);
    assert!(ended.stderr.contains("missing.toml"), "{ended:#?}");
}
