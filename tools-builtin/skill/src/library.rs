//! [`Library`]: the skills of the user and of the project, and which of them sessions may use.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use host::settings::Settings;
use host::trust::{Approvals, Subject};
use host::{folders, program};
use serde_json::{Map, Value, json};

use crate::contents::Contents;
use crate::discovery::Discovery;
use crate::settings::SkillKeys;
use crate::skill::{Origin, Skill, named_files};
use crate::skills::{Clash, Skills};

/// The fact of an approval that is the folder. The others are files.
const FOLDER: &str = "folder";

/// The reason for which a session that reads no file of the project has no skill of it, wherever the user has named its folder.
const NOT_READ: &str = "it is inside the root, and --config or --no-config leaves out the project's skills; move it elsewhere";

/// The skills of the user and of the project, as they are when a session begins.
pub(crate) struct Library {
    /// The skills, in the order of their places.
    pub(crate) skills: Vec<Shelved>,
    /// Sentences on the places that look like skills and are none, on full folders, and on missing ones.
    pub(crate) overlooked: Vec<String>,
    /// The folders of skills of the user, also of other sessions of theirs, and the links below them that can lead to skills. They need not
    /// exist.
    pub(crate) places: Vec<PathBuf>,
    /// The workspace as approvals name it.
    pub(crate) workspace: String,
}

/// A skill of a library.
pub(crate) struct Shelved {
    pub(crate) skill: Skill,
    pub(crate) standing: Standing,
    /// True if another skill of the project has the name. Neither can be approved.
    has_namesake: bool,
}

/// Whether sessions may use a skill.
pub(crate) enum Standing {
    /// A skill of the user, or an approved one of the project, which is pinned.
    Ready,
    /// Other skills that sessions might use have the name.
    Conflict(Clash),
    Unapproved,
    /// Another content was approved, which differs in these facts.
    Changed(Vec<String>),
    Unusable(String),
    /// A skill inside the workspace, of which the session reads no file.
    NotRead,
}

impl Library {
    /// Looks for the skills, which is done once for each session. Unless the project's files are read, those in its own folders
    /// are not looked for, and none inside the workspace is usable. No skill has a file that tools cannot reach.
    pub(crate) fn load(workspace: String, reads_project: bool, settings: &Settings) -> Self {
        let configured = settings.of::<SkillKeys>().folders.iter();
        let mut used = user_folders();
        used.extend(configured.clone().map(|folder| folder.value.clone()));
        let mut places = [used.clone(), named_folders(settings)].concat();
        // Without a workspace, since a folder of the project is entered once, and the user's links into it are missed.
        let of_user = Discovery {
            folders: places.clone(),
            ..Discovery::default()
        };
        places.extend(of_user.find().links);
        let of_session = Discovery {
            workspace: Some(PathBuf::from(&workspace)),
            omits_project_folders: !reads_project,
            folders: used,
            hidden: settings.paths_hidden_in(Path::new(&workspace)),
        };
        let found = of_session.find();
        let missing = configured
            .filter(|folder| !folder.value.exists())
            .map(|folder| {
                format!(
                    "{}: there is no such folder; create it, or change skills.folders",
                    folder.value.display()
                )
            });
        let overlooked = found
            .overlooked
            .iter()
            .map(|place| format!("{}: {}", place.path.display(), place.reason));
        let overlooked = overlooked.chain(missing).collect();
        let approvals = Self::approvals();
        let mut names = BTreeMap::<String, usize>::new();
        let skills = found.skills.iter();
        for skill in skills.filter(|skill| skill.origin == Origin::Project) {
            *names.entry(skill.name.clone()).or_default() += 1;
        }
        let skills = found.skills.into_iter().map(|skill| {
            let has_namesake = names.get(&skill.name).is_some_and(|count| *count > 1);
            let (skill, standing) = match skill.origin {
                Origin::User => (skill, Standing::Ready),
                Origin::Project if !reads_project => (skill, Standing::NotRead),
                Origin::Project => judge(skill, &workspace, approvals.as_ref(), has_namesake),
            };
            Shelved {
                skill,
                standing,
                has_namesake,
            }
        });
        Self {
            skills: skills.collect(),
            overlooked,
            places,
            workspace,
        }
        .with_conflicts()
    }

    /// Marks the skills that sessions might use if others did not have their names.
    fn with_conflicts(mut self) -> Self {
        for clash in self.service().clashes {
            for shelved in self
                .skills
                .iter_mut()
                .filter(|shelved| shelved.is_trusted())
                .filter(|shelved| shelved.skill.name.to_lowercase() == clash.name.to_lowercase())
            {
                shelved.standing = Standing::Conflict(clash.clone());
            }
        }
        self
    }

    /// Returns the approvals of skills. Returns `None` if the user has no home.
    pub(crate) fn approvals() -> Option<Approvals> {
        Some(Approvals::new(
            folders::state()?.join("skills").join("approvals"),
        ))
    }

    /// Returns the skills that a session may use, with the reasons for which it has not the others.
    pub(crate) fn service(&self) -> Skills {
        let trusted = self.skills.iter().filter(|shelved| shelved.is_trusted());
        let mut skills = Skills::new(trusted.map(|shelved| shelved.skill.clone()));
        let withheld = self.skills.iter();
        skills.withheld = withheld
            .filter_map(|shelved| Some((shelved.skill.name.clone(), shelved.withheld_text()?)))
            .collect();
        skills
    }

