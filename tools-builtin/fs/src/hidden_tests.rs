use std::fs;

use serde_json::{Value, json};
use tools_workspace::Workspace;

use crate::fixture::Fixture;

/// A fixture whose workspace hides these paths below its root.
fn hiding(fixture: Fixture, places: &[&str]) -> Fixture {
    let places = places.iter().map(|place| fixture.root().join(place));
    let workspace = Workspace::open(fixture.root())
        .unwrap()
        .with_hidden(places)
        .unwrap();
    let cx = fixture.cx().clone().with_service(workspace);
    fixture.with_context(cx)
}

async fn refused(fixture: &Fixture, tool: &str, arguments: Value) -> String {
    fixture.call(tool, arguments).await.unwrap_err().to_string()
}

#[tokio::test]
async fn a_hidden_place_is_neither_listed_nor_found() {
    let fixture = Fixture::with_files(&[
        (".conf/toolcrib/own.toml", "canary"),
        (".conf/other", "canary"),
    ]);
    let fixture = hiding(fixture, &[".conf/toolcrib"]);
    let listed = fixture.value("fs.list", json!({"path": ".conf"})).await;
    assert_eq!(
        listed["entries"],
        json!([{"name": "other", "kind": "file", "size": 6}])
    );
    let found = fixture
        .value("fs.glob", json!({"pattern": "**", "ignored": true}))
        .await;
    assert_eq!(found["paths"], json!([".conf/", ".conf/other"]));
    let hits = fixture
        .text("fs.search", json!({"pattern": "canary", "ignored": true}))
        .await;
    assert!(
        hits.contains("other") && !hits.contains("toolcrib"),
        "{hits}"
    );
}

#[tokio::test]
async fn reading_a_hidden_place_is_answered_as_if_it_were_not_there() {
    let there = Fixture::new();
    there.write(".conf/toolcrib/own.toml", "canary");
    let not_there = Fixture::new();
    not_there.write(".conf/x", "");
    let [there, not_there] = [there, not_there].map(|fixture| hiding(fixture, &[".conf/toolcrib"]));
    for (tool, path) in [
        ("fs.read", ".conf/toolcrib/own.toml"),
        ("fs.read", ".conf/toolcrib"),
        ("fs.list", ".conf/toolcrib"),
        ("fs.search", ".conf/toolcrib/deep/er"),
        ("fs.glob", ".conf/toolcrib"),
        ("fs.remove", ".conf/toolcrib"),
        ("fs.read", ".conf/toolcri"),
        ("fs.read", ".conf/TOOLCRIB/own.toml"),
    ] {
        let arguments = json!({"path": path, "pattern": "x"});
        let arguments = match tool {
            "fs.search" | "fs.glob" => arguments,
            _ => json!({"path": path}),
        };
        let message = refused(&there, tool, arguments.clone()).await;
        assert!(message.contains("there is no `.conf/"), "{message}");
        assert_eq!(
            message,
            refused(&not_there, tool, arguments).await,
            "{tool} {path}"
        );
    }
    let message = refused(
        &there,
        "fs.move",
        json!({"from": ".conf/toolcrib/own.toml", "to": "x"}),
    )
    .await;
    assert!(
        message.contains("there is no `.conf/toolcrib`"),
        "{message}"
    );
}

#[tokio::test]
async fn nothing_is_written_to_a_hidden_place_whether_it_exists_or_not() {
    for exists in [true, false] {
        let fixture = Fixture::with_files(&[("mine/toolcrib/own.toml", "mine")]);
        if exists {
            fixture.write(".conf/toolcrib/own.toml", "theirs");
        }
        let before = fixture.names(".");
        let fixture = hiding(fixture, &[".conf/toolcrib"]);
        for path in [".conf/toolcrib/new", ".conf/toolcrib", ".conf/Toolcrib/a/b"] {
            let write = json!({"path": path, "content": "x", "parents": true});
            fixture.fails("fs.write", write, "out of reach").await;
            let message = refused(&fixture, "fs.move", json!({"from": "mine", "to": path})).await;
            assert!(
                message.contains("out of reach") || message.contains("there is no directory"),
                "{message}"
            );
        }
        fixture
            .fails(
                "fs.move",
                json!({"from": "mine", "to": ".conf"}),
                "may not touch",
            )
            .await;
        assert_eq!(fixture.names("."), before);
        fixture
            .text(
                "fs.write",
                json!({"path": ".conf/mine", "content": "x", "parents": true}),
            )
            .await;
    }
}

