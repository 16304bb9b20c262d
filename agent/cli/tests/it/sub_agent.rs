//! Sub-agents, the plan and the session's model in the program.

use serde_json::json;

use crate::Crib;

/// A prompt for a sub-agent, which has no model either and reads its task as calls.
const SPAWN: &str = r#"agent.spawn name=helper task="fs.list path=sub""#;

#[test]
fn a_sub_agent_starts_if_that_is_granted_and_its_calls_are_shown() {
    let crib = Crib::new();
    let ended = crib
        .run(&["run", SPAWN, "--grant", "agent:write:helper"])
        .expect(0);
    assert!(ended.stdout.contains("inner.txt"), "{ended:#?}");
    assert!(
        ended.stderr.contains("-> helper: fs.list") && ended.stderr.contains("<- helper: fs.list"),
        "{ended:#?}"
    );

    let ended = crib.run(&["run", SPAWN]).expect(5);
    assert!(
        ended.stderr.contains("--grant agent:write:helper"),
        "{ended:#?}"
    );
    assert!(!ended.stderr.contains("-> helper"), "{ended:#?}");
}

#[test]
fn the_summary_has_the_amounts_of_sub_agents() {
    let crib = Crib::new();
    let arguments = ["run", SPAWN, "--grant", "agent:write:helper"];
    let ended = crib.run(&arguments).expect(0);
    assert!(
        ended.stderr.contains("summary: 2 steps, 1 call, "),
        "{ended:#?}"
    );
    assert!(
        ended.stderr.contains("; in all 4 steps, 2 calls\n"),
        "{ended:#?}"
    );
    let ended = crib
        .run(&[&arguments[..], &["--output", "stream-json"]].concat())
        .expect(0);
    let outcome = crate::stream::check(&ended);
    assert_eq!(
        outcome["spent"],
        json!({"steps": 4, "calls": 2, "tokens": 0, "cost": 0})
    );
    assert_eq!(
        (outcome["steps"].as_u64(), outcome["calls"].as_u64()),
        (Some(2), Some(1))
    );

    let ended = crib.run(&["run", "time.now"]).expect(0);
    assert!(!ended.stderr.contains("in all"), "{ended:#?}");
}

#[test]
fn a_refused_call_of_a_sub_agent_has_a_hint_too() {
    let crib = Crib::new();
    let write = r#"agent.spawn name=helper task="fs.write path=new content=x""#;
    let ended = crib.run(&["run", write, "--grant", "agent:write:**"]);
    assert!(ended.stderr.contains("--grant fs:write:new"), "{ended:#?}");
    assert!(!crib.root().join("new").exists());
    let ended = crib.run(&[
        "run",
        write,
        "--grant",
        "agent:write:**",
        "--grant",
        "fs:write:new",
    ]);
    assert!(crib.root().join("new").exists(), "{ended:#?}");
}

#[test]
fn a_sub_agent_in_the_background_answers_a_later_prompt() {
    let crib = Crib::new();
    let prompts = format!("{SPAWN} background=true\ntask.result task=t1 wait=60\ntask.list\n");
    let ended = crib
        .run_with_input(
            &["chat", "--grant", "agent:write:helper"],
            prompts.as_bytes(),
        )
        .expect(0);
    assert!(
        ended.stdout.contains("task.result with task=t1") && ended.stdout.contains("inner.txt"),
        "{ended:#?}"
    );
    assert!(
        ended
            .stdout
            .contains("t1: answered: 2 steps, 1 call: agent.spawn: helper: fs.list path=sub"),
        "{ended:#?}"
    );
    assert!(
        ended
            .stderr
            .contains("task t1 has ended: answered: 2 steps, 1 call: agent.spawn: helper: fs"),
        "{ended:#?}"
    );
}

/// The turns of a session whose sub-agent, which plays them too, cannot start another one and runs the program.
#[cfg(feature = "default")]
fn sleeping(crib: &Crib) -> String {
    let spawn =
        json!({"name": "helper", "task": "sleep", "tools": ["exec.run"], "background": true});
    let turns = json!([
        {"calls": [{"name": "agent.spawn", "arguments": spawn}]},
        {"calls": [
            {"name": "task.result", "arguments": {"task": "t1", "wait": 300}},
            {"name": "exec.run", "arguments": {"program": "sleep", "args": ["300"]}},
        ]},
        {"text": "slept"},
    ]);
    crib.write("sleep.json", &turns.to_string())
}

#[cfg(feature = "default")]
#[test]
fn a_session_that_was_killed_with_a_background_sub_agent_says_so_and_repeats_none_of_its_calls() {
    use std::io::{BufRead as _, BufReader};
    use std::process::Stdio;

    let crib = Crib::new();
    if crib
        .run(&["doctor"])
        .stdout
        .contains("No programs can be run")
    {
        return;
    }
    let script = sleeping(&crib);
    let flags = [
        "--script",
        &script,
        "--grant",
        "agent:write:**",
        "--output",
        "stream-json",
    ];
    let mut command =
        crib.command(&[&["run", "x", "--allow", "exec:write:sleep 300"], &flags[..]].concat());
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut events =
        lines.map(|line| serde_json::from_str::<serde_json::Value>(&line.unwrap()).unwrap());
    let mut seen = Vec::new();
    // Both agents have the call of the program, one of which may wait for the other.
    let is_running = |seen: &[serde_json::Value]| {
        let is_start = |event: &serde_json::Value| {
            event["type"] == "call_started" && event["name"] == "exec.run"
        };
        seen.iter().any(is_start) && seen.iter().any(|event| is_start(&event["event"]))
    };
    while !is_running(&seen) {
        seen.push(events.next().unwrap());
    }
    child.kill().unwrap();
    child.wait().unwrap();

    let events = crib
        .run(&[&["run", "--resume"], &flags[..]].concat())
        .expect(0)
        .documents();
    let results: Vec<_> = events
        .iter()
        .filter(|event| event["type"] == "result")
        .collect();
    let texts: Vec<_> = results
        .iter()
        .map(|result| result["content"].to_string())
        .collect();
    assert_eq!(texts.len(), 2, "{events:#?}");
    let has = |text: &str| texts.iter().any(|found| found.contains(text));
    assert!(
        has("the task is lost: it ended with the process that ran it: helper: sleep"),
        "{texts:?}"
    );
    assert!(
        has("exec.run"),
        "a call that is not permitted any more: {texts:?}"
    );
    assert!(
        events.iter().all(|event| event["type"] != "sub_agent"),
        "{events:#?}"
    );
    let ended = events
        .iter()
        .find(|event| event["type"] == "task_ended")
        .unwrap();
    assert_eq!(
        (&ended["task"], &ended["name"]),
        (&json!("t1"), &json!("agent.spawn"))
    );
}

