//! [`Discovery`]: finds the skills of a workspace and of a user.

use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use tools::visible_line;

use crate::folder::{EntryKind, Folder, HIDDEN, SKILL_FILE};
use crate::front_matter::{Fault, SkillText};
use crate::name;
use crate::skill::{MAX_SKILL_FILE, Origin, Skill};

/// The folders of a project in which skills are looked for.
const PROJECT_FOLDERS: [&str; 2] = [".agents/skills", ".claude/skills"];

/// The levels of folders below a folder of skills: `skills/NAME`, `skills/AREA/NAME` and one more.
const MAX_DEPTH: usize = 3;

/// The maximum number of entries of a place that are looked at, with those of the folders below it.
const MAX_ENTRIES: usize = 5_000;

/// The maximum number of skills of a place.
const MAX_SKILLS: usize = 500;

/// The maximum size of all `SKILL.md` of a place, in MiB.
const MAX_MIB: usize = 16;

/// The places in which skills are looked for.
///
/// A folder inside the workspace belongs to the project, whoever named it, because tools and checkouts can change it.
///
/// ```
/// use tools_skill::{Discovery, Skills};
///
/// let found = Discovery { folders: vec!["/home/me/.agents/skills".into()], ..Discovery::default() }.find();
/// // Every skill is of the user, who needs no approval.
/// let skills = Skills::new(found.skills);
/// assert_eq!(skills.list().count(), 0);
/// ```
#[derive(Clone, Debug, Default)]
pub struct Discovery {
    /// The workspace with the folders `.agents/skills` and `.claude/skills`. Links in them that lead out of it are not followed.
    /// Each folder has limits of its own.
    pub workspace: Option<PathBuf>,
    /// True if no skill is looked for in the folders of the workspace. A folder of the user inside it still belongs to the project.
    pub omits_project_folders: bool,
    /// The folders of the user, which need not exist. Links in them are followed, because the user made them.
    pub folders: Vec<PathBuf>,
    /// The files and folders of the host, such as those with secrets, which need not exist yet. None is read as a part of a skill, and a
    /// skill in one is found only below a folder of the user.
    pub hidden: Vec<PathBuf>,
}

/// The skills of all places.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Found {
    /// The skills, in the order of the places, then by path.
    pub skills: Vec<Skill>,
    /// The places that look like skills and are none, and the folders of skills over their limits.
    pub overlooked: Vec<Overlooked>,
    /// The links below the folders of the user that can lead to skills, now or later.
    pub links: Vec<PathBuf>,
}

/// A place that looks like a skill and is none, or a folder of skills over its limits.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overlooked {
    /// The path.
    pub path: PathBuf,
    /// The reason, with the next step.
    pub reason: String,
}

impl Discovery {
    /// Looks for the skills. Blocks.
    pub fn find(&self) -> Found {
        let root = self.workspace.as_ref();
        let root = root.and_then(|root| root.canonicalize().ok());
        let hidden = self.hidden.as_slice().into();
        let real_hidden = self
            .hidden
            .iter()
            .filter_map(|place| place.canonicalize().ok())
            .collect();
        let mut search = Search {
            root: root.clone(),
            hidden,
            real_hidden,
            ..Search::default()
        };
        if let Some(root) = root
            && !self.omits_project_folders
            && let Ok(dir) = Dir::open_ambient_dir(&root, ambient_authority())
        {
            let base = Base::Inside(dir, root);
            PROJECT_FOLDERS
                .iter()
                .for_each(|folder| search.start(&base, Path::new(folder)));
        }
        for folder in &self.folders {
            search.start(&Base::Anywhere, folder);
        }
        search.found
    }
}

/// The way in which paths are opened.
enum Base {
    /// Below a directory, which no link leaves.
    Inside(Dir, PathBuf),
    Anywhere,
}

