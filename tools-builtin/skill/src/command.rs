//! The command `skills`.

use host::style::{FAINT, STRONG, paint};
use host::trust::{Approval, Change, Subject, TrustError};
use host::{
    Argument, Arguments, Command, CommandContext, CommandError, CommandGroup, Exit, ValueForm,
    program,
};
use serde_json::json;
use tools::visible::visible;
use tools::{Digest, visible_line};

use crate::folder::FolderError;
use crate::library::{Library, Shelved, approval_command};
use crate::skill::Origin;

/// The maximum length of a description in a list, in characters.
const MAX_SHOWN: usize = 200;

/// The maximum number of warnings on places that look like skills and are none.
const MAX_OVERLOOKED: usize = 5;

pub(crate) const SKILLS: Command = Command {
    about: "List the skills of yours and of the project, show one, and approve one of the project",
    details: "Skills are folders with a SKILL.md, below .agents/skills and .claude/skills of the root and of your home, skills beside the \
              settings file, and the folders of the setting skills.folders. Sessions do not use a project's skill before you approve it.",
    arguments: LIST.arguments,
    commands: &[LIST, SHOW, APPROVE, REVOKE],
    run: LIST.run,
    group: CommandGroup::Connect,
    rank: 40,
    examples: "skills                  # List the skills, and which of them wait for you
               skills show release     # Read a skill
               skills approve release  # Let sessions use it",
    ..Command::new("skills")
};

const LIST: Command = Command {
    about: "List the skills, their places and whether sessions may use them",
    arguments: &[
        Argument::Root,
        Argument::Settings,
        Argument::flag("json", "Print the skills as JSON, one document per line"),
    ],
    run: Some(|arguments, cx| Box::pin(async { list(arguments, cx) })),
    ..Command::new("list")
};

const SHOW: Command = Command {
    about: "Show the front matter, the faults, the files with their digests and the text of a skill",
    arguments: &[NAME, Argument::Root, Argument::Settings],
    run: Some(|arguments, cx| Box::pin(async { show(arguments, cx) })),
    ..Command::new("show")
};

const APPROVE: Command = Command {
    about: "Approve a project's skill with its files",
    details: "Asks on a terminal. Without one, --digest names what to approve, as an earlier `approve` has shown it. A change of any file \
              needs it again.",
    arguments: &[
        NAME,
        Argument::Root,
        Argument::Settings,
        Argument::value::<Digest>(
            ValueForm::NamedMany,
            "digest",
            "DIGEST",
            "Approve the files of this digest without a question; repeatable",
        ),
    ],
    run: Some(|arguments, cx| Box::pin(approve(arguments, cx))),
    ..Command::new("approve")
};

const REVOKE: Command = Command {
    about: "Revoke the approval of a project's skill",
    arguments: &[NAME, Argument::Root, Argument::Settings],
    run: Some(|arguments, cx| Box::pin(async { revoke(arguments, cx) })),
    ..Command::new("revoke")
};

const NAME: Argument = Argument::value::<String>(ValueForm::Required, "name", "NAME", "The name");

/// The reason for which a skill cannot be shown or approved.
#[derive(Debug, thiserror::Error)]
enum SkillCommandError {
    #[error(
        "there is no skill {name:?}; run {} skills to see all",
        program::name()
    )]
    Unknown { name: String },
    #[error("several skills of the project are called {name:?}: {}; rename or remove all but one", places.join(" and "))]
    Clash { name: String, places: Vec<String> },
    #[error("the skill {name:?} cannot be used: {error}")]
    Unusable { name: String, error: FolderError },
    #[error("there is no folder for the state of this user, so no approval can be kept; set HOME")]
    NoState,
    #[error(transparent)]
    Trust(#[from] TrustError),
}

impl From<SkillCommandError> for CommandError {
    fn from(error: SkillCommandError) -> Self {
        let exit = match error {
            SkillCommandError::Unknown { .. } => Exit::NotFound,
            _ => Exit::Usage,
        };
        Self::new(exit, error)
    }
}

fn load(cx: &dyn CommandContext) -> Result<Library, CommandError> {
    Ok(Library::load(cx.workspace()?, true, &cx.settings()?))
}

