use serde_json::json;

use crate::Crib;
use crate::config::{config, refused, write_project, write_user};

#[test]
fn rules_of_the_files_apply_and_each_is_listed_with_its_line() {
    let crib = Crib::new();
    write_user(
        &crib,
        "grants = ['fs:write:**']\n[[policy]]\nverdict = 'deny'\ntarget = 'fs:write:sub/**'\n",
    );
    write_project(
        &crib,
        "[[policy]]\nverdict = 'deny'\ntool = 'fs.read'\nreason = 'not here'\n",
    );
    let document = config(&crib, &[]);
    let rules: Vec<_> = document["settings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["key"] == "policy")
        .collect();
    assert_eq!(rules.len(), 2, "{document}");
    assert_eq!(
        (&rules[0]["origin"]["line"], &rules[1]["origin"]["line"]),
        (&json!(2), &json!(1)),
        "{document}"
    );

    let ended = crib.run(&["call", "fs.read", "path=README.md"]).expect(5);
    assert!(ended.stderr.contains("not here"), "{ended:#?}");
    crib.run(&["call", "fs.write", "path=sub/x", "content=x"])
        .expect(5);
    // A grant in the user's file is consent, like a flag.
    crib.run(&["run", "fs.write path=x content=x"]).expect(0);
    crib.run(&[
        "run",
        "fs.write path=x content=y",
        "--config",
        "/dev/null",
        "--grant",
        "fs:write:x",
    ])
    .expect(0);
    crib.run(&["run", "fs.remove path=x", "--grant", "fs:destroy:x"])
        .expect(5);

    write_project(&crib, "[[policy]]\nverdict = 'deny'\ntoool = 'fs.read'\n");
    refused(&crib, &["toolcrib.toml:3: policy is invalid", "toool"]);
    write_project(&crib, "policy = 'deny'\n");
    refused(&crib, &["toolcrib.toml:1: policy must be a list of tables"]);
}

#[test]
fn grants_of_the_user_hold_for_calls_and_runs() {
    let crib = Crib::new();
    let write = ["call", "fs.write", "path=new.txt", "content=x"];
    crib.run(&write).expect(5);
    write_user(&crib, "grants = ['fs:write:new.txt']");
    crib.run(&write).expect(0);
    crib.run(&["run", "fs.write path=new.txt content=y"])
        .expect(0);
    assert_eq!(
        std::fs::read_to_string(crib.root().join("new.txt")).unwrap(),
        "y"
    );
    crib.run(&["call", "fs.write", "path=other.txt", "content=x"])
        .expect(5);
    crib.run(&[&write[..], &["--no-default-grants"]].concat())
        .expect(5);
    crib.run(&[&write[..], &["--no-config"]].concat()).expect(5);
}

#[test]
fn a_profile_picks_the_tools_and_the_limits_of_a_session() {
    let crib = Crib::new();
    write_user(
        &crib,
        "[profiles.clock]\nselect = ['time.*']\n[profiles.clock.limits]\nmax_steps = 2",
    );
    crib.run(&["run", "time.now", "--profile", "clock"])
        .expect(0);
    crib.run(&["run", "fs.list", "--profile", "clock"])
        .expect(3);
    crib.run(&["run", "fs.list"]).expect(0);
    let script = crib.write(
        "turns.json",
        r#"[{"calls": [{"name": "time.now"}]}, {"calls": [{"name": "time.now"}]}, {"text": "late"}]"#,
    );
    let play = ["run", "x", "--script", &script];
    crib.run(&[&play[..], &["--profile", "clock"]].concat())
        .expect(7);
    crib.run(&[&play[..], &["--profile", "clock", "--max-steps", "3"]].concat())
        .expect(0);
    let ended = crib.run(&["run", "x", "--profile", "clokc"]).expect(2);
    assert!(
        ended
            .stderr
            .contains("--profile: there is no profile \"clokc\"; the profiles are clock"),
        "{ended:#?}"
    );
}

#[test]
fn the_time_of_a_call_can_be_limited() {
    let crib = Crib::new();
    write_user(&crib, "limits.call_timeout = '0.000001ms'");
    crib.run(&["call", "time.now"]).expect(6);
    crib.run(&["run", "time.now"]).expect(6);
    crib.run(&["call", "time.now", "--timeout", "10s"])
        .expect(0);
}
