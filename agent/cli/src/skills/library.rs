//! [`Library`]: the skills of the user and of the project, and which of them sessions may use.

use serde_json::{Map, Value, json};
use tools_builtin::skill::{Contents, Discovery, Origin, Overlooked, Skill, Skills};
use tools_mcp::trust::{Approval, Approvals, Change, Subject};

use crate::config::Settings;
use crate::error::Error;
use crate::folders;
use crate::program;

/// The fact of an approval that is the folder. The others are files.
const FOLDER: &str = "folder";

/// The skills of the user and of the project.
pub(crate) struct Library {
    /// The skills, in the order of their places.
    pub(crate) skills: Vec<Shelved>,
    /// The places that look like skills and are none.
    pub(crate) overlooked: Vec<Overlooked>,
    workspace: String,
}

/// A skill of a library.
pub(crate) struct Shelved {
    pub(crate) skill: Skill,
    pub(crate) standing: Standing,
}

/// Whether sessions may use a skill.
pub(crate) enum Standing {
    /// A skill of the user, or an approved one of the project, which is pinned.
    Ready,
    Unapproved,
    /// Another content was approved.
    Changed(Vec<Change>),
    Unusable(String),
}

impl Library {
    /// Looks for the skills. Without the path of a workspace, those of the user alone are found.
    pub(crate) fn load(root: Option<&str>, settings: &Settings) -> Self {
        let workspace = root.unwrap_or_default().to_owned();
        let mut discovery = Discovery::new();
        if root.is_some() {
            discovery = discovery.with_workspace(&workspace);
        }
        let configured = settings.skill_folders.iter().map(|folder| folder.value.clone());
        discovery = folders::skills().into_iter().chain(configured).fold(discovery, Discovery::with_user_folder);
        let found = discovery.find();
        let approvals = Self::approvals();
        let shelve = |skill: Skill| match skill.origin() {
            Origin::User => Shelved { skill, standing: Standing::Ready },
            Origin::Project => shelved(skill, &workspace, approvals.as_ref()),
        };
        Self { skills: found.skills.into_iter().map(shelve).collect(), overlooked: found.overlooked, workspace }
    }

    /// Returns the approvals of skills. Returns `None` if the user has no home.
    pub(crate) fn approvals() -> Option<Approvals> {
        Some(Approvals::new(folders::state()?.join("skills").join("approvals")))
    }

    /// Returns the skills that a session may use.
    pub(crate) fn service(&self) -> Skills {
        let ready = self.skills.iter().filter(|shelved| matches!(shelved.standing, Standing::Ready));
        Skills::new(ready.map(|shelved| shelved.skill.clone()))
    }

    /// Returns the skills of this name, of which there can be several.
    pub(crate) fn find(&self, name: &str) -> Result<Vec<&Shelved>, Error> {
        let found: Vec<_> = self.skills.iter().filter(|shelved| shelved.skill.name() == name).collect();
        if found.is_empty() { Err(Error::NoSkill { name: name.to_owned() }) } else { Ok(found) }
    }

    /// Returns the facts about a project's skill that the user approves.
    pub(crate) fn subject(&self, skill: &Skill, contents: &Contents) -> Subject {
        subject(skill, contents, &self.workspace)
    }

    /// Returns the workspace as approvals name it.
    pub(crate) fn workspace(&self) -> &str {
        &self.workspace
    }
}

impl Shelved {
    /// Returns the standing in words, with the next step.
    pub(crate) fn standing_text(&self) -> String {
        let approve = || format!("run {} skills approve {}", program::name(), self.skill.name());
        match &self.standing {
            Standing::Ready => "ready".to_owned(),
            Standing::Unapproved => format!("waits for approval; {}", approve()),
            Standing::Changed(changes) => {
                let facts: Vec<_> = changes.iter().map(|change| change.fact.as_str()).collect();
                format!("has changed since it was approved ({}); {}", facts.join(", "), approve())
            }
            Standing::Unusable(reason) => format!("unusable: {reason}"),
        }
    }
}

/// Returns a skill of the project with its standing.
fn shelved(skill: Skill, workspace: &str, approvals: Option<&Approvals>) -> Shelved {
    let unusable = |skill, reason: String| Shelved { skill, standing: Standing::Unusable(reason) };
    let contents = match skill.contents() {
        Ok(contents) => contents,
        Err(error) => return unusable(skill, error.to_string()),
    };
    let Some(approvals) = approvals else { return Shelved { skill, standing: Standing::Unapproved } };
    match approvals.find(&subject(&skill, &contents, workspace)) {
        Ok(Approval::Given) => Shelved { skill: skill.with_pinned(contents), standing: Standing::Ready },
        Ok(Approval::Missing) => Shelved { skill, standing: Standing::Unapproved },
        Ok(Approval::Outdated(changes)) => Shelved { skill, standing: Standing::Changed(changes) },
        Err(error) => unusable(skill, error.to_string()),
    }
}

fn subject(skill: &Skill, contents: &Contents, workspace: &str) -> Subject {
    let folder = skill.path().strip_prefix(workspace).unwrap_or(skill.path());
    let files = contents.files().map(|(path, digest)| (format!("file {path}"), json!(digest)));
    let facts: Map<String, Value> = files.chain([(FOLDER.to_owned(), json!(folder.to_string_lossy()))]).collect();
    Subject::from_facts(workspace, skill.name(), facts)
}
