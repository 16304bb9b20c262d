//! The approval of a project's servers.

use std::path::Path;

use host::trust::{Approval, Approvals, Subject, TrustError};
use serde_json::{Value, json};
use tools_mcp::config::{McpFile, ServerEntry};
use tools_mcp::trust::{Executable, server_subject};

fn entry(fields: &Value) -> ServerEntry {
    let file = McpFile::from_text(
        "/w/.mcp.json",
        json!({"mcpServers": {"s": fields}}).to_string(),
    )
    .unwrap();
    file.server("s").unwrap().unwrap()
}

fn subject(fields: &Value) -> Subject {
    server_subject("/w", &entry(fields), None, None)
}

fn stdio() -> Value {
    json!({"command": "npx", "args": ["-y", "${PKG}"], "env": {"KEY": "${KEY}"}, "cwd": "/w/sub"})
}

#[test]
fn a_server_needs_approval_until_it_is_given_and_again_after_any_change() {
    let folder = tempfile::tempdir().unwrap();
    let approvals = Approvals::new(folder.path().join("approvals"));
    let subject = subject(&stdio());
    assert_eq!(approvals.find(&subject).unwrap(), Approval::Missing);
    approvals.approve(&subject, &subject.digest()).unwrap();
    assert_eq!(
        Approvals::new(approvals.folder()).find(&subject).unwrap(),
        Approval::Given
    );

    for (field, value) in [
        ("command", json!("node")),
        ("args", json!(["-y", "${PKG}", "more"])),
        ("args", json!(["-y ${PKG}"])),
        ("args", json!(["${PKG}", "-y"])),
        ("args", Value::Null),
        ("env", json!({"KEY": "${OTHER}"})),
        ("env", json!({"KEY": "${KEY}", "LD_PRELOAD": "x.so"})),
        ("cwd", json!("/w")),
        ("cwd", Value::Null),
    ] {
        let mut changed = stdio();
        changed[field] = value;
        let Approval::Outdated(changes) = approvals.find(&self::subject(&changed)).unwrap() else {
            panic!("{changed}")
        };
        assert_eq!(
            changes
                .iter()
                .map(|change| change.fact.as_str())
                .collect::<Vec<_>>(),
            [field]
        );
        assert_eq!(changes[0].before.as_ref(), Some(&stdio()[field]));
    }
    let other = json!({"command": "npx", "args": ["-y", "${PKG}"], "env": {"KEY": "${KEY}"}, "cwd": "/w/sub", "x": 1});
    assert_eq!(
        approvals.find(&self::subject(&other)).unwrap(),
        Approval::Given
    );
    assert!(approvals.revoke("/w", "s").unwrap() && !approvals.revoke("/w", "s").unwrap());
    assert_eq!(approvals.find(&subject).unwrap(), Approval::Missing);
}