fn name(arguments: &Arguments) -> Result<String, CommandError> {
    Ok(arguments.value("name")?.unwrap_or_default())
}

/// Returns the skills of this name, of which there can be several.
fn find<'a>(library: &'a Library, name: &str) -> Result<Vec<&'a Shelved>, SkillCommandError> {
    let skills = library.skills.iter();
    let found: Vec<_> = skills.filter(|it| it.skill.name == name).collect();
    if found.is_empty() {
        return Err(SkillCommandError::Unknown {
            name: name.to_owned(),
        });
    }
    Ok(found)
}

fn list(arguments: &Arguments, cx: &dyn CommandContext) -> Result<Exit, CommandError> {
    let library = load(cx)?;
    let is_json = arguments.is_given("json");
    let mut page = String::new();
    for shelved in &library.skills {
        let skill = &shelved.skill;
        let origin = skill.origin.to_string();
        let standing = shelved.standing_text();
        let description = skill.description();
        if is_json {
            let path = skill.path.to_string_lossy();
            let faults: Vec<_> = skill.faults.iter().map(ToString::to_string).collect();
            cx.write_json(&json!({
                "name": skill.name, "origin": origin, "path": path, "standing": standing, "description": description,
                "faults": faults,
            }))?;
        } else {
            let place = paint(FAINT, visible(&skill.path.to_string_lossy()));
            page += &format!(
                "{} ({origin}): {}\n  {place}\n",
                paint(STRONG, &skill.name),
                visible(&standing)
            );
            page += &format!("  {}\n", visible_line(description, MAX_SHOWN));
        }
    }
    let mut overlooked = library.overlooked.iter();
    let warned = overlooked.by_ref().take(MAX_OVERLOOKED);
    warned.for_each(|place| cx.warn(place));
    if overlooked.len() > 0 {
        cx.warn(&format!(
            "{} more places have no usable skill; {} doctor names them",
            overlooked.len(),
            program::name()
        ));
    }
    if !is_json && page.is_empty() {
        page = format!(
            "there are no skills; {} skills --help says where they are looked for\n",
            program::name()
        );
    }
    cx.write_page(&page)?;
    Ok(Exit::Success)
}

fn show(arguments: &Arguments, cx: &dyn CommandContext) -> Result<Exit, CommandError> {
    let library = load(cx)?;
    let name = name(arguments)?;
    for shelved in find(&library, &name)? {
        let skill = &shelved.skill;
        let mut page = heading(shelved);
        let front_matter = serde_json::to_value(&skill.front_matter).unwrap_or_default();
        for (field, value) in front_matter.as_object().into_iter().flatten() {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            page += &format!("  {field}: {}\n", visible(&text));
        }
        page.extend(
            skill
                .faults
                .iter()
                .map(|fault| format!("  fault: {}\n", visible(&fault.to_string()))),
        );
        let text = match skill.contents() {
            Ok(contents) => {
                let subject = library.subject(skill, &contents);
                page += &facts(&subject, &[]);
                if skill.origin == Origin::Project {
                    page += &format!("  digest: {}\n", subject.digest());
                }
                // The text is that of the digest.
                skill
                    .clone()
                    .with_pinned(contents, format!("run {}", approval_command(&name)))
                    .text()
            }
            Err(error) => {
                page += &format!("  files: {}\n", visible(&error.to_string()));
                skill.text()
            }
        };
        match text {
            Ok(text) => page += &format!("\n{}\n", tools::visible_text(&text.body)),
            Err(error) => page += &format!("\n{}\n", visible(&error.to_string())),
        }
        cx.write_page(&page)?;
    }
    Ok(Exit::Success)
}

fn heading(Shelved { skill, .. }: &Shelved) -> String {
    let place = visible(&skill.path.to_string_lossy()).into_owned();
    format!(
        "{} ({}) at {place}\n",
        paint(STRONG, &skill.name),
        skill.origin
    )
}

