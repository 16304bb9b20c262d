//! Reads the settings of a repository strictly: all that is not known to be harmless counts.

/// The sections, and the keys in them by which git runs nothing.
const HARMLESS: [(&str, &[&str]); 17] = [
    (
        "core",
        &[
            "repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode",
            "symlinks", "autocrlf", "sparsecheckout", "sparsecheckoutcone",
        ],
    ),
    ("remote", &["url", "pushurl", "fetch", "tagopt", "prune", "mirror", "promisor", "partialclonefilter"]),
    ("branch", &["remote", "pushremote", "merge", "rebase", "vscode-merge-base", "gh-merge-base"]),
    ("submodule", &["url", "active"]),
    ("user", &["name", "email"]),
    ("init", &["defaultbranch"]),
    ("lfs", &["repositoryformatversion", "access", "locksverify"]),
    ("extensions", &["objectformat", "partialclone", "refstorage"]),
    ("pull", &["rebase", "ff"]),
    ("push", &["default", "autosetupremote", "followtags"]),
    ("fetch", &["prune", "prunetags"]),
    ("merge", &["ff"]),
    ("rebase", &["autosquash", "autostash"]),
    ("rerere", &["enabled"]),
    ("gc", &["auto"]),
    ("advice", &["detachedhead", "statushints"]),
    ("color", &["ui"]),
];

/// The keys that say where commits go and come from, and who made them. A new repository has its own; in one that was there before, a
/// changed one leads the next push of its user elsewhere, and so does one that is gone.
const OF_USER: [(&str, &str); 7] = [
    ("remote", "url"),
    ("remote", "pushurl"),
    ("remote", "mirror"),
    ("branch", "pushremote"),
    ("push", "default"),
    ("user", "name"),
    ("user", "email"),
];

/// Returns true if git runs nothing because of these settings, or no more than because of the former ones, and sends commits where it did.
/// `former` is `None` in a new repository. `is_module` permits the folder of a submodule's files.
pub(crate) fn is_harmless(text: &str, former: Option<&str>, is_module: bool) -> bool {
    if former.is_some_and(|former| former == text) {
        return true;
    }
    // A line that goes on in the next one would be read otherwise than here.
    if text.contains(['\\', '\0', '\r']) {
        return false;
    }
    let lines = Line::read_all(text);
    let Some(former) = former.map(Line::read_all) else {
        return lines.iter().all(|line| line.is_harmless(is_module));
    };
    let is_new = |line: &&Line<'_>| !former.contains(line);
    let is_gone = |line: &&Line<'_>| !lines.contains(line);
    let leads_elsewhere = |line: &Line<'_>| line.is_of_user() || line.names_other_remote(&former);
    lines.iter().filter(is_new).all(|line| line.is_harmless(is_module) && !leads_elsewhere(line))
        && former.iter().filter(is_gone).all(|line| !line.is_of_user() || is_of_gone_remote(line, &lines))
}

/// Returns true for an address of a remote that is gone as a whole, so that nothing goes there any more.
fn is_of_gone_remote(line: &Line<'_>, lines: &[Line<'_>]) -> bool {
    line.name.as_deref() == Some("remote") && lines.iter().all(|other| other.section != line.section)
}

/// A line of settings.
#[derive(PartialEq)]
struct Line<'a> {
    /// The head of its section, as it stands there.
    section: &'a str,
    /// The name of its section. `None` if it is written in another form than git writes.
    name: Option<String>,
    text: &'a str,
}

impl<'a> Line<'a> {
    /// Reads the lines that say something, with the heads of sections.
    fn read_all(text: &'a str) -> Vec<Self> {
        let mut section = "";
        let mut lines = Vec::new();
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with(['#', ';'])) {
            if line.starts_with('[') {
                section = line;
            }
            let name = section.strip_prefix('[').and_then(|section| name(section.strip_suffix(']')?));
            lines.push(Self { section, name, text: line });
        }
        lines
    }

    /// Returns the key in small letters, and the value.
    fn key_and_value(&self) -> (String, &'a str) {
        let (key, value) = self.text.split_once('=').unwrap_or((self.text, ""));
        (key.trim_end().to_ascii_lowercase(), value.trim())
    }

    fn is_harmless(&self, is_module: bool) -> bool {
        let Some(name) = self.name.as_deref() else { return false };
        if self.text.starts_with('[') {
            return true;
        }
        let (key, value) = self.key_and_value();
        // The files of a submodule lie beside the repository that has it.
        let is_of_module = is_module && name == "core" && key == "worktree" && value.starts_with("../");
        let is_key = HARMLESS.iter().any(|(section, keys)| *section == name && keys.contains(&&*key));
        // `ext::sh …` is an address that runs a program, and `!sh …` a command.
        let is_value = !value.contains("::") && !value.contains("://-") && !value.starts_with(['-', '!', '"']);
        (is_key || is_of_module) && is_value
    }

    fn is_of_user(&self) -> bool {
        let (key, _) = self.key_and_value();
        OF_USER.iter().any(|(name, of_user)| self.name.as_deref() == Some(name) && key == *of_user)
    }

    /// Returns true if a branch follows a remote that was not there, or another one than it did.
    fn names_other_remote(&self, former: &[Line<'_>]) -> bool {
        let (key, value) = self.key_and_value();
        if self.name.as_deref() != Some("branch") || key != "remote" {
            return false;
        }
        let is_known = value == "." || former.iter().any(|line| line.section == format!("[remote \"{value}\"]"));
        let had_one = |line: &Line<'_>| line.section == self.section && line.key_and_value().0 == "remote";
        !is_known || former.iter().any(had_one)
    }
}