    /// Returns a skill that sessions may use now and not once this one is approved, because both would have one name.
    pub(crate) fn rival(&self, shelved: &Shelved) -> Option<&Skill> {
        let name = shelved.skill.name.to_lowercase();
        let mut trusted = self
            .skills
            .iter()
            .filter(|other| other.is_trusted() && !std::ptr::eq(*other, shelved));
        trusted
            .find(|other| other.skill.name.to_lowercase() == name)
            .map(|other| &other.skill)
    }

    /// Returns the facts about a project's skill that the user approves.
    pub(crate) fn subject(&self, skill: &Skill, contents: &Contents) -> Subject {
        subject(skill, contents, &self.workspace)
    }
}

impl Shelved {
    /// Returns true if sessions may use the skill, unless another one has its name.
    pub(crate) fn is_trusted(&self) -> bool {
        matches!(self.standing, Standing::Ready | Standing::Conflict(_))
    }

    /// Returns the standing in words, with the next step.
    pub(crate) fn standing_text(&self) -> String {
        let approve = if self.has_namesake {
            "another skill has this name; rename one"
        } else {
            &format!("run {}", approval_command(&self.skill.name))
        };
        match &self.standing {
            Standing::Ready => "ready".to_owned(),
            Standing::Conflict(clash) => format!("conflict: {}", clash_text(clash)),
            Standing::Unapproved => format!("waits for approval; {approve}"),
            Standing::Changed(facts) => {
                let files = named_files(facts);
                format!("has changed since it was approved ({files}); {approve}")
            }
            Standing::Unusable(reason) => format!("unusable: {reason}"),
            Standing::NotRead => format!("unusable: {NOT_READ}"),
        }
    }

    /// Returns the reason for which a session does not have the skill, and the next step. A model reads it, so it has no text of the
    /// project, such as names of files. Returns `None` for a trusted skill.
    fn withheld_text(&self) -> Option<String> {
        let state = match &self.standing {
            Standing::Ready | Standing::Conflict(_) => return None,
            Standing::NotRead => return Some(NOT_READ.to_owned()),
            Standing::Unapproved => "it waits for approval",
            Standing::Changed(_) => "it has changed since it was approved",
            Standing::Unusable(_) => {
                return Some(format!(
                    "it cannot be used; ask the user to run {} skills",
                    program::name()
                ));
            }
        };
        let step = if self.has_namesake {
            "rename it, because another skill of the project has this name".to_owned()
        } else {
            format!(
                "run {}; new sessions then have it",
                approval_command(&self.skill.name)
            )
        };
        Some(format!("{state}; ask the user to {step}"))
    }
}

/// Returns the command that approves the skill of this name.
pub(crate) fn approval_command(name: &str) -> String {
    format!("{} skills approve {name}", program::name())
}

/// Returns the sentence on a name that several skills have.
pub(crate) fn clash_text(clash: &Clash) -> String {
    format!(
        "several skills are called {}, so none is used: {}; rename or remove all but one",
        clash.name,
        clash.places.join(" and ")
    )
}

/// Returns a skill of the project with its standing. Only the files of a folder that was approved are read: a checkout can have many.
fn judge(
    skill: Skill,
    workspace: &str,
    approvals: Option<&Approvals>,
    has_namesake: bool,
) -> (Skill, Standing) {
    let approved = match approvals.map(|approvals| approvals.subject(workspace, &skill.name)) {
        Some(Ok(Some(approved))) => approved,
        Some(Ok(None)) | None => return (skill, Standing::Unapproved),
        Some(Err(error)) => return (skill, Standing::Unusable(error.to_string())),
    };
    if approved.facts.get(FOLDER) != Some(&folder(&skill, workspace)) {
        // The approval may be that of the namesake, which has not moved here.
        let standing = if has_namesake {
            Standing::Unapproved
        } else {
            Standing::Changed(vec![FOLDER.to_owned()])
        };
        return (skill, standing);
    }
    let contents = match skill.contents() {
        Ok(contents) => contents,
        Err(error) => return (skill, Standing::Unusable(error.to_string())),
    };
    let present = subject(&skill, &contents, workspace);
    if present.digest() == approved.digest() {
        let step = format!("run {}", approval_command(&skill.name));
        return (skill.with_pinned(contents, step), Standing::Ready);
    }
    let changes = present.changes_since(&approved).into_iter();
    let changes = changes.map(|change| change.fact).collect();
    (skill, Standing::Changed(changes))
}

fn subject(skill: &Skill, contents: &Contents, workspace: &str) -> Subject {
    let files = contents
        .files()
        .map(|(path, digest)| (format!("file {path}"), json!(digest)));
    let facts: Map<String, Value> = files
        .chain([(FOLDER.to_owned(), folder(skill, workspace))])
        .collect();
    Subject::from_facts(workspace, &skill.name, facts)
}

/// Returns the path of a skill below the workspace.
fn folder(skill: &Skill, workspace: &str) -> Value {
    json!(
        skill
            .path
            .strip_prefix(workspace)
            .unwrap_or(&skill.path)
            .to_string_lossy()
    )
}

/// Returns the user's folders of skills: those that other programs use too, and `skills` beside the settings file.
fn user_folders() -> Vec<PathBuf> {
    let shared = folders::home()
        .map(|home| [".agents/skills", ".claude/skills"].map(|folder| home.join(folder)));
    let own = folders::settings().map(|file| file.with_file_name("skills"));
    shared.into_iter().flatten().chain(own).collect()
}

/// Returns the folders of skills that any layer of the settings names, also those that this session does not use.
fn named_folders(settings: &Settings) -> Vec<PathBuf> {
    let folders = settings
        .layers()
        .iter()
        .flat_map(|values| &values.of::<SkillKeys>().folders);
    folders.map(|folder| folder.value.clone()).collect()
}
