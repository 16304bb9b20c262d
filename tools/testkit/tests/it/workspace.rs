//! The temporary workspace.

use tools_testkit::TempWorkspace;

#[test]
fn files_are_written_read_and_listed() {
    let workspace = TempWorkspace::from_files([("b", "text"), ("a/c/d", "deep")]);
    workspace.write("a/bytes", b"\xFF");
    assert_eq!(workspace.files(), ["a/bytes", "a/c/d", "b"]);
    assert_eq!(
        (workspace.read("a/c/d"), workspace.read_bytes("a/bytes")),
        ("deep".to_owned(), vec![0xFF])
    );
    assert!(workspace.contains("a/c") && !workspace.contains("c"));
    assert_eq!(workspace.join("b"), workspace.path().join("b"));
}

#[test]
fn the_directory_is_removed_with_the_workspace() {
    let workspace = TempWorkspace::from_files([("a", "")]);
    let path = workspace.path().to_owned();
    drop(workspace);
    assert!(!path.exists());
}

#[test]
#[should_panic(expected = "cannot read ")]
fn a_missing_file_fails_the_test() {
    TempWorkspace::new().read("missing");
}
