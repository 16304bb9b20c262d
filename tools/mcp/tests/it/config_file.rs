//! Files of servers.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::{Value, json};
use tools_mcp::client::OAuthClient;
use tools_mcp::config::{ConfigError, FileOwner, McpFile, ServerSettings, Transport, Variables};

fn file(document: &Value) -> McpFile {
    McpFile::from_text("/p/.mcp.json", document.to_string()).unwrap()
}

fn stdio(command: &str, args: &[&str]) -> Transport {
    let args = args.iter().map(ToString::to_string).collect();
    Transport::Stdio {
        command: command.to_owned(),
        args,
        env: BTreeMap::new(),
        cwd: None,
    }
}

#[test]
fn servers_of_other_programs_are_read() {
    let file = file(&json!({
        "mcpServers": {
            "files": {
                "type": "stdio", "command": "npx", "args": ["-y", "server"], "env": {"KEY": "${KEY}"}, "cwd": "/w",
                "disabled": true, "autoApprove": ["read"], "timeout": 60,
            },
            "docs": {"url": "https://example.org/mcp", "headers": {"Authorization": "Bearer ${TOKEN}"}, "args": null},
            "typed": {"type": "streamable-http", "url": "https://example.org/mcp"},
        },
        "inputs": [],
    }));
    let servers: BTreeMap<_, _> = file
        .servers()
        .map(|(name, server)| (name.to_owned(), server.unwrap()))
        .collect();
    let Transport::Stdio {
        command,
        args,
        env,
        cwd,
    } = &servers["files"].transport
    else {
        panic!("{servers:?}")
    };
    assert_eq!(
        (command.as_str(), args.len(), cwd.as_deref()),
        ("npx", 2, Some("/w"))
    );
    assert_eq!(env["KEY"], "${KEY}");
    assert!(servers["files"].is_disabled && !servers["docs"].is_disabled);
    let Transport::Http { url, headers, .. } = &servers["docs"].transport else {
        panic!("{servers:?}")
    };
    assert_eq!(
        (url.as_str(), headers["Authorization"].as_str()),
        ("https://example.org/mcp", "Bearer ${TOKEN}")
    );
    assert_eq!(
        servers["docs"]
            .variables()
            .unwrap()
            .into_iter()
            .collect::<Vec<_>>(),
        ["TOKEN"]
    );
    assert!(matches!(servers["typed"].transport, Transport::Http { .. }));
}

#[test]
fn the_time_limit_of_calls_is_a_text_or_a_number_of_milliseconds_or_seconds() {
    for (limit, seconds) in [
        (json!(60), Some(60)),
        (json!(60_000), Some(60)),
        (json!("90s"), Some(90)),
        (json!("2m"), Some(120)),
        (json!(null), None),
    ] {
        let file = file(&json!({"mcpServers": {"s": {"command": "a", "timeout": limit}}}));
        let (_, server) = file.servers().next().unwrap();
        let read = server.unwrap().call_timeout;
        assert_eq!(read, seconds.map(Duration::from_secs), "{limit}");
    }
    let file = file(&json!({"mcpServers": {"s": {"command": "a", "timeout": "soon"}}}));
    let (_, server) = file.servers().next().unwrap();
    assert!(server.unwrap_err().to_string().contains("timeout"));
}

#[test]
fn a_mistake_names_its_place_and_affects_no_other_server() {
    for (entry, place) in [
        (json!([]), "mcpServers.s"),
        (json!({}), "mcpServers.s.command"),
        (
            json!({"command": "a", "url": "https://b"}),
            "mcpServers.s.url",
        ),
        (json!({"command": 1}), "mcpServers.s.command"),
        (
            json!({"command": "a", "args": ["b", 2]}),
            "mcpServers.s.args[1]",
        ),
        (json!({"command": "a", "args": "b"}), "mcpServers.s.args"),
        (
            json!({"command": "a", "env": {"PORT": 1}}),
            "mcpServers.s.env.PORT",
        ),
        (
            json!({"command": "a", "headers": {"b": "c"}}),
            "mcpServers.s.headers",
        ),
        (
            json!({"url": "https://a", "env": {"b": "c"}}),
            "mcpServers.s.env",
        ),
        (
            json!({"url": "https://a", "type": "sse"}),
            "mcpServers.s.type",
        ),
        (
            json!({"url": "https://a", "type": "stdio"}),
            "mcpServers.s.type",
        ),
        (
            json!({"command": "a", "disabled": "no"}),
            "mcpServers.s.disabled",
        ),
    ] {
        let file = file(&json!({"mcpServers": {"s": entry, "good": {"command": "a"}}}));
        let error = file.server("s").unwrap_err();
        assert!(
            matches!(&error, ConfigError::Value { place: found, .. } if found == place),
            "{place}: {error}"
        );
        assert!(
            error.to_string().starts_with("/p/.mcp.json: mcpServers.s"),
            "{error}"
        );
        assert!(file.server("good").unwrap().is_some());
        assert_eq!(
            file.servers().filter(|(_, server)| server.is_ok()).count(),
            1
        );
    }
    let error = file(&json!({"mcpServers": {"my server": {"command": "a"}}}))
        .server("my server")
        .unwrap_err();
    let text = error.to_string();
    assert!(
        text.contains("cannot be the name of an MCP server"),
        "{text}"
    );
}

