//! `toolcrib trust`

use std::path::{Path, PathBuf};

use clap::Args;
use terminal::stdout;
use tools::Digest;

use super::approval::is_approved;
use super::family::FamilyOptions;
use crate::config::ConfigOptions;
use crate::error::Error;
use crate::notice::{self, STRONG, paint};
use crate::root::RootOption;
use crate::{instructions, trust};
use host::exit::Exit;
use host::trust::{Content, Records, Unapproved};
use tools::visible::visible;

/// Show and approve the settings, the instructions for agents and the commits that a project brings
///
/// Settings (toolcrib.toml) may only narrow, and instructions (AGENTS.md) count as text of strangers, until you approve their content. A
/// change of the content needs it again, and the difference is shown. All settings of an approved file apply if the list `trusted` of
/// your settings file has its directory or one above it. After a session that could write the repository, no file in it counts as yours
/// until you approve its branches and tags.
#[derive(Args, Debug)]
pub(super) struct TrustArgs {
    #[command(flatten)]
    root: RootOption,

    #[command(flatten)]
    config: ConfigOptions,

    /// Approve the content of this digest without a question; repeatable
    #[arg(long, value_name = "DIGEST")]
    digest: Vec<Digest>,

    /// Revoke all approvals of these folders
    #[arg(long, conflicts_with = "digest")]
    revoke: bool,
}

impl TrustArgs {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        let records = Records::own().ok_or(Error::NoState)?;
        // What a killed session left is moved aside before it is shown.
        host::recover(Some(Path::new(&self.root.workspace()?)));
        let contents = self.contents()?;
        if contents.is_empty() && !self.revoke {
            notice::note("the project has no settings and no instructions");
        }
        if self.revoke {
            return self.revoke(&records, &contents);
        }
        let mut exit = Exit::Success;
        for content in contents {
            let path = visible(&content.path.to_string_lossy()).into_owned();
            match Records::judge(Some(&records), content) {
                None => stdout::page(&format!("{}: approved\n", paint(STRONG, path)))?,
                Some(unapproved) if self.is_approved(&unapproved).await? => {
                    records.approve(&unapproved.content)?;
                    notice::note(&format!("approved {path}"));
                }
                // A refusal of one content does not hide the others.
                Some(_) => exit = Exit::Refused,
            }
        }
        let cx = FamilyOptions::new(&self.root, &self.config);
        if !host::approve(&cx, &self.digest).await? {
            exit = Exit::Refused;
        }
        if exit == Exit::Refused && !self.digest.is_empty() {
            notice::hint("a content has none of these digests; look at it, and add its own");
        }
        Ok(exit)
    }

    /// Returns the contents that a person can approve, in the order in which they are shown. Each kind adds its own.
    fn contents(&self) -> Result<Vec<Content>, Error> {
        let contents = self.config.project_contents()?.into_iter();
        let mut contents: Vec<_> = contents.map(|(content, _)| content).collect();
        contents.extend(instructions::of_root(Path::new(&self.root.workspace()?)));
        Ok(contents)
    }

    /// Shows a content. Returns true if a digest on the command line or the person approves it.
    async fn is_approved(&self, unapproved: &Unapproved) -> Result<bool, Error> {
        stdout::page(&trust::page(unapproved, stdout::width()))?;
        let digest = &unapproved.content.digest;
        // With several contents, each digest is one of others.
        if self.digest.is_empty() {
            is_approved(&[], digest, "this file").await
        } else {
            Ok(self.digest.contains(digest))
        }
    }

    /// Revokes the approvals of the workspace, whose files may be gone, and of the folders of these contents.
    fn revoke(&self, records: &Records, contents: &[Content]) -> Result<Exit, Error> {
        let workspace = PathBuf::from(self.root.workspace()?);
        let folders = contents.iter().map(Content::folder);
        let mut folders: Vec<_> = folders.chain([&*workspace]).collect();
        folders.sort();
        folders.dedup();
        for folder in folders {
            if records.revoke(folder)? {
                notice::note(&format!("revoked the approvals in {}", folder.display()));
            }
        }
        Ok(Exit::Success)
    }
}
