//! Private files and folders, and those that another user could have planted.

use std::fs::{self, Permissions};
use std::io::{ErrorKind, Write as _};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::Path;

use tools_store::{Durability, Schema, Store, StoreError, private};

const NOTES: Schema = Schema::new(
    "store of notes",
    7,
    &["CREATE TABLE note (text TEXT) STRICT"],
);

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
    assert_eq!(
        (mode(parent), mode(parent.parent().unwrap())),
        (0o700, 0o700)
    );
    let files: Vec<_> = fs::read_dir(parent)
        .unwrap()
        .map(|file| file.unwrap().path())
        .collect();
    assert!(files.len() > 1, "there is a write-ahead log");
    files
        .iter()
        .for_each(|file| assert_eq!(mode(file), 0o600, "{file:?}"));
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
    let (path, target) = (
        folder.path().join("notes.sqlite"),
        folder.path().join("target"),
    );
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

#[test]
fn a_private_file_is_read_only_if_no_other_user_has_access() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a/secret");
    private::create_folder(path.parent().unwrap()).unwrap();
    private::create_file(&path)
        .unwrap()
        .write_all(b"text")
        .unwrap();
    assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
    assert_eq!(private::read(&path, 4).unwrap(), "text");
    assert!(
        private::read(&path, 3)
            .unwrap_err()
            .to_string()
            .contains("longer than 3 bytes")
    );
    assert_eq!(
        private::create_file(&path).unwrap_err().kind(),
        ErrorKind::AlreadyExists
    );
    drop(private::open_or_create(&path).unwrap());
    assert_eq!(fs::read(&path).unwrap(), b"text");
    for mode in [0o604, 0o620, 0o610] {
        fs::set_permissions(&path, Permissions::from_mode(mode)).unwrap();
        for checked in [
            private::read(&path, 4).map(drop),
            private::check_file(&path),
        ] {
            assert!(
                checked
                    .unwrap_err()
                    .to_string()
                    .contains("other users have access to it; run chmod 600"),
                "{mode:o}"
            );
        }
    }
    private::tighten(&path).unwrap();
    assert_eq!(mode(&path), 0o600);
    private::check_file(&path).unwrap();
}

#[test]
fn a_private_folder_is_tightened_if_the_caller_prepares_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("state");
    fs::create_dir(&path).unwrap();
    fs::set_permissions(&path, Permissions::from_mode(0o755)).unwrap();
    private::create_folder(&path).unwrap();
    assert_eq!(mode(&path), 0o755, "a folder of others' choice");
    assert!(
        private::check_folder(&path)
            .unwrap_err()
            .to_string()
            .contains("other users have access to it; run chmod 700")
    );
    private::prepare_folder(&path).unwrap();
    assert_eq!(mode(&path), 0o700);
    private::check_folder(&path).unwrap();
    let file = path.join("file");
    drop(private::open_or_create(&file).unwrap());
    assert_eq!(
        (
            mode(&file),
            private::check_folder(&file).unwrap_err().kind()
        ),
        (0o600, ErrorKind::NotADirectory)
    );
}

#[test]
fn a_link_is_no_private_file_and_its_target_keeps_its_permissions() {
    let folder = tempfile::tempdir().unwrap();
    let (path, target) = (folder.path().join("link"), folder.path().join("target"));
    fs::write(&target, "text").unwrap();
    fs::set_permissions(&target, Permissions::from_mode(0o644)).unwrap();
    symlink(&target, &path).unwrap();
    private::tighten(&path).unwrap();
    assert_eq!(mode(&target), 0o644);
    assert_eq!(
        private::create_file(&path).unwrap_err().kind(),
        ErrorKind::AlreadyExists
    );
    fs::set_permissions(&target, Permissions::from_mode(0o600)).unwrap();
    assert!(
        private::check_file(&path)
            .unwrap_err()
            .to_string()
            .contains("not a regular file")
    );
    assert!(
        private::check_file(folder.path())
            .unwrap_err()
            .to_string()
            .contains("not a regular file")
    );
    private::tighten(&folder.path().join("missing")).unwrap_err();
}

#[test]
fn a_file_and_a_folder_of_another_user_are_refused_and_left_as_they_are() {
    let folder = tempfile::tempdir().unwrap();
    let (other, file) = (
        folder.path().join("other"),
        folder.path().join("notes.sqlite"),
    );
    fs::create_dir(&other).unwrap();
    fs::write(&file, "").unwrap();
    fs::set_permissions(&file, Permissions::from_mode(0o644)).unwrap();
    if [&other, &file]
        .iter()
        .any(|path| chown(path, Some(12_345), None).is_err())
    {
        eprintln!("skipped: only root can give files away");
        return;
    }
    for path in [other.join("notes.sqlite"), file.clone()] {
        let error = open(&path).unwrap_err();
        assert!(
            matches!(error, StoreError::Exposed { .. })
                && error.to_string().contains("another user"),
            "{error}"
        );
    }
    assert_eq!(
        (
            fs::read_dir(&other).unwrap().count(),
            fs::read(&file).unwrap().len()
        ),
        (0, 0)
    );
    private::tighten(&file).unwrap();
    assert_eq!(mode(&file), 0o644);
    fs::set_permissions(&file, Permissions::from_mode(0o600)).unwrap();
    assert!(private::read(&file, 10).is_err() && private::check_file(&file).is_err());
}

#[test]
fn a_file_is_replaced_by_a_private_one_whatever_an_earlier_process_left() {
    let folder = tempfile::tempdir().unwrap();
    let [path, draft, outside] =
        ["notes", "notes.new", "outside"].map(|name| folder.path().join(name));
    fs::write(&path, "old").unwrap();
    fs::write(&outside, "").unwrap();
    symlink(&outside, &draft).unwrap();
    private::replace(&path, &draft, b"new").unwrap();
    assert_eq!(
        (fs::read(&path).unwrap(), mode(&path)),
        (b"new".to_vec(), 0o600)
    );
    assert!(
        !draft.exists() && fs::read(&outside).unwrap().is_empty(),
        "the link was followed"
    );
    assert_eq!(
        [(); 2].map(|()| private::remove(&path).unwrap()),
        [true, false]
    );
}
