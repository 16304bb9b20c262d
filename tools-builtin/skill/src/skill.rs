//! [`Skill`]: a skill that was found.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;

use tools::{Digest, ToolError, visible_line};

use crate::contents::{Contents, MAX_BYTES};
use crate::folder::{Folder, FolderError, ReadFile};
use crate::front_matter::{Fault, FrontMatter, SkillText};

/// The maximum length of a `SKILL.md` that is read, in bytes.
pub(crate) const MAX_SKILL_FILE: u64 = 1024 * 1024;

/// The maximum length of the beginning of a file that is shown, in bytes.
const MAX_SHOWN: u64 = MAX_SKILL_FILE;

/// The maximum number of files that a message names.
const NAMED: usize = 5;

/// A skill: a folder with instructions for one kind of task.
#[derive(Clone, Debug)]
pub struct Skill {
    /// The name by which the skill is called.
    pub name: String,
    /// The owner of the folder.
    pub origin: Origin,
    /// The path of the folder, for display.
    pub path: PathBuf,
    /// The fields of the front matter, which are text from outside.
    pub front_matter: FrontMatter,
    /// The deviations from the specification.
    pub faults: Vec<Fault>,
    pub(crate) file: String,
    pub(crate) folder: Arc<Folder>,
    pub(crate) pinned: Option<Arc<Contents>>,
    /// The next step of the user after a change of the pinned contents.
    pub(crate) step: String,
}

/// The owner of a skill's folder, who decides what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// The user of this machine.
    User,
    /// The project in the workspace, which can come from anyone.
    Project,
}

/// The error of a skill that cannot be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SkillError {
    /// There is no skill of this name.
    #[error("there is no skill {name:?}{}", near(names))]
    Unknown {
        /// The name, cut and with visible characters.
        name: String,
        /// The nearest names.
        names: Vec<String>,
    },
    /// Several skills have this name, so none is used.
    #[error("several skills are called {name:?}: {}; ask the user to rename or remove all but one", places.join(" and "))]
    Clash {
        /// The name.
        name: String,
        /// The folders.
        places: Vec<String>,
    },
    /// The host withholds the skill.
    #[error("this session does not have the skill {name:?}: {reason}")]
    Withheld {
        /// The name.
        name: String,
        /// The reason and the next step.
        reason: String,
    },
    /// The folder is not the one that the user has approved.
    #[error(
        "the skill {name:?} has changed since this session began ({}); ask the user to look at it and to {step}",
        named_files(files)
    )]
    Changed {
        /// The name.
        name: String,
        /// The files that differ.
        files: Vec<String>,
        /// The next step of the user, as the host names it.
        step: String,
    },
    /// The folder or a file in it cannot be used.
    #[error("the skill {name:?} cannot be read: {error}")]
    Folder {
        /// The name.
        name: String,
        /// The fault.
        error: FolderError,
    },
}

impl Skill {
    /// Returns the description, which is text from outside. Returns an empty one if there is none.
    pub(crate) fn description(&self) -> &str {
        self.front_matter.description.as_deref().unwrap_or_default()
    }

    /// Reads all files of the folder, as a person approves them. They have the [front matter](Self#structfield.front_matter) of this value.
    ///
    /// # Errors
    /// - Returns an error if the folder has a link or an entry of another kind, if it is too large, or if a file cannot be read.
    /// - Returns [`FolderError::Changed`] if the front matter is another one by now.
    pub fn contents(&self) -> Result<Contents, FolderError> {
        let (contents, bytes) = Contents::of(&self.folder, &self.file)?;
        // The bytes that are hashed are the ones that are compared.
        if SkillText::from_bytes(&bytes).front_matter != self.front_matter {
            let path = self.file.clone();
            return Err(FolderError::Changed { path });
        }
        Ok(contents)
    }

    /// Pins the skill to [its contents](Self::contents), which a person has approved. Reading any other content is refused from then on.
    /// The error asks the user to take this step, such as `run toolcrib skills approve tides`.
    #[must_use]
    pub fn with_pinned(mut self, contents: Contents, step: impl Into<String>) -> Self {
        self.pinned = Some(Arc::new(contents));
        self.step = step.into();
        self
    }

    /// Reads the whole text again. Blocks.
    ///
    /// # Errors
    /// Returns an error if the file cannot be read, or if the folder is not the pinned one.
    pub fn text(&self) -> Result<SkillText, SkillError> {
        self.check()?;
        let file = self.read(&self.file)?;
        Ok(SkillText::from_bytes(&file.bytes))
    }

    /// Reads the beginning of a file of the folder. Blocks.
    pub(crate) fn read(&self, path: &str) -> Result<ReadFile, SkillError> {
        // The digest is that of the whole file.
        let most = if self.pinned.is_some() {
            MAX_BYTES
        } else {
            MAX_SHOWN
        };
        let file = self.folder.read(path, most);
        let mut file = file.map_err(|error| self.fault(error))?;
        if let Some(pinned) = &self.pinned {
            let normal = tools::protocol::Normaliser::Path.apply(path);
            let known = normal.ok().and_then(|path| pinned.file(&path).copied());
            if known != Some(Digest::hash_bytes(&file.bytes)) {
                return Err(self.change_error(vec![visible_line(path, 200)]));
            }
        }
        file.bytes.truncate(MAX_SHOWN as usize);
        file.bytes.shrink_to_fit();
        Ok(file)
    }

    /// Returns the paths of the files, and the reason if they are not all.
    pub(crate) fn files(&self) -> Result<Vec<String>, FolderError> {
        let contents = match &self.pinned {
            Some(pinned) => Contents::clone(pinned),
            None => Contents::of(&self.folder, &self.file)?.0,
        };
        Ok(contents.files().map(|(path, _)| path.to_owned()).collect())
    }

    /// Returns an error if the skill is pinned and the folder is another one.
    fn check(&self) -> Result<(), SkillError> {
        let Some(pinned) = &self.pinned else {
            return Ok(());
        };
        let (present, _) =
            Contents::of(&self.folder, &self.file).map_err(|error| self.fault(error))?;
        let files = pinned.differences(&present);
        if files.is_empty() {
            Ok(())
        } else {
            Err(self.change_error(files))
        }
    }

    fn change_error(&self, files: Vec<String>) -> SkillError {
        SkillError::Changed {
            name: self.name.clone(),
            files,
            step: self.step.clone(),
        }
    }

    fn fault(&self, error: FolderError) -> SkillError {
        SkillError::Folder {
            name: self.name.clone(),
            error,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::User => "user",
            Self::Project => "project",
        })
    }
}

impl From<SkillError> for ToolError {
    fn from(error: SkillError) -> Self {
        Self::execution_failed(error.to_string())
    }
}

fn near(names: &[String]) -> String {
    let listed = "the system text lists the skills of this session";
    format!(
        "; {}",
        ToolError::did_you_mean(names).as_deref().unwrap_or(listed)
    )
}

/// Returns the first five of these names of files, and the number of the others.
pub fn named_files(files: &[String]) -> String {
    let named = files.iter().take(NAMED);
    let named: Vec<_> = named.map(|path| visible_line(path, 100)).collect();
    let more = match files.len() - named.len() {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    named.join(", ") + &more
}
