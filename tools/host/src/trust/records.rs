//! [`Records`]: the contents that a person has approved, and the first session of each workspace.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};
use std::{fs, io};

use serde::{Deserialize, Serialize};
use serde_json::json;
use tools::Digest;
use tools_store::private;

use super::approvals::replace;
use super::{Content, Unapproved};
use crate::folders;

/// The maximum number of approved contents of a folder. A further one replaces the oldest.
const MAX_APPROVED: usize = 64;

/// The maximum size of a text that is kept to show the difference later, in bytes.
const MAX_TEXT: usize = 256 * 1024;

/// The maximum size of a record, in bytes. JSON writes a control character as six.
const MAX_RECORD: u64 = 6 * 256 * 1024 + 64 * 1024;

/// The number of hexadecimal digits in names of folders and files.
const DIGITS: usize = 32;

/// The name of the file with the time of the first session.
const FIRST_SESSION: &str = "first-session";

/// The room for clocks of file systems, which lag behind.
const CLOCK_LAG: Duration = Duration::from_millis(20);

/// The contents that a person has approved, and the first session of each workspace: a folder for each folder of a project, in the state
/// folder, which tools cannot reach. Each approval is a file, so processes need no lock.
#[derive(Clone, Debug)]
pub struct Records {
    folder: PathBuf,
}

/// A record that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the record of trust {}: {source}; check the folder", path.display())]
pub struct RecordError {
    path: PathBuf,
    source: io::Error,
}

/// A file of an approval.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Approved {
    kind: String,
    path: String,
    digest: Digest,
    /// `None` if it is too long to be kept.
    text: Option<String>,
}

impl Records {
    /// Returns the records of the user. Returns `None` if the user has no home.
    pub fn own() -> Option<Self> {
        Some(Self {
            folder: folders::state()?.join("trust"),
        })
    }

    /// Returns the content with what is known about it, unless a person has approved it. Without `records`, nothing is approved.
    pub fn judge(records: Option<&Self>, content: Content) -> Option<Unapproved> {
        let mut unapproved = Unapproved {
            content,
            before: None,
            is_recent: false,
        };
        if let Some(records) = records {
            let content = &unapproved.content;
            let approved = records.read(&records.path_of(content));
            if approved.is_some_and(|approved| approved.is_of(content)) {
                return None;
            }
            let is_recent = records.first_session(&content.path).is_some_and(|began| {
                content
                    .changed
                    .is_none_or(|changed| changed + CLOCK_LAG >= began)
            });
            unapproved.before = records.latest(content);
            unapproved.is_recent = is_recent;
        }
        Some(unapproved)
    }

    /// Records that a person has seen and approved the content.
    pub fn approve(&self, content: &Content) -> Result<(), RecordError> {
        let approved = Approved {
            kind: content.kind.to_owned(),
            path: content.path.to_string_lossy().into_owned(),
            digest: content.digest,
            text: (content.text.len() <= MAX_TEXT).then(|| content.text.clone()),
        };
        let folder = self.folder_of(content.folder());
        self.make_room(&folder);
        write(self.path_of(content), &json!(approved).to_string())
    }

    /// Returns each approved content of this kind with the path of its file, which need not be there. The text is `None` if it is too long
    /// to be kept.
    pub fn approved_texts(&self, kind: &str) -> Vec<(PathBuf, Option<String>)> {
        let folders = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        let all = folders.flat_map(|folder| approvals(&folder.path()));
        let approved = all.filter_map(|path| self.read(&path));
        let approved = approved.filter(|approved| approved.kind == kind);
        approved
            .map(|approved| (PathBuf::from(approved.path), approved.text))
            .collect()
    }

    /// Removes all approvals of a folder. Returns true if there was one.
    pub fn revoke(&self, folder: &Path) -> Result<bool, RecordError> {
        let mut was_approved = false;
        for path in approvals(&self.folder_of(folder)) {
            was_approved |=
                private::remove(&path).map_err(|source| RecordError { path, source })?;
        }
        Ok(was_approved)
    }

    /// Records that a session begins in this workspace, unless there was one before.
    pub fn note_session(&self, workspace: &Path) -> Result<(), RecordError> {
        let path = self.folder_of(workspace).join(FIRST_SESSION);
        // Only the first session counts: a later time would hide what earlier sessions wrote.
        if path.exists() {
            return Ok(());
        }
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.unwrap_or_default();
        write(path, &now.as_millis().to_string())
    }

    /// Returns the time of the first session that could write the file: one in a folder around it. A record that cannot be read counts as
    /// one from long ago.
    fn first_session(&self, file: &Path) -> Option<SystemTime> {
        let sessions = file.ancestors().skip(1).filter_map(|folder| {
            let path = self.folder_of(folder).join(FIRST_SESSION);
            path.symlink_metadata().ok()?;
            let millis = private::read(&path, MAX_RECORD)
                .ok()
                .and_then(|text| text.trim().parse().ok())
                .unwrap_or(0);
            SystemTime::UNIX_EPOCH.checked_add(Duration::from_millis(millis))
        });
        sessions.min()
    }

