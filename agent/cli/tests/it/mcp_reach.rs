//! Servers that are reached by URL, and servers in a sandbox.

use serde_json::json;

use crate::mcp::write_user;
use crate::{Crib, Ended, ended};

const TOKEN: &str = "a-token-of-many-bytes";

#[tokio::test]
async fn a_server_by_url_is_used_with_a_header_from_a_variable() {
    let server = Crib::new();
    let token = server.write_private("token", TOKEN);
    let (mut child, url) = server
        .serve_http(&[
            "--names",
            "dotted",
            "--select",
            "time.now",
            "--token-file",
            &token,
        ])
        .await;
    let crib = Crib::new();
    let headers = json!({"Authorization": "Bearer ${CLOCK_TOKEN}"});
    write_user(
        &crib,
        &json!({"mcpServers": {"clock": {"type": "http", "url": url, "headers": headers}}}),
    );
    let run = |arguments: &[&str], token: &str| -> Ended {
        ended(crib.command(arguments).env("CLOCK_TOKEN", token), b"")
    };
    let refused = run(&["mcp", "test", "clock"], "another-token-of-bytes").expect(10);
    let shown = refused.stderr.replace('\n', " ");
    assert!(
        shown.contains("does not accept the header authorization"),
        "{refused:#?}"
    );
    assert!(
        run(&["mcp", "test", "clock"], TOKEN)
            .expect(0)
            .stdout
            .contains("1 tool")
    );
    let call = ["call", "mcp:clock/time.now", "--grant", "world:write:**"];
    assert!(run(&call, TOKEN).expect(0).stdout.contains("UTC"));
    let session = [
        "run",
        "mcp:clock/time.now",
        "--provider",
        "direct",
        "--allow",
        "world:write:**",
    ];
    let ran = run(&session, TOKEN).expect(0);
    assert!(
        ran.stdout.contains("UTC") && !format!("{ran:?}").contains(TOKEN),
        "{ran:#?}"
    );
    child.kill().await.unwrap();
    run(&call, TOKEN).expect(10);
}

#[cfg(all(feature = "builtin", target_os = "linux"))]
#[test]
fn a_server_with_a_grant_reads_no_file_outside_of_it() {
    let crib = Crib::new();
    // The sandbox hides programs elsewhere.
    let program = crib.root().join("sub/server");
    let own = std::env::current_exe().unwrap();
    std::fs::hard_link(&own, &program)
        .or_else(|_| std::fs::copy(&own, &program).map(drop))
        .unwrap();
    let read = |decisions: &serde_json::Value, path: &str| {
        let mut entry = crate::mcp_server::entry("Reads.", false);
        (entry["command"], entry["toolcrib"]) = (json!(program), decisions.clone());
        write_user(&crib, &json!({"mcpServers": {"s": entry}}));
        let path = format!("path={path}");
        crib.run(&["call", "mcp:s/read", &path, "--grant", "world:write:**"])
            .expect(0)
            .stdout
    };
    let root = crib.root();
    let inside = root.join("sub/inner.txt").to_str().unwrap().to_owned();
    let outside = crib
        .dir
        .path()
        .join("secret.txt")
        .to_str()
        .unwrap()
        .to_owned();
    let beside = root.join("README.md").to_str().unwrap().to_owned();
    // The control: without a grant there is no sandbox.
    assert_eq!(read(&json!({}), &outside), "secret\n");
    let granted = json!({"grant": ["fs:read:sub/**"]});
    assert_eq!(read(&granted, &inside), "inner\n");
    for path in [&outside, &beside] {
        let refused = read(&granted, path);
        assert!(
            refused.contains("PermissionDenied") || refused.contains("NotFound"),
            "{path}: {refused}"
        );
    }
}

#[cfg(all(feature = "default", target_os = "linux"))]
#[test]
fn a_server_with_a_grant_reaches_no_secret_no_channel_and_no_skill_of_the_user() {
    let crib = Crib::new();
    let root = crib.root();
    let program = root.join("sub/server");
    // No second name: its time of change moves when another test removes one of its own, as if a program had written it.
    std::fs::copy(std::env::current_exe().unwrap(), &program).unwrap();
    let [url, inbox, skill, policy] =
        ["url.txt", "in.jsonl", "kept/moon/SKILL.md", "policy.toml"].map(|path| root.join(path));
    crate::own_files::put(&url, "https://example.com/a-secret\n");
    crate::own_files::put(&skill, crate::skills::PLAIN);
    crate::own_files::put(&policy, "");
    crate::config::write_user(
        &crib,
        &format!(
            "skills.folders = [{:?}]\n[channels.team]\ntype = 'webhook'\nurl_file = {url:?}\n[channels.box]\ntype = 'file'\n\
             path = {:?}\ninbox = {inbox:?}\n",
            root.join("kept"),
            root.join("out.jsonl"),
        ),
    );
    let mut entry = crate::mcp_server::entry("Reads.", false);
    entry["command"] = json!(program);
    entry["toolcrib"] = json!({"grant": ["fs:read:**", "fs:write:**"]});
    write_user(&crib, &json!({"mcpServers": {"s": entry}}));
    let call = |arguments: &[&str]| {
        let flags = ["--grant", "world:write:**", "--policy", "policy.toml"];
        crib.run(&[&["call", "mcp:s/read"], arguments, &flags].concat())
            .expect(0)
            .stdout
    };
    let path = |path: &std::path::Path| format!("path={}", path.display());
    // The control: the server reads other files.
    assert!(call(&[&path(&root.join("README.md"))]).contains("# Hello"));
    let read = call(&[&path(&url)]);
    assert!(!read.contains("a-secret"), "{read}");
    for (file, before) in [(&inbox, ""), (&skill, crate::skills::PLAIN), (&policy, "")] {
        let written = call(&[&path(file), "append=x"]);
        assert_eq!(std::fs::read_to_string(file).unwrap(), before, "{written}");
    }
    let journal = root.join("own.db");
    let append = format!("mcp:s/read path={} append=x", journal.display());
    for (session, prompt) in [("s", "time.now"), ("t", &append)] {
        let flags = [
            "--allow",
            "world:write:**",
            "--session",
            session,
            "--journal",
            "own.db",
        ];
        let ended = crib
            .run(&[&["run", "--provider", "direct", prompt], &flags[..]].concat())
            .expect(0);
        assert!(!ended.stdout.contains("Ok("), "{ended:?}");
    }
}