impl Base {
    fn open(&self, path: &Path) -> io::Result<Dir> {
        match self {
            Self::Inside(dir, _) => dir.open_dir(path),
            Self::Anywhere => Dir::open_ambient_dir(path, ambient_authority()),
        }
    }

    fn absolute(&self, path: &Path) -> PathBuf {
        match self {
            Self::Inside(_, root) => root.join(path),
            Self::Anywhere => path.to_owned(),
        }
    }
}

#[derive(Default)]
struct Search {
    root: Option<PathBuf>,
    hidden: Arc<[PathBuf]>,
    /// The paths to which links in the hidden ones lead.
    real_hidden: Vec<PathBuf>,
    /// The folders that were entered, by device and number, so that a link adds none twice.
    seen: BTreeSet<(u64, u64)>,
    /// The entries and skills of the present place, and the bytes that were read of them.
    entries: usize,
    skills: usize,
    bytes: usize,
    found: Found,
}

impl Search {
    /// Looks for skills in a place. Its limits are its own, so that a place of a project takes nothing from those of the user.
    fn start(&mut self, base: &Base, place: &Path) {
        (self.entries, self.skills, self.bytes) = (0, 0, 0);
        self.enter(base, place, 0);
        if self.is_full() {
            let reason = format!(
                "it has more than {MAX_SKILLS} skills, {MAX_ENTRIES} entries or {MAX_MIB} MiB of {SKILL_FILE}, so some skills were not found; move some away"
            );
            self.overlook(base, place, reason);
        }
    }

    /// Returns true if the present place is over one of its limits.
    fn is_full(&self) -> bool {
        self.entries > MAX_ENTRIES || self.skills > MAX_SKILLS || self.bytes > MAX_MIB << 20
    }

    /// Looks for skills in a folder and below it. A folder that is a skill has none below it.
    fn enter(&mut self, base: &Base, path: &Path, depth: usize) {
        if let Err(reason) = self.enter_folder(base, path, depth) {
            self.overlook(base, path, reason);
        }
    }

    /// # Errors
    /// Returns the reason for which the folder is overlooked.
    fn enter_folder(&mut self, base: &Base, path: &Path, depth: usize) -> Result<(), String> {
        let unreadable = |error| format!("it cannot be read: {error}");
        let dir = match base.open(path) {
            Err(error) if depth == 0 && error.kind() == io::ErrorKind::NotFound => return Ok(()),
            dir => dir.map_err(|error| format!("it cannot be opened: {error}"))?,
        };
        if matches!(base, Base::Inside(..)) && self.is_hidden(&base.absolute(path)) {
            return Err(format!("it cannot be read: {HIDDEN}"));
        }
        let folder = Folder::new(dir, self.hidden.clone());
        if !self.seen.insert(folder.identity().map_err(unreadable)?) {
            return Ok(());
        }
        if depth > 0
            && let Some(file) = folder.skill_file()
        {
            return self.add(base, path, folder, file);
        }
        // One more than are looked at, so that a limit does not pass unnoticed.
        for (name, kind) in folder.entries(MAX_ENTRIES + 1).map_err(unreadable)? {
            self.entries += 1;
            if self.is_full() {
                break;
            }
            let name = match name {
                Ok(name) if name.starts_with('.') || name == "node_modules" => continue,
                Ok(name) => name,
                Err(name) => {
                    if matches!(kind, EntryKind::Folder | EntryKind::Link) {
                        let reason = "its name is not UTF-8; rename it".to_owned();
                        self.overlook(base, &path.join(name), reason);
                    }
                    continue;
                }
            };
            let below = path.join(&name);
            match kind {
                EntryKind::Folder if depth < MAX_DEPTH => self.enter(base, &below, depth + 1),
                EntryKind::Link if depth < MAX_DEPTH => {
                    if matches!(base, Base::Anywhere) {
                        self.found.links.push(below.clone());
                    }
                    match base.open(&below) {
                        Ok(_) => self.enter(base, &below, depth + 1),
                        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {}
                        Err(error) => {
                            let reason = format!(
                                "the link cannot be followed: {error}; replace it by the folder"
                            );
                            self.overlook(base, &below, reason);
                        }
                    }
                }
                EntryKind::Folder if depth == MAX_DEPTH && self.is_skill(base, &below) => {
                    let advice = format!(
                        "it is more than {MAX_DEPTH} levels below the folder of skills; move it up"
                    );
                    self.overlook(base, &below, advice);
                }
                EntryKind::File if depth == 0 && is_loose_skill(&name) => {
                    let advice = format!(
                        "a skill is a folder with a {SKILL_FILE}; move the file to NAME/{SKILL_FILE}"
                    );
                    self.overlook(base, &below, advice);
                }
                _ => {}
            }
        }
        Ok(())
    }

