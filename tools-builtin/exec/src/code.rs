//! [`Code`]: the files of the workspace that a command runs, as far as its words name them.
//!
//! An approval for the session is bound to their content: a script that the agent writes anew is asked about again. The words of a
//! command, and the scripts that they name, are searched for names of files. A program can run further files, so an approval of a command
//! that runs code has a [`Reach`] beyond them.

mod content;
mod kind;
mod tree;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fs;
use std::path::{Component, Path, PathBuf};

use tools::protocol::{Normaliser, Word, Words};
use tools::{Basis, Digest, ToolContext, ToolError, visible_line};
use tools_workspace::Workspace;

use self::content::{content, script};
use self::kind::{is_of_project, is_script};
use self::tree::Reach;
use crate::command::has_word;
use crate::disk::entries;
use crate::lookup;
use crate::prepare::fail;
use crate::sandbox::Sandbox;

/// The most files to which an approval is bound. The code of a command that names more is not known.
const MAX_FILES: usize = 256;

/// The most folders in which names are looked up.
const MAX_FOLDERS: usize = 32;

/// The most names that are looked up.
const MAX_NAMES: usize = 100_000;

/// The names that a preview shows.
const SHOWN: usize = 10;

/// Programs that run what other files or their input list.
const RUN_LISTED: &str = "entr fd fdfind find parallel rg run-parts tar watchexec xargs";

/// Characters by which a shell chooses files or words while it runs.
const CHOOSES: [char; 4] = ['$', '`', '*', '?'];

/// Words at the start of a line of a script, after which each name is that of a file that runs.
const INCLUDES: [&str; 5] = ["-include", ".", "include", "sinclude", "source"];

/// Words anywhere in a line of a script, after which each name is that of a file that runs.
const RUNNERS: [&str; 16] = [
    "SHELL", "bash", "bun", "dash", "deno", "fish", "ksh", "lua", "node", "perl", "php", "python",
    "python3", "ruby", "sh", "zsh",
];

/// The folders of a project in which programs and modules are looked up.
const PLACES: &str = "node_modules/.bin .venv/bin venv/bin vendor/bin bin";

/// The files that a command runs.
pub(crate) struct Code {
    /// The content to which an approval for the session is bound.
    pub(crate) basis: Basis,
    /// The names of the files, for the person who is asked.
    names: Vec<String>,
    reach: Reach,
}

impl Code {
    /// Looks for the files of these commands, which run in the folder `cwd` of the workspace. `text` is the script that they come from.
    /// Blocks.
    ///
    /// # Errors
    /// Returns an error if a service is missing, or if `cwd` is not a path.
    pub(crate) fn find(
        cx: &ToolContext,
        commands: &[Words],
        text: &str,
        cwd: &str,
    ) -> Result<Self, ToolError> {
        let workspace = cx.need::<Workspace>()?;
        let sandbox = cx.need::<Sandbox>()?;
        let cwd = Normaliser::Path.apply(cwd).map_err(fail)?;
        let root = workspace.root();
        let mut search = Search::new(root, &root.join(cwd));
        let folders = lookup::folders(&sandbox.toolchains(&workspace));
        let is_known = search.add_commands(commands, text, &folders) && search.follow();
        let found = search.found.iter();
        let below = found.filter_map(|path| path.strip_prefix(root).ok());
        let names = below.map(|path| visible_line(&path.to_string_lossy(), 100));
        let rest = if is_known {
            search.reach.digest(root)
        } else {
            None
        };
        let basis = rest.map_or(Basis::Unknown, |rest| Basis::Content(search.digest(&rest)));
        Ok(Self {
            basis,
            names: names.collect(),
            reach: search.reach,
        })
    }

    /// Describes the files in a line of a preview. Empty if there are none.
    pub(crate) fn describe(&self) -> String {
        let more = self.names.len().saturating_sub(SHOWN);
        let mut shown: Vec<String> = self.names.iter().take(SHOWN).cloned().collect();
        shown.extend((more > 0).then(|| format!("{more} more")));
        let end = match self.reach {
            _ if self.basis == Basis::Unknown => {
                return "code: not known before it runs, so each call is asked about\n".to_owned();
            }
            Reach::Named if shown.is_empty() => return String::new(),
            Reach::Named => "an approval for the session ends when one changes",
            Reach::Instructions => "an approval for the session covers later sources, too",
            Reach::Code => "an approval for the session ends when any code changes",
        };
        if shown.is_empty() {
            shown.push("of the workspace".to_owned());
        }
        format!("code: {}; {end}\n", shown.join(", "))
    }
}

/// The names in a folder, by themselves and without the ending that a script may leave out.
type Listing = HashMap<String, Vec<String>>;

/// A search for the files that commands name.
struct Search<'a> {
    root: &'a Path,
    /// The folders in which names are looked up.
    folders: Vec<(PathBuf, Listing)>,
    /// The files, also those that are missing.
    found: BTreeSet<PathBuf>,
    /// The files that are to be searched.
    waiting: Vec<PathBuf>,
    /// The names that are looked up already, by the folder of the script that has them.
    seen: HashMap<PathBuf, HashSet<String>>,
    left: usize,
    /// The files beyond the names. A command that runs other programs or code has more, and each file that it names may be code.
    reach: Reach,
}