    /// Returns the text of the file that was approved last.
    fn latest(&self, content: &Content) -> Option<String> {
        let path = content.path.to_string_lossy();
        let approvals = approvals(&self.folder_of(content.folder()));
        approvals.iter().rev().find_map(|file| {
            let approved = self.read(file)?;
            (approved.kind == content.kind && approved.path == path).then_some(approved.text?)
        })
    }

    /// Removes the oldest approvals of a folder that is full.
    fn make_room(&self, folder: &Path) {
        let approvals = approvals(folder);
        let surplus = (approvals.len() + 1).saturating_sub(MAX_APPROVED);
        for path in approvals.iter().take(surplus) {
            // Another process may have removed it.
            let _ = private::remove(path);
        }
    }

    fn read(&self, path: &Path) -> Option<Approved> {
        // A damaged record approves nothing.
        serde_json::from_str(&private::read(path, MAX_RECORD).ok()?).ok()
    }

    fn folder_of(&self, folder: &Path) -> PathBuf {
        let key = Digest::hash_bytes(folder.as_os_str().as_encoded_bytes()).to_string();
        self.folder.join(&key[..DIGITS])
    }

    fn path_of(&self, content: &Content) -> PathBuf {
        let key =
            // The digest is part of the name, so that each branch keeps its own approved content.
            Digest::hash_json(&json!([content.kind, content.name(), content.digest])).to_string();
        self.folder_of(content.folder())
            .join(format!("{}.json", &key[..DIGITS]))
    }
}

impl Approved {
    fn is_of(&self, content: &Content) -> bool {
        self.kind == content.kind
            && self.path == content.path.to_string_lossy()
            && self.digest == content.digest
    }
}

fn write(path: PathBuf, text: &str) -> Result<(), RecordError> {
    replace(&path, text).map_err(|source| RecordError { path, source })
}

/// Returns the files of approvals in a folder of records, the oldest first.
fn approvals(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<_> = entries.map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|end| end == "json"));
    files.sort_by_cached_key(|file| {
        let modified = file.symlink_metadata().and_then(|file| file.modified());
        (modified.unwrap_or(SystemTime::UNIX_EPOCH), file.clone())
    });
    files
}

#[cfg(test)]
mod tests {
    use super::*;

    fn records(folder: &Path) -> Records {
        Records {
            folder: folder.join("state"),
        }
    }

    fn content(folder: &Path, text: &str) -> Content {
        let path = folder.join("AGENTS.md");
        fs::write(&path, text).unwrap();
        Content::new("instructions", &path, text.as_bytes())
    }

    #[test]
    fn each_approved_content_of_a_file_stays_approved_and_others_show_the_latest() {
        let folder = tempfile::tempdir().unwrap();
        let records = records(folder.path());
        let judged = |text: &str| Records::judge(Some(&records), content(folder.path(), text));
        assert_eq!(judged("one").unwrap().before, None);
        for text in ["one", "two"] {
            records.approve(&content(folder.path(), text)).unwrap();
            std::thread::sleep(CLOCK_LAG);
        }
        assert!(judged("one").is_none() && judged("two").is_none());
        assert_eq!(judged("three").unwrap().before.as_deref(), Some("two"));
        assert!(records.revoke(content(folder.path(), "").folder()).unwrap());
        assert!(judged("one").is_some());
    }

