//! Places that a look knows by more than their names: folders of git with other names than `.git`, links, and files that git tracks.

use std::fs;
use std::path::Path;

use tools::policy::Sensitivity;
use tools_workspace::{is_checkout, is_folder_of_git, leads_astray};

use super::git::{self, is_head};
use super::judge::{is_dot_file, is_instruction, is_sensitive};
use super::{Look, Protected, link};

impl Look {
    /// Returns true for a link through which a command of the person writes another file. `here` leads to it whatever is renamed.
    pub(super) fn leads_astray(&self, link: &Path, here: &Path) -> bool {
        let target = fs::read_link(here);
        target.is_ok_and(|target| leads_astray(link, &target, &self.root, self.judge.paths()))
    }

    /// Returns true if a program may replace a path.
    pub(super) fn is_free(&self, path: &Path) -> bool {
        let relative = self.relative(path);
        let mut trees = self.trees.iter();
        let is_writable = path.starts_with(&self.root)
            && trees.any(|tree| tree.path == "." || path.starts_with(self.root.join(&tree.path)));
        let entry = self.judge.find(&relative);
        let is_listed = entry.is_some_and(|entry| is_sensitive(entry, &relative));
        is_writable && !(is_listed && self.judge.matters(&relative))
    }

    /// Returns true for a link between names of instructions, such as `CLAUDE.md -> AGENTS.md`, to a file that is as it was before.
    pub(super) fn is_alias(&self, link: &Path, before: &Protected) -> bool {
        link::file_of(link, &self.root).is_some_and(|file| {
            let found = before.found.get(&file);
            let is_same = found.is_some_and(|found| !found.may_differ(&file));
            let mut paths = [link, &file].into_iter();
            is_same && paths.all(|path| is_instruction(&self.relative(path)))
        })
    }

    /// Returns true for a file at the root that counts by its name alone, and that a repository from before the program tracks as it is.
    pub(super) fn is_checked_out(&self, path: &Path, before: &Protected) -> bool {
        let name = self.relative(path);
        let mut around = self.root.ancestors().map(|above| above.join(".git"));
        let git = around.find(|git| git.symlink_metadata().is_ok());
        !name.contains('/')
            && self
                .judge
                .find(&name)
                .is_none_or(|entry| entry.sensitivity == Sensitivity::BuildFile)
            && git
                .is_some_and(|git| !git.starts_with(&self.root) || before.found.contains_key(&git))
            && fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
            && git::is_unchanged(path)
    }

    /// Returns true if programs other than git run the part of a folder of git with this number of names, which may be a folder of work.
    pub(super) fn runs_beside_git(&self, path: &str, depth: usize) -> bool {
        let below: Vec<&str> = path.split('/').skip(depth).collect();
        let below = below.join("/");
        let entry = self.judge.find(&below);
        entry.is_some_and(|entry| {
            let is_listed = is_sensitive(entry, &below) && !is_head(&below);
            let is_dotted = || below.split('/').any(|name| name.starts_with('.'));
            (is_listed || is_dot_file(entry) && is_dotted()) && !entry.pattern.starts_with('/')
        })
    }

    /// Returns the number of names and the protection of a folder of git that has another name. One with checkouts, and the root, are no
    /// whole: their parts count.
    pub(super) fn find_repository(&self, path: &str, here: &Path) -> Option<(usize, bool)> {
        let exists = |inner: &Path| fs::symlink_metadata(here.join(inner)).is_ok();
        let is_one = path != "."
            && git::depth(path).is_none()
            && is_folder_of_git(|name| exists(Path::new(name)));
        let names = is_one.then(|| fs::read_dir(here).into_iter().flatten().flatten())?;
        names
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .all(|name| !is_checkout(&name, exists))
            .then(|| (git::count(path), self.judge.keeps_repository(path)))
    }
}
