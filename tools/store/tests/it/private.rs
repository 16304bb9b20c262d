//! Files and folders that another user could have planted.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use tools_store::{Durability, Schema, Store, StoreError};

const NOTES: Schema = Schema::new("store of notes", 7, &["CREATE TABLE note (text TEXT) STRICT"]);

fn open(path: &Path) -> Result<Store, StoreError> {
    Store::open(path, &NOTES, Durability::Process)
}

fn mode(path: &Path) -> u32 {
    path.metadata().unwrap().permissions().mode() & 0o777
}

#[test]
fn files_and_new_folders_are_the_users_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/b/notes.sqlite");
    let _store = open(&path).unwrap();
    let parent = path.parent().unwrap();
    assert_eq!((mode(parent), mode(parent.parent().unwrap())), (0o700, 0o700));
    let files: Vec<_> = fs::read_dir(parent).unwrap().map(|file| file.unwrap().path()).collect();
    assert!(files.len() > 1, "there is a write-ahead log");
    files.iter().for_each(|file| assert_eq!(mode(file), 0o600, "{file:?}"));
}

#[test]
fn permissions_of_others_are_removed_from_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.sqlite");
    drop(open(&path).unwrap());
    fs::set_permissions(&path, Permissions::from_mode(0o664)).unwrap();
    open(&path).unwrap();
    assert_eq!(mode(&path), 0o600);
}

#[test]
fn a_link_is_refused_and_its_target_not_touched() {
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (folder.path().join("notes.sqlite"), folder.path().join("target"));
    symlink(&target, &path).unwrap();
    let error = open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Exposed { .. }), "{error}");
    assert!(!target.exists(), "the link was followed");
    fs::write(&target, "").unwrap();
    open(&path).unwrap_err();
    assert_eq!(fs::read(&target).unwrap(), b"");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let error = open(&path).unwrap_err();
    assert!(matches!(error, StoreError::Exposed { .. }), "{error}");
}

#[test]
fn a_linked_folder_is_the_users_choice() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("disk")).unwrap();
    symlink("disk", folder.path().join("data")).unwrap();
    open(&folder.path().join("data/notes.sqlite")).unwrap();
    assert!(folder.path().join("disk/notes.sqlite").exists());
}

#[test]
fn a_folder_that_others_may_write_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let shared = folder.path().join("shared");
    fs::create_dir(&shared).unwrap();
    for mode in [0o777, 0o1777, 0o770] {
        fs::set_permissions(&shared, Permissions::from_mode(mode)).unwrap();
        let error = open(&shared.join("notes.sqlite")).unwrap_err();
        assert!(matches!(error, StoreError::Exposed { .. }), "{error}");
    }
    fs::set_permissions(&shared, Permissions::from_mode(0o755)).unwrap();
    open(&shared.join("notes.sqlite")).unwrap();
}