impl<'a> Search<'a> {
    fn new(root: &'a Path, cwd: &Path) -> Self {
        let mut search = Self {
            root,
            folders: Vec::new(),
            found: BTreeSet::new(),
            waiting: Vec::new(),
            seen: HashMap::new(),
            left: MAX_NAMES,
            reach: Reach::Named,
        };
        search.add_folder(cwd);
        search.add_folder(root);
        search
    }

    /// Adds the files of commands and of the script that has them. Returns false if they are not known.
    fn add_commands(&mut self, commands: &[Words], script: &str, folders: &[PathBuf]) -> bool {
        let mut texts = vec![script.to_owned()];
        for words in commands {
            let known: Option<Vec<&str>> = words.iter().map(Word::known).collect();
            let Some(words_of_command) = known else {
                return false;
            };
            let program = words_of_command.first().copied().unwrap_or_default();
            let path = if program.contains('/') {
                Some(self.root.join(program))
            } else {
                folders
                    .iter()
                    .map(|folder| folder.join(program))
                    .find(|path| lookup::is_program(path))
            };
            let is_own = path
                .as_ref()
                .is_some_and(|path| path.starts_with(self.root));
            if is_own {
                self.reach = Reach::Code;
            } else if words.runs_programs() {
                self.reach = self.reach.max(Reach::of(words));
            }
            if let Some(path) = path {
                self.add_file(&path);
            }
            texts.extend(words_of_command.into_iter().map(str::to_owned));
        }
        if self.runs_code() {
            let mut pieces = texts.iter().flat_map(|text| pieces(text));
            let runs_listed = pieces
                .any(|piece| has_word(RUN_LISTED, piece.rsplit('/').next().unwrap_or_default()));
            if runs_listed || texts.iter().any(|text| text.contains(CHOOSES)) {
                return false;
            }
            let Some((cwd, _)) = self.folders.first() else {
                return false;
            };
            let cwd = cwd.clone();
            let root = self.root;
            cwd.ancestors()
                .take_while(|path| path.starts_with(root))
                .for_each(|folder| self.add_project(folder));
            PLACES
                .split(' ')
                .for_each(|place| self.add_folder(&cwd.join(place)));
        }
        texts.iter().all(|text| self.add_names(text, None))
    }

    fn runs_code(&self) -> bool {
        self.reach > Reach::Named
    }

    /// Searches the files for further ones. Returns false if there are too many.
    fn follow(&mut self) -> bool {
        while let Some(path) = self.waiting.pop() {
            if self.found.len() > MAX_FILES {
                return false;
            }
            let Some(text) = script(&path) else { continue };
            let folder = path.parent().unwrap_or(self.root).to_owned();
            if !self.add_names(&text, Some(&folder)) {
                return false;
            }
            self.add_included(&text);
        }
        self.found.len() <= MAX_FILES
    }

    /// Looks up the names in a text of a command, or in one of a script in this folder. Returns false if there are too many.
    fn add_names(&mut self, text: &str, script: Option<&Path>) -> bool {
        let seen = self
            .seen
            .entry(script.map(Path::to_owned).unwrap_or_default())
            .or_default();
        let all = [text]
            .into_iter()
            .chain(pieces(text))
            .filter(|name| !name.is_empty() && name.len() < MAX_NAME);
        let names: Vec<String> = all
            .filter(|name| seen.insert((*name).to_owned()))
            .map(str::to_owned)
            .collect();
        let Some(left) = self.left.checked_sub(names.len()) else {
            return false;
        };
        self.left = left;
        if let Some(folder) = script {
            self.add_folder(folder);
        }
        // First the folders, in which the files are looked up.
        for name in &names {
            let mut folders = self.candidates(name);
            folders.retain(|path| path.is_dir());
            for path in folders {
                self.add_folder(&path);
                if self.runs_code() && script.is_none() {
                    self.add_project(&path);
                }
                // A shell chooses files of a folder by a pattern.
                if self.runs_code() && name.ends_with('/') {
                    self.add_scripts(&path);
                }
            }
        }
        let candidates: Vec<_> = names
            .iter()
            .flat_map(|name| self.candidates(name))
            .collect();
        for path in candidates {
            let Ok(metadata) = fs::metadata(&path) else {
                continue;
            };
            let is_code = self.runs_code() && script.is_none() || is_script(&path, &metadata);
            if metadata.is_file() && is_code {
                self.add_file(&path);
            }
        }
        true
    }

    /// Adds the files that lines of a script include or run by an interpreter, whatever their names are.
    fn add_included(&mut self, script: &str) {
        for line in script.replace("\\\n", " ").lines() {
            let first = line.split_whitespace().next().unwrap_or_default();
            let runner = pieces(line)
                .position(|piece| piece.rsplit('/').any(|name| RUNNERS.contains(&name)));
            let before = if INCLUDES.contains(&first) {
                Some(0)
            } else {
                runner
            };
            if let Some(before) = before {
                let paths: Vec<PathBuf> = pieces(line)
                    .skip(before + 1)
                    .flat_map(|name| self.candidates(name))
                    .collect();
                paths
                    .iter()
                    .filter(|path| path.is_file())
                    .for_each(|path| self.add_file(path));
            }
        }
    }