/// Returns the name of a section, such as `remote` of `remote "origin"`, in small letters. Returns `None` in another form.
fn name(section: &str) -> Option<String> {
    let (name, sub) = section.split_once(' ').unwrap_or((section, "\"\""));
    let sub = sub.strip_prefix('"')?.strip_suffix('"')?;
    let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-');
    (is_name && !sub.contains(['"', ']'])).then(|| name.to_ascii_lowercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLONE: &str = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = false\n\tlogallrefupdates = \
                         true\n[remote \"origin\"]\n\turl = ../origin\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n\
                         [branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";

    #[test]
    fn settings_of_a_clone_are_harmless() {
        assert!(is_harmless(CLONE, None, false));
        assert!(is_harmless("", None, false));
        assert!(is_harmless("[submodule \"a\"]\n\tactive = true\n\turl = https://example.org/a\n", None, false));
    }

    #[test]
    fn settings_that_run_programs_count_however_they_are_written() {
        for line in [
            "[core]\nfsmonitor = evil",
            "[core] fsmonitor = evil",
            "[CORE]\nFsMonitor = evil",
            "[core]\nhooksPath=.",
            "[core]\nworktree = ../a",
            "[alias]\nst = !evil",
            "[include]\npath = evil",
            "[includeIf \"x\"]\npath = e",
            "[remote \"o\"]\nurl = ext::sh -c evil",
            "[remote \"o\"]\nuploadpack = evil",
            "[remote \"o\"]\nvcs = evil",
            "[remote \"o\"]\nurl = ssh://-oProxyCommand=evil/x",
            "[branch \"m\"]\nremote = -evil",
            "evil = 1",
            "[submodule \"a\"]\nupdate = !evil",
            "[filter \"a\"]\nclean = evil",
            "[diff]\nexternal = evil",
            "[core]\nbare = \\\nfalse\nfsmonitor = evil",
            "[core]\nbare = false\\\n",
            "[remote.o]\nuploadpack = evil",
            "[url \"ext::sh\"]\ninsteadOf = https",
            "[core \"x\"]]\nbare = false",
            "[credential]\nhelper = evil",
            "[gpg]\nprogram = evil",
            "[core]\rfsmonitor = evil",
            "[core]\nsshCommand = evil",
            "[branch \"m\"]\nmergeOptions = -s evil",
            "[remote \"o\"]\nurl = \"ext::sh -c evil\"",
        ] {
            assert!(!is_harmless(&format!("{CLONE}{line}\n"), None, false), "{line}");
        }
    }

    #[test]
    fn lines_that_were_there_before_do_not_count() {
        let former = format!("{CLONE}[core]\n\tpager = less\n");
        assert!(is_harmless(&format!("{former}[branch \"x\"]\n\tremote = origin\n"), Some(&former), false));
        let moved = "[core]\n\tbare = false\n[alias]\n\tpager = less\n";
        assert!(!is_harmless(moved, Some(&former), false), "another section is another setting");
    }

    #[test]
    fn where_an_old_repository_sends_commits_and_who_makes_them_count() {
        let former = format!("{CLONE}[user]\n\temail = a@example.com\n[remote \"fork\"]\n\tpushurl = no\n");
        for line in [
            "[remote \"origin\"]\nurl = https://evil.example/x",
            "[remote \"origin\"]\npushurl = https://evil.example/x",
            "[REMOTE \"origin\"]\nPushURL = https://evil.example/x",
            "[remote \"new\"]\nurl = https://evil.example/x",
            "[remote \"origin\"]\nmirror = true",
            "[branch \"main\"]\nremote = fork",
            "[branch \"new\"]\nremote = other",
            "[branch \"new\"]\nremote = https://evil.example/x",
            "[branch \"main\"]\npushRemote = fork",
            "[user]\nemail = b@example.com",
            "[user]\nname = B",
            "[push]\ndefault = matching",
            "[url \"https://evil.example/\"]\ninsteadOf = https://example.org/",
            "[remote]\npushDefault = fork",
        ] {
            assert!(!is_harmless(&format!("{former}{line}\n"), Some(&former), false), "{line}");
        }
        for gone in ["\tpushurl = no\n", "\turl = ../origin\n", "\temail = a@example.com\n"] {
            let text = former.replace(gone, "");
            let is_whole = gone == "\tpushurl = no\n";
            assert!(!is_harmless(&text, Some(&former), false), "{gone}");
            assert!(!is_whole || is_harmless(&text.replace("[remote \"fork\"]\n", ""), Some(&former), false));
        }
    }

    #[test]
    fn a_branch_may_follow_a_remote_that_was_there_and_be_removed() {
        for text in [
            format!("{CLONE}[branch \"new\"]\n\tremote = origin\n\tmerge = refs/heads/new\n"),
            format!("{CLONE}[branch \"new\"]\n\tremote = .\n\tmerge = refs/heads/main\n"),
            CLONE.replace("[branch \"main\"]\n\tremote = origin\n\tmerge = refs/heads/main\n", ""),
            CLONE.replace("filemode = true", "filemode = false"),
        ] {
            assert!(is_harmless(&text, Some(CLONE), false), "{text}");
        }
    }

    #[test]
    fn a_submodule_names_the_folder_of_its_files() {
        let module = "[core]\n\tworktree = ../../../a\n";
        assert!(is_harmless(module, None, true) && !is_harmless(module, None, false));
        assert!(!is_harmless("[core]\n\tworktree = /etc\n", None, true));
    }
}