    /// # Errors
    /// Returns the reason for which the skill is overlooked.
    fn add(
        &mut self,
        base: &Base,
        path: &Path,
        folder: Folder,
        file: String,
    ) -> Result<(), String> {
        self.skills += 1;
        if self.is_full() {
            return Ok(());
        }
        let read = folder
            .read(&file, MAX_SKILL_FILE)
            .map_err(|error| error.to_string())?;
        self.bytes += read.bytes.len();
        if self.is_full() {
            return Ok(());
        }
        if read.size > MAX_SKILL_FILE {
            return Err(format!(
                "{SKILL_FILE} has more than {MAX_SKILL_FILE} bytes; shorten it"
            ));
        }
        let SkillText {
            front_matter,
            mut faults,
            ..
        } = SkillText::from_bytes(&read.bytes);
        if file != SKILL_FILE {
            faults.push(Fault::FileName {
                name: visible_line(&file, 64),
            });
        }
        let called = path.file_name().unwrap_or_default().to_string_lossy();
        let name = name::choose(front_matter.name.as_deref(), &called, &mut faults).ok_or(
            "neither its name nor that of its folder can be used; use letters, digits and hyphens",
        )?;
        let place = base.absolute(path);
        self.found.skills.push(Skill {
            name,
            origin: self.origin(base, &place),
            path: place,
            front_matter,
            faults,
            file,
            folder: Arc::new(folder),
            pinned: None,
            step: String::new(),
        });
        Ok(())
    }

    /// Returns the owner of a folder: the project if it is inside the workspace, by whatever link.
    fn origin(&self, base: &Base, place: &Path) -> Origin {
        let is_outside = match (place.canonicalize(), &self.root) {
            (Ok(real), Some(root)) => !real.starts_with(root),
            (Ok(_), None) => true,
            // A place that cannot be resolved needs an approval, as one of the project does.
            (Err(_), _) => false,
        };
        match base {
            Base::Anywhere if is_outside => Origin::User,
            Base::Anywhere | Base::Inside(..) => Origin::Project,
        }
    }

    /// Returns true for a folder with a file of instructions.
    fn is_skill(&self, base: &Base, path: &Path) -> bool {
        base.open(path)
            .is_ok_and(|dir| Folder::new(dir, self.hidden.clone()).skill_file().is_some())
    }

    /// Returns true if the path leads to a hidden path or below one.
    fn is_hidden(&self, path: &Path) -> bool {
        // A path that cannot be resolved may lead to a hidden one.
        let Ok(real) = path.canonicalize() else {
            return true;
        };
        self.real_hidden
            .iter()
            .any(|hidden| real.starts_with(hidden))
    }

    fn overlook(&mut self, base: &Base, path: &Path, reason: String) {
        self.found.overlooked.push(Overlooked {
            path: base.absolute(path),
            reason,
        });
    }
}

/// Returns true for a file that other programs take for a skill.
fn is_loose_skill(name: &str) -> bool {
    let Some((stem, extension)) = name.rsplit_once('.') else {
        return false;
    };
    extension.eq_ignore_ascii_case("md")
        && !["readme", "agents", "claude", "license"].contains(&stem.to_ascii_lowercase().as_str())
}