    #[test]
    fn an_approval_holds_for_one_kind_and_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let records = records(folder.path());
        let approved = content(folder.path(), "text");
        records.approve(&approved).unwrap();
        let path = approved.path.to_owned();
        for other in [
            Content::new("settings", &path, b"text"),
            Content::new("instructions", &path.with_file_name("README.md"), b"text"),
            Content::new(
                "instructions",
                &folder.path().join("sub/AGENTS.md"),
                b"text",
            ),
        ] {
            assert!(
                Records::judge(Some(&records), other.clone()).is_some(),
                "{other:?}"
            );
        }
        assert!(Records::judge(None, approved).is_some());
    }

    #[test]
    fn a_folder_keeps_the_newest_64() {
        let folder = tempfile::tempdir().unwrap();
        let records = records(folder.path());
        (0..70).for_each(|number| {
            records
                .approve(&content(folder.path(), &number.to_string()))
                .unwrap()
        });
        let kept = (0..70).filter(|number| {
            Records::judge(Some(&records), content(folder.path(), &number.to_string())).is_none()
        });
        assert_eq!(kept.count(), MAX_APPROVED);
        assert!(Records::judge(Some(&records), content(folder.path(), "69")).is_none());
    }

    #[test]
    fn a_file_that_changed_after_a_session_around_it_is_recent() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let records = records(&root);
        let old = content(&root, "old");
        assert!(
            !Records::judge(Some(&records), old.clone())
                .unwrap()
                .is_recent
        );
        std::thread::sleep(CLOCK_LAG * 3);
        records.note_session(&root).unwrap();
        assert!(!Records::judge(Some(&records), old).unwrap().is_recent);
        fs::create_dir(root.join("sub")).unwrap();
        let new = content(&root.join("sub"), "new");
        assert!(Records::judge(Some(&records), new).unwrap().is_recent);
        // Programs can set the time of the content, and not that of the file's record.
        let path = root.join("AGENTS.md");
        fs::write(&path, "other").unwrap();
        fs::File::options()
            .write(true)
            .open(&path)
            .unwrap()
            .set_modified(SystemTime::UNIX_EPOCH)
            .unwrap();
        assert!(
            Records::judge(
                Some(&records),
                Content::new("instructions", &path, b"other")
            )
            .unwrap()
            .is_recent
        );
    }

    #[test]
    fn a_damaged_record_approves_nothing_and_a_damaged_time_is_long_ago() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let records = records(&root);
        let content = content(&root, "text");
        records.approve(&content).unwrap();
        private::replace(&records.path_of(&content), &root.join("draft"), b"{}").unwrap();
        private::replace(
            &records.folder_of(&root).join(FIRST_SESSION),
            &root.join("draft"),
            b"",
        )
        .unwrap();
        assert!(Records::judge(Some(&records), content).unwrap().is_recent);
    }

    #[test]
    fn a_record_of_another_content_approves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let records = records(folder.path());
        let approved = content(folder.path(), "approved");
        let path = approved.path.to_owned();
        let record =
            json!({"kind": "instructions", "path": path, "digest": approved.digest, "text": null});
        for (field, value) in [
            ("kind", json!("settings")),
            ("path", json!(path.with_file_name("README.md"))),
            ("digest", json!(Digest::hash_bytes(b"other"))),
        ] {
            let mut other = record.clone();
            other[field] = value;
            write(records.path_of(&approved), &other.to_string()).unwrap();
            assert!(
                Records::judge(Some(&records), approved.clone()).is_some(),
                "{field}"
            );
        }
        write(records.path_of(&approved), &record.to_string()).unwrap();
        assert!(Records::judge(Some(&records), approved).is_none());
    }

    #[test]
    fn the_difference_is_from_the_same_file_unless_its_text_is_too_long_to_be_kept() {
        let folder = tempfile::tempdir().unwrap();
        let records = records(folder.path());
        let of_readme = Content::new("instructions", &folder.path().join("README.md"), b"readme");
        records.approve(&of_readme).unwrap();
        let before = |text: &str| {
            let unapproved = Records::judge(Some(&records), content(folder.path(), text)).unwrap();
            unapproved.before
        };
        assert_eq!(before("new"), None);
        records
            .approve(&content(folder.path(), &"x".repeat(MAX_TEXT + 1)))
            .unwrap();
        assert_eq!(before("new"), None);
    }

    #[test]
    fn a_link_is_recent_if_it_or_its_target_changed_and_so_is_a_file_that_is_gone() {
        use std::os::unix::fs::symlink;

        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().canonicalize().unwrap();
        let records = records(&root);
        let paths =
            ["old", "link", "new-link", "changed", "to-changed"].map(|name| root.join(name));
        let [old, link, new_link, changed, to_changed] = &paths;
        [old, changed]
            .iter()
            .for_each(|path| fs::write(path, "text").unwrap());
        symlink(old, link).unwrap();
        symlink(changed, to_changed).unwrap();
        std::thread::sleep(CLOCK_LAG * 3);
        records.note_session(&root).unwrap();
        std::thread::sleep(CLOCK_LAG * 3);
        symlink(old, new_link).unwrap();
        fs::write(changed, "other").unwrap();
        // A later session changes nothing about the first one.
        records.note_session(&root).unwrap();
        let is_recent = |path: &Path| {
            Records::judge(Some(&records), Content::new("instructions", path, b"text"))
                .unwrap()
                .is_recent
        };
        assert!(!is_recent(link) && is_recent(new_link) && is_recent(to_changed));
        assert!(is_recent(&root.join("gone")));
    }

    #[test]
    fn a_record_that_others_can_write_approves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let records = records(folder.path());
        let content = content(folder.path(), "text");
        records.approve(&content).unwrap();
        let open = std::os::unix::fs::PermissionsExt::from_mode(0o666);
        fs::set_permissions(records.path_of(&content), open).unwrap();
        assert!(Records::judge(Some(&records), content).is_some());
    }
}
