//! `toolcrib skills`

use clap::{Args, Subcommand};
use serde_json::json;
use tools::{Digest, visible_line};
use tools_builtin::skill::Origin;
use tools_mcp::trust::{Approval, Change, Subject};

use super::approval::is_approved;
use crate::config::{ConfigOptions, Values};
use crate::error::Error;
use crate::exit::Exit;
use crate::notice::{self, FAINT, STRONG, styled};
use crate::output;
use crate::program;
use crate::root::RootOption;
use crate::skills::{Library, Shelved, approval_command};
use crate::visible::visible;

/// The maximum length of a description in a list, in characters.
const MAX_SHOWN: usize = 200;

/// The maximum number of warnings on places that look like skills and are none.
const MAX_OVERLOOKED: usize = 5;

/// List the skills of yours and of the project, show one, and approve one of the project
///
/// Skills are folders with a SKILL.md, below .agents/skills and .claude/skills of the root and of your home, skills beside the settings
/// file, and the folders of the setting skills.folders. Sessions do not use a project's skill before you approve it.
#[derive(Args, Debug)]
#[command(args_conflicts_with_subcommands = true)]
pub(super) struct SkillsArgs {
    #[command(subcommand)]
    command: Option<SkillsCommand>,

    #[command(flatten)]
    list: ListOptions,
}

#[derive(Args, Debug)]
struct ListOptions {
    #[command(flatten)]
    places: PlaceOptions,

    /// Print the skills as JSON, one document per line
    #[arg(long)]
    json: bool,
}

#[derive(Args, Debug)]
struct PlaceOptions {
    #[command(flatten)]
    root: RootOption,

    #[command(flatten)]
    config: ConfigOptions,
}

#[derive(Debug, Subcommand)]
enum SkillsCommand {
    /// List the skills, their places and whether sessions may use them
    List(ListOptions),
    /// Show the front matter, the faults, the files with their digests and the text of a skill
    Show {
        /// The name
        name: String,

        #[command(flatten)]
        places: PlaceOptions,
    },
    /// Approve a project's skill with its files
    ///
    /// Asks on a terminal. Without one, --digest names what to approve, as an earlier `approve` has shown it. A change of any file needs
    /// it again.
    Approve {
        /// The name
        name: String,

        #[command(flatten)]
        places: PlaceOptions,

        /// Approve the files of this digest without a question; repeatable
        #[arg(long, value_name = "DIGEST")]
        digest: Vec<Digest>,
    },
    /// Revoke the approval of a project's skill
    Revoke {
        /// The name
        name: String,

        #[command(flatten)]
        places: PlaceOptions,
    },
}

impl PlaceOptions {
    fn library(&self) -> Result<Library, Error> {
        Ok(Library::load(
            self.root.workspace()?,
            true,
            &self.config.settings(Values::default())?,
        ))
    }
}

impl SkillsArgs {
    pub(super) async fn run(self) -> Result<Exit, Error> {
        match self.command {
            None => list(&self.list)?,
            Some(SkillsCommand::List(options)) => list(&options)?,
            Some(SkillsCommand::Show { name, places }) => show(&places.library()?, &name)?,
            Some(SkillsCommand::Approve {
                name,
                places,
                digest,
            }) => {
                return approve(&places.library()?, &name, &digest).await;
            }
            Some(SkillsCommand::Revoke { name, places }) => revoke(&places.library()?, &name)?,
        }
        Ok(Exit::Success)
    }
}

fn list(options: &ListOptions) -> Result<(), Error> {
    let library = options.places.library()?;
    let mut page = String::new();
    for shelved in &library.skills {
        let skill = &shelved.skill;
        let (origin, standing) = (skill.origin().to_string(), shelved.standing_text());
        let description = skill
            .front_matter()
            .description
            .as_deref()
            .unwrap_or_default();
        if options.json {
            let path = skill.path().to_string_lossy();
            let faults: Vec<_> = skill.faults().iter().map(ToString::to_string).collect();
            output::json(&json!({
                "name": skill.name(), "origin": origin, "path": path, "standing": standing, "description": description,
                "faults": faults,
            }))?;
        } else {
            let place = styled(FAINT, visible(&skill.path().to_string_lossy()));
            page += &format!(
                "{} ({origin}): {}\n  {place}\n",
                styled(STRONG, skill.name()),
                visible(&standing)
            );
            page += &format!("  {}\n", visible_line(description, MAX_SHOWN));
        }
    }
    library
        .overlooked
        .iter()
        .take(MAX_OVERLOOKED)
        .for_each(|place| notice::warning(place));
    if let Some(more) = library
        .overlooked
        .len()
        .checked_sub(MAX_OVERLOOKED)
        .filter(|more| *more > 0)
    {
        notice::warning(&format!(
            "{more} more places have no usable skill; {} doctor names them",
            program::name()
        ));
    }
    if !options.json && page.is_empty() {
        page = format!(
            "there are no skills; {} skills --help says where they are looked for\n",
            program::name()
        );
    }
    output::page(&page)
}