#[test]
fn the_stream_tells_whose_event_it_is() {
    let crib = Crib::new();
    let ended = crib
        .run(&[
            "run",
            SPAWN,
            "--grant",
            "agent:write:**",
            "--output",
            "stream-json",
        ])
        .expect(0);
    crate::stream::check(&ended);
    let lines = ended.documents();
    let of_agent: Vec<_> = lines
        .iter()
        .filter(|line| line["type"] == "sub_agent")
        .collect();
    let kinds: Vec<_> = of_agent
        .iter()
        .map(|line| line["event"]["type"].as_str().unwrap())
        .collect();
    assert_eq!(
        kinds,
        ["call_started", "result", "text", "outcome"],
        "{ended:#?}"
    );
    let call = lines
        .iter()
        .find(|line| line["type"] == "call_started")
        .unwrap();
    assert!(
        of_agent
            .iter()
            .all(|line| line["agent"] == "helper" && line["call"] == call["id"]),
        "{ended:#?}"
    );
}

#[test]
fn a_changed_plan_is_shown() {
    let crib = Crib::new();
    let items = json!([{"text": "look", "status": "done"}, {"text": "mend\u{1b}[2J"}]);
    let prompt = format!("todo.write items={items}");
    let ended = crib.run(&["run", &prompt]).expect(0);
    assert!(
        ended
            .stderr
            .contains("plan: 2 steps\n   [x] look\n   [ ] mend"),
        "{ended:#?}"
    );
    assert!(!ended.stderr.contains('\u{1b}'), "{ended:#?}");
    let ended = crib
        .run(&["run", &prompt, "--output", "stream-json"])
        .expect(0);
    crate::stream::check(&ended);
    let lines = ended.documents();
    let changed: Vec<_> = lines
        .iter()
        .filter(|line| line["type"] == "plan_changed")
        .collect();
    assert_eq!(
        (changed.len(), &changed[0]["items"][1]["status"]),
        (1, &json!("open"))
    );
}

#[cfg(feature = "default")]
#[test]
fn a_resumed_session_has_its_plan() {
    let crib = Crib::new();
    crib.run(&["run", r#"todo.write items=[{"text":"look"}]"#])
        .expect(0);
    let ended = crib
        .run_with_input(&["chat", "--resume"], b"todo.read\n")
        .expect(0);
    assert!(ended.stdout.contains("[open] look"), "{ended:#?}");
}

#[test]
fn the_sessions_model_may_be_asked_and_another_one_if_it_is_granted() {
    let crib = Crib::new();
    let asking = |arguments: &str| {
        let call = format!(
            r#"{{"text": "I ask.", "calls": [{{"name": "llm.generate", "arguments": {arguments}}}]}}"#
        );
        crib.script(&[&call, r#"{"text": "done"}"#])
    };
    let run = |script: &str, flags: &[&str]| {
        crib.run(&[&["run", "x", "--script", script], flags].concat())
            .expect(0)
    };
    // The first turn of the script is the answer to the request too.
    let ended = run(&asking(r#"{"prompt": "?"}"#), &["--output", "stream-json"]);
    let lines = ended.documents();
    let result = lines.iter().find(|line| line["type"] == "result").unwrap();
    assert_eq!(result["content"][0]["text"], "I ask.", "{ended:#?}");
    let started = lines
        .iter()
        .find(|line| line["type"] == "call_started")
        .unwrap();
    assert_eq!(
        started["targets"],
        serde_json::json!(["llm:read:scripted/default"]),
        "{ended:#?}"
    );
    let rules = crib.write(
        "rules.toml",
        "[[policy]]\nverdict = 'ask'\ntarget = 'llm:read:scripted/**'\n",
    );
    for flags in [["--no-default-grants"].as_slice(), &["--policy", &rules]] {
        let ended = run(&asking(r#"{"prompt": "?"}"#), flags);
        assert!(
            ended.stderr.contains("llm:read:scripted/default"),
            "{flags:?} {ended:#?}"
        );
    }

    let other = asking(r#"{"prompt": "?", "model": "direct/default"}"#);
    let ended = run(&other, &[]);
    assert!(
        ended.stderr.contains("--grant llm:read:direct/default"),
        "{ended:#?}"
    );
    let ended = run(&other, &["--grant", "llm:read:direct/**"]);
    assert!(
        ended.stderr.contains("llm.generate failed") && !ended.stderr.contains("--grant"),
        "{ended:#?}"
    );
}
