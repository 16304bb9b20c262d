//! Servers whose program lies in the home of the user, after sessions whose root is the home.

use std::fs;

use serde_json::json;

use crate::mcp::{TOOL, marking, write_user};
use crate::own_files::put;
use crate::{Crib, Ended};

#[test]
fn a_session_at_home_makes_servers_wait_whose_folder_it_wrote_and_no_others() {
    let crib = Crib::new();
    let (script, mark) = marking(&crib);
    let home = crib.dir.path().canonicalize().unwrap().join("home");
    let program = home.join("tools/server.sh");
    put(&program, "");
    fs::copy(script, &program).unwrap();
    fs::create_dir(home.join("other")).unwrap();
    write_user(
        &crib,
        &json!({"mcpServers": {"clock": {"command": program}}}),
    );
    let run = |arguments: &[&str]| -> Ended {
        crib.command(arguments)
            .env("HOME", &home)
            .stdin(std::process::Stdio::null())
            .output()
            .unwrap()
            .into()
    };
    let write = |path: &str| {
        let call = format!("fs.write path={path} content=x");
        run(&[
            "run",
            &call,
            "--provider",
            "direct",
            "--root",
            home.to_str().unwrap(),
            "--allow",
            "*:*:**",
        ])
        .expect(0);
    };
    let runs = || {
        let _ = fs::remove_file(&mark);
        let called = run(&["call", TOOL, "--grant", "world:write:**"]);
        assert_eq!(called.code == Some(0), mark.exists(), "{called:#?}");
        mark.exists()
    };
    assert!(runs());
    for path in ["other/code.py", "code.py", "notes.txt"] {
        write(path);
        assert!(runs(), "{path}");
    }
    write("tools/more.py");
    assert!(!runs());
}