/// Shows the files of a project's skill, and approves them if the person or a digest says so.
async fn approve(arguments: &Arguments, cx: &dyn CommandContext) -> Result<Exit, CommandError> {
    let library = load(cx)?;
    let name = name(arguments)?;
    let found = find(&library, &name)?;
    let of_project: Vec<_> = found
        .into_iter()
        .filter(|shelved| shelved.skill.origin == Origin::Project)
        .collect();
    let shelved = match of_project[..] {
        [] => {
            cx.note(&format!("the skill {name} is yours, and needs no approval"));
            return Ok(Exit::Success);
        }
        [one] => one,
        _ => {
            let places = of_project
                .iter()
                .map(|shelved| shelved.skill.path.display().to_string())
                .collect();
            return Err(SkillCommandError::Clash { name, places }.into());
        }
    };
    let approvals = Library::approvals().ok_or(SkillCommandError::NoState)?;
    let contents = shelved
        .skill
        .contents()
        .map_err(|error| SkillCommandError::Unusable {
            name: name.clone(),
            error,
        })?;
    let subject = library.subject(&shelved.skill, &contents);
    let changes = match approvals.find(&subject).map_err(SkillCommandError::from)? {
        Approval::Given => {
            cx.write_page(&format!("{}: approved\n", paint(STRONG, &name)))?;
            return Ok(Exit::Success);
        }
        Approval::Missing => Vec::new(),
        Approval::Outdated(changes) => changes,
    };
    let digest = subject.digest();
    let mut page = heading(shelved);
    let front_matter = &shelved.skill.front_matter;
    let description = visible_line(shelved.skill.description(), 1024);
    page += &format!("  description: {description}\n");
    if !front_matter.allowed_tools.is_empty() {
        let wanted = visible_line(&front_matter.allowed_tools.join(", "), 500);
        page += &format!("  allowed-tools: {wanted} (not obeyed: a skill grants nothing)\n");
    }
    page += &facts(&subject, &changes);
    page += &format!("  digest: {digest}\n");
    cx.write_page(&page)?;
    cx.hint(&format!(
        "{} skills show {name} prints the text; look at the files too",
        program::name()
    ));
    let rival = library.rival(shelved);
    if let Some(rival) = rival {
        cx.warn(&format!(
            "the skill {} at {} has the same name: once this one is approved, neither is used; rename one",
            rival.name,
            rival.path.display(),
        ));
    }
    let digests = arguments.values("digest")?;
    if !cx.is_approved(&digests, &digest, "this skill").await? {
        return Ok(Exit::Refused);
    }
    approvals
        .approve(&subject, &digest)
        .map_err(SkillCommandError::from)?;
    let next = match rival {
        Some(_) => "rename it or the other of this name, because neither is used",
        None => "new sessions may use it",
    };
    cx.note(&format!("approved the skill {name}; {next}"));
    Ok(Exit::Success)
}

/// Returns the folder and the digest of each file, with those that differ from the approved ones.
fn facts(subject: &Subject, changes: &[Change]) -> String {
    let mut page = String::new();
    for (fact, value) in &subject.facts {
        let state = match changes.iter().find(|change| change.fact == *fact) {
            Some(change) if change.before.is_none() => " (new since the approval)",
            Some(_) => " (changed since the approval)",
            None => "",
        };
        page += &format!(
            "  {}: {}{state}\n",
            visible(fact),
            visible(&value.to_string())
        );
    }
    for change in changes.iter().filter(|change| change.after.is_none()) {
        page += &format!("  {}: removed since the approval\n", visible(&change.fact));
    }
    page
}

fn revoke(arguments: &Arguments, cx: &dyn CommandContext) -> Result<Exit, CommandError> {
    let library = load(cx)?;
    let name = name(arguments)?;
    let approvals = Library::approvals().ok_or(SkillCommandError::NoState)?;
    let was_approved = approvals
        .revoke(&library.workspace, &name)
        .map_err(SkillCommandError::from)?;
    // An approval can be revoked after its skill is gone.
    if !was_approved {
        find(&library, &name)?;
    }
    let text = if was_approved {
        "revoked the approval of the skill"
    } else {
        "there was no approval of the skill"
    };
    cx.note(&format!("{text} {name}"));
    Ok(Exit::Success)
}