#[test]
fn a_url_and_each_header_are_approved() {
    let folder = tempfile::tempdir().unwrap();
    let approvals = Approvals::new(folder.path());
    let http =
        json!({"url": "https://a.example/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}});
    approvals
        .approve(&subject(&http), &subject(&http).digest())
        .unwrap();
    for changed in [
        json!({"url": "https://b.example/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}}),
        json!({"url": "https://a.example/mcp", "headers": {"X-Key": "Bearer ${TOKEN}"}}),
        json!({"url": "https://a.example/mcp", "headers": {"Authorization": "Bearer ${AWS}"}}),
        json!({"url": "https://a.example/mcp"}),
        stdio(),
    ] {
        assert!(
            matches!(
                approvals.find(&subject(&changed)).unwrap(),
                Approval::Outdated(_)
            ),
            "{changed}"
        );
    }
}

#[test]
fn an_approval_is_for_one_workspace_and_one_server_and_for_what_was_seen() {
    let folder = tempfile::tempdir().unwrap();
    let approvals = Approvals::new(folder.path());
    let (seen, mut entry) = (subject(&stdio()), entry(&stdio()));
    approvals.approve(&seen, &seen.digest()).unwrap();
    for (workspace, server) in [("/other", "s"), ("/w", "t"), ("/w/s", "s")] {
        entry.name = server.parse().unwrap();
        let other = server_subject(workspace, &entry, None, None);
        assert_eq!(approvals.find(&other).unwrap(), Approval::Missing);
    }
    let other = subject(&json!({"command": "evil"}));
    assert!(matches!(
        approvals.approve(&other, &seen.digest()),
        Err(TrustError::Changed)
    ));
    assert_eq!(approvals.find(&seen).unwrap(), Approval::Given);
}

#[test]
fn another_executable_needs_approval_again() {
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    let program = |name: &str| {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
        path
    };
    let (one, other) = (program("one/tool"), program("other/tool"));
    std::fs::write(root.join("plain"), "").unwrap();
    let search = std::env::join_paths([
        Path::new("relative"),
        &root.join("first"),
        &root.join("one"),
    ])
    .unwrap();
    let find = |command: &str| Executable::find(command, &root, &search);
    let found = find("tool").unwrap();
    assert_eq!((&found.path, &found.target), (&one, &one));
    assert_eq!(find("other/tool").unwrap().path, other);
    assert!(
        ["plain", "./plain", "missing", "", "one", "tool.9", "tool."]
            .iter()
            .all(|command| find(command).is_none())
    );

    let approvals = Approvals::new(root.join("approvals"));
    let subject = || {
        server_subject(
            "/w",
            &entry(&json!({"command": "tool"})),
            find("tool").as_ref(),
            None,
        )
    };
    approvals.approve(&subject(), &subject().digest()).unwrap();
    assert_eq!(approvals.find(&subject()).unwrap(), Approval::Given);
    // An earlier folder of the search path has a link now, and then the link leads elsewhere.
    std::fs::create_dir(root.join("first")).unwrap();
    symlink(&one, root.join("first/tool")).unwrap();
    let Approval::Outdated(changes) = approvals.find(&subject()).unwrap() else {
        panic!()
    };
    assert_eq!(changes[0].fact, "executable");
    approvals.approve(&subject(), &subject().digest()).unwrap();
    std::fs::remove_file(root.join("first/tool")).unwrap();
    symlink(&other, root.join("first/tool")).unwrap();
    assert!(matches!(
        approvals.find(&subject()).unwrap(),
        Approval::Outdated(_)
    ));
}

#[test]
fn an_approval_is_for_the_user_only_and_another_ones_is_an_error() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let approvals = Approvals::new(folder.path().join("approvals"));
    let subject = subject(&stdio());
    approvals.approve(&subject, &subject.digest()).unwrap();
    let file = std::fs::read_dir(approvals.folder())
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(&file), mode(approvals.folder())), (0o600, 0o700));
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o620)).unwrap();
    assert!(matches!(
        approvals.find(&subject),
        Err(TrustError::Read { .. })
    ));
    std::fs::set_permissions(&file, PermissionsExt::from_mode(0o600)).unwrap();

    let evil = std::fs::read_to_string(&file)
        .unwrap()
        .replace("npx", "evil");
    std::fs::write(&file, evil).unwrap();
    assert!(matches!(
        approvals.find(&subject),
        Err(TrustError::Damaged { .. })
    ));
}

#[test]
fn processes_that_approve_at_the_same_time_leave_one_whole_approval() {
    let folder = tempfile::tempdir().unwrap();
    let approvals = Approvals::new(folder.path());
    let subjects: Vec<_> = (0..8)
        .map(|number| subject(&json!({"command": format!("c{number}")})))
        .collect();
    std::thread::scope(|scope| {
        for subject in &subjects {
            scope.spawn(|| {
                (0..20).for_each(|_| approvals.approve(subject, &subject.digest()).unwrap())
            });
        }
    });
    let given = subjects
        .iter()
        .filter(|subject| approvals.find(subject).unwrap() == Approval::Given);
    assert_eq!(given.count(), 1);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