#[cfg(all(feature = "builtin", target_os = "linux"))]
#[test]
fn the_error_of_a_server_with_a_grant_names_the_clause_or_the_toolchain_that_is_missing() {
    use std::os::unix::fs::PermissionsExt as _;

    let crib = Crib::new();
    let script = |path: &std::path::Path, text: &str| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let root = crib.root().canonicalize().unwrap();
    let pyenv = crib.dir.path().canonicalize().unwrap().join("pyenv");
    let of_toolchain = script(&pyenv.join("shims/server"), "#!/bin/sh\n");
    let elsewhere = script(
        &crib
            .dir
            .path()
            .canonicalize()
            .unwrap()
            .join("elsewhere/server"),
        "#!/bin/sh\n",
    );
    let ungranted = script(&root.join("tools/server"), "#!/bin/sh\n");
    let interpreted = script(&root.join("sub/server"), &format!("#!{elsewhere}\n"));
    let request = "import urllib.request; urllib.request.urlopen('http://one.example/')";
    for (command, args, grant, words) in [
        (
            &*of_toolchain,
            vec![],
            vec!["fs:read:**"],
            ["toolchain python", "programs.toolchains"],
        ),
        (
            &*elsewhere,
            vec![],
            vec!["fs:read:**"],
            ["walls hide", "install it below"],
        ),
        (
            &*ungranted,
            vec![],
            vec!["fs:read:sub/**"],
            ["walls hide", "fs:read:tools/server"],
        ),
        (
            &*interpreted,
            vec![],
            vec!["fs:read:**"],
            ["walls hide", "which runs the program"],
        ),
        (
            "/bin/sh",
            vec![&*elsewhere],
            vec!["fs:read:**"],
            ["walls hide", "elsewhere/server"],
        ),
        (
            "/usr/bin/python3",
            vec!["-c", request],
            vec!["fs:read:**", "net:*:two.example"],
            ["refused", "net:read:one.example"],
        ),
    ] {
        let entry = json!({"command": command, "args": args, "toolcrib": {"grant": grant}});
        write_user(&crib, &json!({"mcpServers": {"s": entry}}));
        let tested = ended(
            crib.command(&["mcp", "test", "s"])
                .env("PYENV_ROOT", &pyenv),
            b"",
        )
        .expect(10);
        let shown = tested.stderr.replace('\n', " ");
        assert!(
            words.iter().all(|word| shown.contains(word)),
            "{command}: {shown}"
        );
    }
}

#[cfg(all(feature = "builtin", target_os = "linux"))]
#[test]
fn the_error_of_a_server_with_a_grant_names_bubblewrap_where_it_is_missing() {
    let crib = Crib::new();
    let bubblewrap = std::path::Path::new("/usr/bin/bwrap");
    let writes = "open('note', 'w')";
    let reaches = "import urllib.request; urllib.request.urlopen('http://one.example/')";
    for (code, grant, words) in [
        (
            writes,
            "fs:write:**",
            ["without bubblewrap", "read-only", "install it"],
        ),
        (
            reaches,
            "net:*:one.example",
            ["without bubblewrap", "no network", "install it"],
        ),
    ] {
        let entry = json!({"command": "/usr/bin/python3", "args": ["-c", code],
            "toolcrib": {"grant": ["fs:read:**", grant]}});
        write_user(&crib, &json!({"mcpServers": {"s": entry}}));
        let test = crib.command(&["mcp", "test", "s"]);
        // Hides bubblewrap from the program, if it is there.
        let mut hiding = std::process::Command::new(bubblewrap);
        hiding.args(["--dev-bind", "/", "/", "--bind", "/dev/null"]);
        hiding.arg(bubblewrap).arg(test.get_program());
        hiding.args(test.get_args());
        hiding.current_dir(test.get_current_dir().unwrap());
        crate::cleared(&mut hiding);
        hiding.envs(
            test.get_envs()
                .filter_map(|(name, value)| Some((name, value?))),
        );
        let mut tested = if bubblewrap.exists() { hiding } else { test };
        let shown = ended(&mut tested, b"").expect(10).stderr.replace('\n', " ");
        assert!(words.iter().all(|word| shown.contains(word)), "{shown}");
    }
}