    /// Returns the paths that a name may mean. Not all of them exist.
    fn candidates(&self, name: &str) -> Vec<PathBuf> {
        let path = Path::new(name);
        if path.is_absolute() {
            return if path.starts_with(self.root) {
                vec![path.to_owned()]
            } else {
                Vec::new()
            };
        }
        let parts: Vec<_> = path
            .components()
            .filter(|part| *part != Component::CurDir)
            .collect();
        let module = (!name.contains('/'))
            .then(|| name.split_once('.'))
            .flatten();
        let mut found = Vec::new();
        for (folder, listing) in &self.folders {
            match &parts[..] {
                [] => found.push(folder.clone()),
                [Component::Normal(only)] => {
                    let listed = only.to_str().and_then(|only| listing.get(only));
                    found.extend(listed.into_iter().flatten().map(|entry| folder.join(entry)));
                }
                [Component::Normal(first), ..]
                    if first
                        .to_str()
                        .is_none_or(|first| !listing.contains_key(first)) => {}
                _ => found.extend(
                    [""].iter()
                        .chain(&ENDINGS)
                        .map(|ending| folder.join(format!("{name}{ending}"))),
                ),
            }
            if module.is_some_and(|(first, _)| listing.contains_key(first)) {
                found.extend(
                    MODULES
                        .map(|ending| folder.join(format!("{}{ending}", name.replace('.', "/")))),
                );
            }
        }
        found
    }

    /// Adds a folder in which names are looked up.
    fn add_folder(&mut self, folder: &Path) {
        let Ok(folder) = folder.canonicalize() else {
            return;
        };
        let is_new = self.folders.len() < MAX_FOLDERS
            && !self.folders.iter().any(|(known, _)| *known == folder);
        if is_new && folder.starts_with(self.root) && folder.is_dir() {
            let mut listing = Listing::new();
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let name = entry.file_name().to_string_lossy().into_owned();
                let endings = [""].iter().chain(&ENDINGS);
                for stem in endings.filter_map(|ending| name.strip_suffix(ending)) {
                    let entries = listing.entry(stem.to_owned()).or_default();
                    entries.push(name.clone());
                }
            }
            self.folders.push((folder, listing));
        }
    }

    /// Adds the files by which tools know the project of a folder.
    fn add_project(&mut self, folder: &Path) {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            let name = entry.file_name().to_string_lossy().into_owned();
            if is_of_project(&name) {
                self.add_file(&entry.path());
            }
        }
    }

    /// Adds the scripts of a folder.
    fn add_scripts(&mut self, folder: &Path) {
        for path in entries(folder).take(MAX_FILES + 1) {
            let metadata = fs::metadata(&path);
            if metadata.is_ok_and(|metadata| metadata.is_file() && is_script(&path, &metadata)) {
                self.add_file(&path);
            }
        }
    }

    fn add_file(&mut self, path: &Path) {
        // A link and its target are one file, whose content counts.
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if !self.is_of_system(&real) && self.found.insert(real.clone()) {
            self.waiting.push(real);
        }
    }

    fn is_of_system(&self, path: &Path) -> bool {
        !path.starts_with(self.root)
            && ["/usr", "/bin", "/sbin", "/lib", "/opt"]
                .iter()
                .any(|folder| path.starts_with(folder))
    }

    /// Returns the digest of the files, with that of the rest.
    fn digest(&self, rest: &Digest) -> Digest {
        let contents = self
            .found
            .iter()
            .map(|path| format!("{path:?} {}", content(path)));
        let contents: Vec<_> = contents.chain([rest.to_string()]).collect();
        Digest::hash_bytes(contents.join("\n").as_bytes())
    }
}

/// The most bytes of a name.
const MAX_NAME: usize = 1000;

/// The endings that a name in a script may leave out.
const ENDINGS: [&str; 8] = [".cjs", ".js", ".mjs", ".pl", ".py", ".rb", ".sh", ".ts"];

/// The files of a module whose name has dots.
const MODULES: [&str; 4] = [".py", "/__init__.py", "/__main__.py", "/index.js"];

/// Returns the pieces of a text that may be names, also those that an option has without a space.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let is_between =
        |c: char| c.is_whitespace() || c.is_control() || ";&|()<>\"'`=:,@$[]{}!*?#\\".contains(c);
    let pieces = text.split(is_between).filter(|piece| !piece.is_empty());
    pieces.flat_map(|piece| {
        let glued = piece
            .strip_prefix('-')
            .and_then(|rest| Some(&rest[rest.chars().next()?.len_utf8()..]));
        [Some(piece), glued.filter(|rest| !rest.is_empty())]
            .into_iter()
            .flatten()
    })
}