fn show(library: &Library, name: &str) -> Result<(), Error> {
    for shelved in library.find(name)? {
        let skill = &shelved.skill;
        let mut page = heading(shelved);
        let front_matter = serde_json::to_value(skill.front_matter()).unwrap_or_default();
        for (field, value) in front_matter.as_object().into_iter().flatten() {
            let text = value
                .as_str()
                .map_or_else(|| value.to_string(), str::to_owned);
            page += &format!("  {field}: {}\n", visible(&text));
        }
        page.extend(
            skill
                .faults()
                .iter()
                .map(|fault| format!("  fault: {}\n", visible(&fault.to_string()))),
        );
        let text = match skill.contents() {
            Ok(contents) => {
                let subject = library.subject(skill, &contents);
                page += &facts(&subject, &[]);
                if skill.origin() == Origin::Project {
                    page += &format!("  digest: {}\n", subject.digest());
                }
                // The text is that of the digest.
                skill
                    .clone()
                    .with_pinned(contents, format!("run {}", approval_command(name)))
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
        output::page(&page)?;
    }
    Ok(())
}

fn heading(Shelved { skill, .. }: &Shelved) -> String {
    let place = visible(&skill.path().to_string_lossy()).into_owned();
    format!(
        "{} ({}) at {place}\n",
        styled(STRONG, skill.name()),
        skill.origin()
    )
}

/// Shows the files of a project's skill, and approves them if the person or a digest says so.
async fn approve(library: &Library, name: &str, digests: &[Digest]) -> Result<Exit, Error> {
    let found = library.find(name)?;
    let of_project: Vec<_> = found
        .into_iter()
        .filter(|shelved| shelved.skill.origin() == Origin::Project)
        .collect();
    let shelved = match of_project[..] {
        [] => {
            notice::note(&format!("the skill {name} is yours, and needs no approval"));
            return Ok(Exit::Success);
        }
        [one] => one,
        _ => {
            let places = of_project
                .iter()
                .map(|shelved| shelved.skill.path().display().to_string())
                .collect();
            return Err(Error::SkillClash {
                name: name.to_owned(),
                places,
            });
        }
    };
    let unusable = |reason: String| Error::Skill {
        name: name.to_owned(),
        reason,
    };
    let Some(approvals) = Library::approvals() else {
        return Err(Error::NoHome);
    };
    let contents = shelved
        .skill
        .contents()
        .map_err(|error| unusable(error.to_string()))?;
    let subject = library.subject(&shelved.skill, &contents);
    let changes = match approvals.find(&subject)? {
        Approval::Given => {
            output::page(&format!("{}: approved\n", styled(STRONG, name)))?;
            return Ok(Exit::Success);
        }
        Approval::Missing => Vec::new(),
        Approval::Outdated(changes) => changes,
    };
    let digest = subject.digest();
    let mut page = heading(shelved);
    let front_matter = shelved.skill.front_matter();
    page += &format!(
        "  description: {}\n",
        visible_line(
            front_matter.description.as_deref().unwrap_or_default(),
            1024
        )
    );
    if !front_matter.allowed_tools.is_empty() {
        let wanted = visible_line(&front_matter.allowed_tools.join(", "), 500);
        page += &format!("  allowed-tools: {wanted} (not obeyed: a skill grants nothing)\n");
    }
    page += &facts(&subject, &changes);
    page += &format!("  digest: {digest}\n");
    output::page(&page)?;
    notice::hint(&format!(
        "{} skills show {name} prints the text; look at the files too",
        program::name()
    ));
    let rival = library.rival(shelved);
    if let Some(rival) = rival {
        notice::warning(&format!(
            "the skill {} at {} has the same name: once this one is approved, neither is used; rename one",
            rival.name(),
            rival.path().display(),
        ));
    }
    if !is_approved(digests, &digest, "this skill").await? {
        return Ok(Exit::Refused);
    }
    approvals.approve(&subject, &digest)?;
    let next = match rival {
        Some(_) => "rename it or the other of this name, because neither is used",
        None => "new sessions may use it",
    };
    notice::note(&format!("approved the skill {name}; {next}"));
    Ok(Exit::Success)
}

/// Returns the folder and the digest of each file, with those that differ from the approved ones.
fn facts(subject: &Subject, changes: &[Change]) -> String {
    let mut page = String::new();
    for (fact, value) in subject.facts() {
        let state = match changes.iter().find(|change| change.fact == fact) {
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

fn revoke(library: &Library, name: &str) -> Result<(), Error> {
    let Some(approvals) = Library::approvals() else {
        return Err(Error::NoHome);
    };
    let was_approved = approvals.revoke(library.workspace(), name)?;
    // An approval can be revoked after its skill is gone.
    if !was_approved {
        library.find(name)?;
    }
    let text = if was_approved {
        "revoked the approval of the skill"
    } else {
        "there was no approval of the skill"
    };
    notice::note(&format!("{text} {name}"));
    Ok(())
}