#[test]
fn a_file_that_is_not_json_is_an_error_with_a_position() {
    for text in [
        "{\"mcpServers\": {} // comment\n}",
        "{\"mcpServers\": {\"a\": {\"command\": \"b\"},}}",
        "{",
    ] {
        let error = McpFile::from_text("/p/.mcp.json", text)
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("line 1 column") || error.contains("line 2 column"),
            "{error}"
        );
        assert!(error.contains("neither comments nor commas"), "{error}");
    }
    let twice = r#"{"mcpServers": {"a": {"command": "good"}, "a": {"command": "evil"}}}"#;
    assert!(
        McpFile::from_text("/p/.mcp.json", twice)
            .unwrap_err()
            .to_string()
            .contains("is repeated")
    );
    for text in ["[]", r#"{"mcpServers": []}"#] {
        let error = McpFile::from_text("/p/.mcp.json", text).unwrap_err();
        assert!(error.to_string().contains("expected an object"), "{error}");
    }
    assert_eq!(
        McpFile::from_text("/p/.mcp.json", " \n")
            .unwrap()
            .servers()
            .count(),
        0
    );
}

#[test]
fn every_text_of_an_entry_is_expanded_and_a_fault_names_its_place() {
    let entry = |text: &str| {
        let (stdio, http) = (
            json!({"command": text, "args": [text], "env": {"K": text}, "cwd": text}),
            json!({
                "url": text, "headers": {"H": text},
                "oauth": {"clientId": text, "clientSecret": text, "clientMetadataUrl": text, "callbackPort": 8080},
            }),
        );
        file(&json!({"mcpServers": {"stdio": stdio, "http": http}}))
    };
    let variables = Variables::all([("A".to_owned(), "v".to_owned())]);
    let file = entry("${A}");
    let expanded = |name| {
        file.server(name)
            .unwrap()
            .unwrap()
            .expand(&variables)
            .unwrap()
    };
    let env = BTreeMap::from([("K".to_owned(), "v".to_owned())]);
    let (v, args) = ("v".to_owned(), vec!["v".to_owned()]);
    assert_eq!(
        expanded("stdio"),
        Transport::Stdio {
            command: v.clone(),
            args,
            env,
            cwd: Some(v.clone())
        }
    );
    let headers = BTreeMap::from([("H".to_owned(), v.clone())]);
    let text = Some(v.clone());
    let oauth = OAuthClient {
        id: text.clone(),
        secret: text.clone(),
        document: text,
        callback_port: Some(8080),
    };
    assert_eq!(
        expanded("http"),
        Transport::Http {
            url: v,
            headers,
            oauth
        }
    );

    let entries = json!({"mcpServers": {"s": {"command": "a", "args": ["b", "${B}"]}}});
    let error = McpFile::from_text("/p/.mcp.json", entries.to_string())
        .unwrap()
        .server("s")
        .unwrap()
        .unwrap();
    let error = error.expand(&variables).unwrap_err();
    assert!(
        matches!(&error, ConfigError::Value { place, fault, .. } if place == "mcpServers.s.args[1]" && fault.contains("variable B is not set")),
        "{error}"
    );
}

#[test]
fn writing_keeps_unknown_fields_and_the_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("new").join("mcp.json");
    let mut created = McpFile::read(&path).unwrap();
    created
        .set(&"a".parse().unwrap(), &stdio("one", &["x"]))
        .unwrap();
    created.write(FileOwner::User).unwrap();
    assert_eq!(
        std::fs::read_to_string(&path)
            .unwrap()
            .matches("\"one\"")
            .count(),
        1
    );

    let text = json!({
        "inputs": [1],
        "mcpServers": {"z": {"command": "z", "autoApprove": []}, "a": {"url": "https://a", "headers": {}, "x": 1}},
        "toolcrib": {"projects": {"/w": {"p": {"grant": []}}}},
    });
    std::fs::write(&path, text.to_string()).unwrap();
    let mut file = McpFile::read(&path).unwrap();
    file.set(&"a".parse().unwrap(), &stdio("two", &[])).unwrap();
    assert!(file.remove("z") && !file.remove("z"));
    let settings =
        ServerSettings::default().with_variables(["B".to_owned(), "A".to_owned(), "B".to_owned()]);
    file.set_project_variables("/w", "p", &settings).unwrap();
    file.write(FileOwner::User).unwrap();
    let written: Value = serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap();
    let expected = json!({
        "inputs": [1],
        "mcpServers": {"a": {"x": 1, "command": "two"}},
        "toolcrib": {"projects": {"/w": {"p": {"grant": [], "variables": ["A", "B"]}}}},
    });
    assert_eq!(written, expected);
    assert_eq!(
        McpFile::read(&path)
            .unwrap()
            .project_settings("/w", "p")
            .unwrap()
            .variables,
        ["A", "B"]
    );
    assert_eq!(
        McpFile::read(&path)
            .unwrap()
            .project_settings("/other", "p")
            .unwrap(),
        ServerSettings::default()
    );
}