#[tokio::test]
async fn a_directory_with_a_hidden_path_below_stays_whole() {
    let fixture = Fixture::with_files(&[
        ("home/.conf/a", ""),
        ("home/.conf/toolcrib/own.toml", "theirs"),
        ("home/z", ""),
    ]);
    let fixture = hiding(fixture, &["home/.conf/toolcrib", "home/.cache/toolcrib"]);
    for (tool, arguments) in [
        ("fs.remove", json!({"path": "home", "recursive": true})),
        (
            "fs.remove",
            json!({"path": "home/.conf", "recursive": true}),
        ),
        ("fs.move", json!({"from": "home", "to": "away"})),
        ("fs.move", json!({"from": "home/.conf", "to": "away"})),
    ] {
        fixture.fails(tool, arguments, "may not touch").await;
    }
    assert_eq!(fixture.names("home"), [".conf", "z"]);
    assert_eq!(fixture.names("home/.conf"), ["a", "toolcrib"]);
    assert_eq!(fixture.names("."), ["home"]);
}

#[tokio::test]
async fn hidden_paths_that_are_created_later_are_hidden() {
    let fixture = hiding(Fixture::new(), &["state/toolcrib", "calls.journal"]);
    fixture.write("state/toolcrib/history", "canary");
    fixture.write("calls.journal", "canary");
    assert_eq!(
        fixture.value("fs.list", json!({})).await["entries"],
        json!([{"name": "state", "kind": "directory"}])
    );
    for path in ["state/toolcrib/history", "calls.journal"] {
        fixture
            .fails("fs.read", json!({"path": path}), "there is no")
            .await;
    }
}

#[tokio::test]
async fn links_and_other_names_do_not_lead_there() {
    let fixture = Fixture::with_files(&[("dot/toolcrib/own.toml", "canary")]);
    fixture.link("dot", ".conf");
    fixture.link(".conf/toolcrib", "direct");
    fixture.link("dot/toolcrib/own.toml", "file");
    fixture.write("late/x", "");
    fixture.link("late", ".state");
    let fixture = hiding(fixture, &[".conf/toolcrib", ".state/toolcrib"]);
    for path in [
        "direct/own.toml",
        "file",
        ".conf/toolcrib/own.toml",
        "dot/toolcrib/own.toml",
    ] {
        fixture
            .fails("fs.read", json!({"path": path}), "there is no")
            .await;
    }
    for path in ["direct/new", "late/toolcrib/new", ".state/toolcrib/new"] {
        fixture
            .fails(
                "fs.write",
                json!({"path": path, "content": "", "parents": true}),
                "out of reach",
            )
            .await;
    }
    // Without the link, the program would look somewhere else.
    for (tool, arguments) in [
        ("fs.remove", json!({"path": ".conf"})),
        ("fs.move", json!({"from": ".conf", "to": "away"})),
        (
            "fs.move",
            json!({"from": "direct", "to": ".conf", "overwrite": true}),
        ),
    ] {
        fixture.fails(tool, arguments, "may not touch").await;
    }
    // Renamed by another program, the directory is still recognised by its inode number.
    fs::rename(
        fixture.root().join("dot/toolcrib"),
        fixture.root().join("dot/renamed"),
    )
    .unwrap();
    fs::remove_file(fixture.root().join(".conf")).unwrap();
    fs::create_dir(fixture.root().join(".conf")).unwrap();
    std::os::unix::fs::symlink("../dot/renamed", fixture.root().join(".conf/toolcrib")).unwrap();
    fixture
        .fails(
            "fs.read",
            json!({"path": "dot/renamed/own.toml"}),
            "there is no",
        )
        .await;
}

#[test]
fn a_root_inside_of_a_hidden_place_is_refused() {
    let fixture = Fixture::with_files(&[("config/toolcrib/inner/x", "")]);
    fixture.link("config/toolcrib", "link");
    for root in ["config/toolcrib", "config/toolcrib/inner", "link/inner"] {
        for place in ["config/toolcrib", "link"] {
            let workspace = Workspace::open(fixture.root().join(root)).unwrap();
            let error = workspace
                .with_hidden([fixture.root().join(place)])
                .unwrap_err();
            assert!(error.to_string().contains("choose another root"), "{error}");
        }
    }
    let workspace = Workspace::open(fixture.root().join("config")).unwrap();
    workspace
        .with_hidden([
            fixture.root().join("elsewhere"),
            fixture.root().join("config/toolcrib"),
        ])
        .unwrap();
}

#[test]
fn a_place_has_a_path_by_each_way_to_it() {
    let fixture = Fixture::with_files(&[("a/file", "")]);
    fixture.link("a", "b");
    fixture.link("b", "c");
    fixture.link("gone/deep", "dangling");
    let workspace = Workspace::open(fixture.root()).unwrap();
    let paths = |place: &str| workspace.paths_to(fixture.root().join(place));
    assert_eq!(paths("c/./file"), ["c/file", "b/file", "a/file"]);
    assert_eq!(paths("dangling/x"), ["dangling/x", "gone/deep/x"]);
    assert_eq!(paths("../x"), [""; 0]);
}