#[test]
fn a_file_that_changed_meanwhile_is_not_overwritten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.json");
    let (mut one, mut other) = (McpFile::read(&path).unwrap(), McpFile::read(&path).unwrap());
    for file in [&mut one, &mut other] {
        file.set(&"a".parse().unwrap(), &stdio("one", &[])).unwrap();
    }
    one.write(FileOwner::User).unwrap();
    assert!(matches!(
        other.write(FileOwner::User).unwrap_err(),
        ConfigError::Changed { .. }
    ));
    one.write(FileOwner::User).unwrap();
}

#[test]
fn the_users_file_is_for_the_user_only_and_a_link_stays() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let (target, path) = (
        folder.path().join("dotfile.json"),
        folder.path().join("mcp.json"),
    );
    std::os::unix::fs::symlink(&target, &path).unwrap();
    let mut file = McpFile::read(&path).unwrap();
    std::fs::write(&target, "").unwrap();
    std::fs::set_permissions(&target, PermissionsExt::from_mode(0o640)).unwrap();
    file = McpFile::read(file.path()).unwrap();
    file.set(&"a".parse().unwrap(), &stdio("one", &[])).unwrap();
    file.write(FileOwner::User).unwrap();
    assert!(path.symlink_metadata().unwrap().is_symlink());
    let mode =
        |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&target), 0o640);

    let created = folder.path().join("own").join("mcp.json");
    let mut file = McpFile::read(&created).unwrap();
    file.write(FileOwner::User).unwrap();
    assert_eq!(
        (mode(&created), mode(created.parent().unwrap())),
        (0o600, 0o700)
    );
}

#[test]
fn a_tool_that_the_user_permits_is_added_to_those_of_its_server() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("mcp.json");
    let text = json!({"mcpServers": {"a": {"command": "one", "toolcrib": {"sampling": true}}, "b": {"command": "one"}}});
    std::fs::write(&path, text.to_string()).unwrap();
    let mut file = McpFile::read(&path).unwrap();
    for (server, workspace, tool) in [
        ("a", None, "read"),
        ("a", None, "read"),
        ("a", None, "w\\*"),
        ("b", Some("/w"), "read"),
    ] {
        file.permit(server, workspace, tool).unwrap();
    }
    assert!(file.permit("a", None, "[").is_err());
    let allowed = |settings: ServerSettings| {
        let server = "s".parse().unwrap();
        settings
            .clauses(&server)
            .map(|clause| clause.to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(allowed(file.settings("b").unwrap()), [""; 0]);
    assert_eq!(
        allowed(file.project_settings("/w", "b").unwrap()),
        ["world:write:mcp:s/read"]
    );
    // The last one was refused, and is not usable.
    assert!(file.settings("a").is_err());
    let mut file = McpFile::read(&path).unwrap();
    assert!(file.settings("a").unwrap().allow.is_empty());
    for _ in 0..2 {
        file.permit("a", None, "read").unwrap();
    }
    assert_eq!(
        allowed(file.settings("a").unwrap()),
        ["world:write:mcp:s/read"]
    );
    let text = json!({"mcpServers": {"a": {"command": "one", "toolcrib": {"sampling": true, "allow": ["read", "w\\*"]}}}});
    let file = McpFile::from_text("mcp.json", text.to_string()).unwrap();
    assert_eq!(
        allowed(file.settings("a").unwrap()),
        ["world:write:mcp:s/read", "world:write:mcp:s/w\\*"]
    );
    for (allow, expected) in [
        (json!(true), &["world:write:mcp:s/**"][..]),
        (json!(false), &[]),
        (json!(null), &[]),
    ] {
        let text = json!({"mcpServers": {"a": {"command": "one", "toolcrib": {"allow": allow}}}});
        let file = McpFile::from_text("mcp.json", text.to_string()).unwrap();
        assert_eq!(allowed(file.settings("a").unwrap()), expected);
    }
}
