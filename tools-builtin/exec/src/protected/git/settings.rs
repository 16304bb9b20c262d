//! Reads the settings of a repository strictly: all that is not known to be harmless counts.

use crate::command::has_word;

/// The sections, each before the keys in it by which git runs nothing.
const HARMLESS: &str = "core repositoryformatversion filemode bare logallrefupdates ignorecase precomposeunicode symlinks autocrlf
    remote url pushurl fetch tagopt prune mirror promisor partialclonefilter
    branch remote pushremote merge rebase vscode-merge-base gh-merge-base
    submodule url active
    user name email
    init defaultbranch
    lfs repositoryformatversion access locksverify
    extensions objectformat partialclone refstorage
    pull rebase ff
    push default autosetupremote followtags
    fetch prune prunetags
    merge ff
    rebase autosquash autostash
    rerere enabled
    gc auto
    advice detachedhead statushints
    color ui";

/// Returns true if git runs nothing because of these settings, or no more than because of the former ones. `is_module` permits the folder
/// of a submodule's files.
pub(crate) fn is_harmless(text: &str, former: Option<&str>, is_module: bool) -> bool {
    if former.is_some_and(|former| former == text) {
        return true;
    }
    // A line that goes on in the next one would be read otherwise than here.
    if text.contains(['\\', '\0', '\r']) {
        return false;
    }
    let before = former.map(lines).unwrap_or_default();
    let after = lines(text);
    // A line that is gone decides as much as a new one: a filter that encrypts, a check of commits.
    let mut both = [(&after, &before), (&before, &after)].into_iter();
    both.all(|(lines, others)| {
        lines.iter().all(|line| {
            let mut others = others.iter();
            line.is_harmless(is_module)
                || others.any(|other| (other.head, other.text) == (line.head, line.text))
        })
    })
}

/// The sections that say where commits go, or who their author is, also by their absence.
const DECIDING: &str = "push user author committer url include includeif";

/// Returns true if the new settings say something else about where commits and fetches go, what a fetch replaces, and who the author of
/// commits is, than git says by itself: for a further remote, a new branch of a known one, or a submodule in `modules`, the text of
/// `.gitmodules`. Settings of pushes and the author that are the user's own do not count.
pub(super) fn redirects(former: &str, text: &str, own: &str, modules: &str) -> bool {
    let own = lines(own);
    let modules = lines(modules);
    let mut old = lines(former);
    let mut new = lines(text);
    old.retain(|line| !line.is_head());
    new.retain(|line| !line.is_head());
    let has = |section: &str, sub: &str, key: &str| {
        old.iter()
            .any(|it| it.section() == section && it.sub == sub && (key.is_empty() || it.key == key))
    };
    let is_address =
        |it: &&Line<'_>| it.section() == "remote" && ["url", "pushurl"].contains(&&*it.key);
    let known = new.iter().filter(|it| has("remote", it.sub, ""));
    // The order of addresses counts, too.
    let before = old.iter().filter(is_address);
    let after = known.filter(is_address);
    if !before.map(Line::setting).eq(after.map(Line::setting)) {
        return true;
    }
    if old
        .iter()
        .any(|line| decides(line) && !has_setting(&new, line))
    {
        return true;
    }
    // A push goes to the branch that the own one follows, whatever its name.
    let follows_by_name = !old.iter().chain(&own).any(|it| {
        (it.section(), &*it.key) == ("push", "default")
            && ["upstream", "tracking"].contains(&&*it.value.to_ascii_lowercase())
    });
    let is_fine = |it: &Line<'_>| match (it.section(), &*it.key) {
        // `git push` takes the only remote, or `origin`. It takes a name for an address only if no remote has it.
        ("remote", "url") => {
            let is_plain = it
                .sub
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || "-_".contains(c));
            // Settings of the user, such as a `pushDefault`, can wait for the name, too.
            let is_awaited =
                it.sub == "origin" || old.iter().chain(&own).any(|known| known.value == it.sub);
            is_plain
                && !is_awaited
                && old
                    .iter()
                    .any(|old| old.section() == "remote" && old.key == "url")
        }
        // Branches of the remote have their names below the one of the remote.
        ("remote", "fetch") => it.value.split_once(':').is_some_and(|(from, to)| {
            let name = from.strip_prefix("+refs/heads/");
            name.is_some_and(|name| to == format!("refs/remotes/{}/{name}", it.sub))
        }),
        // Another remote may be one that a program added before.
        ("branch", "remote") => {
            let is_followed = it.value == "origin"
                || old.iter().any(|old| {
                    old.section() == "branch" && old.key == "remote" && old.value == it.value
                });
            let is_known = has("remote", it.value, "url") && is_followed;
            !has("branch", it.sub, "remote") && (it.value == "." || is_known)
        }
        ("branch", "merge") => {
            let is_same = it.value.strip_prefix("refs/heads/") == Some(it.sub);
            !has("branch", it.sub, "merge") && (follows_by_name || is_same)
        }
        ("submodule", "url") => {
            let remotes = old.iter().filter(|it| it.section() == "remote");
            let bases: Vec<_> = remotes.filter(|it| it.key == "url").collect();
            !has("submodule", it.sub, "url")
                && modules.iter().any(|module| {
                    (module.sub, &*module.key) == (it.sub, "url")
                        && (module.value == it.value
                            || bases.iter().any(|base| {
                                resolve(base.value, module.value).as_deref() == Some(it.value)
                            }))
                })
        }
        ("user" | "push", _) => own.iter().any(|own| own.setting() == it.setting()),
        ("branch", "rebase") | ("submodule", "active") => true,
        ("remote" | "branch" | "submodule" | "fetch" | "extensions" | "rerere", _) => false,
        _ => true,
    };
    !new.iter()
        .all(|line| has_setting(&old, line) || is_fine(line))
}

fn decides(line: &Line<'_>) -> bool {
    let key = (line.section(), &*line.key);
    has_word(DECIDING, line.section())
        || ["pushremote", "pushdefault"].contains(&&*line.key)
        || key == ("branch", "remote") && line.value != "origin"
}

fn has_setting(lines: &[Line<'_>], line: &Line<'_>) -> bool {
    lines.iter().any(|other| other.setting() == line.setting())
}

/// Returns the address of a submodule that is relative to that of a remote.
fn resolve(remote: &str, url: &str) -> Option<String> {
    let mut base = remote.trim_end_matches('/');
    let mut rest = url.strip_prefix("./").unwrap_or(url);
    while let Some(next) = rest.strip_prefix("../") {
        (base, rest) = (base.rsplit_once('/')?.0, next);
    }
    (rest != url).then(|| format!("{base}/{rest}"))
}

/// A line that says something: the head of a section, or a setting, such as `url` of `remote "origin"`.
/// Returns settings with the name and the address of the author alone, as they are written. Empty if there are none.
pub(super) fn author(text: &str) -> String {
    let lines = lines(text);
    let lines = lines.iter().filter(|line| {
        (line.section(), line.sub) == ("user", "")
            && ["name", "email"].contains(&&*line.key)
            && !line.text.ends_with('\\')
    });
    lines
        .map(|line| format!("[user]\n\t{}\n", line.text))
        .collect()
}

struct Line<'a> {
    text: &'a str,
    /// The head of its section, as it stands there. Empty before the first one.
    head: &'a str,
    /// The name of the section. `None` if it is in another form than git writes.
    section: Option<String>,
    sub: &'a str,
    key: String,
    value: &'a str,
}

fn lines(text: &str) -> Vec<Line<'_>> {
    let mut head = "";
    let mut lines = Vec::new();
    for text in text
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && !line.starts_with(['#', ';']))
    {
        if text.starts_with('[') {
            head = text;
        }
        // Git reads nothing of a file with a head that has no end, and neither does who asks it what the settings name.
        let inner = head
            .strip_prefix('[')
            .and_then(|head| head.strip_suffix(']'))
            .unwrap_or_default();
        let (key, value) = text.split_once('=').unwrap_or((text, ""));
        lines.push(Line {
            text,
            head,
            section: name(inner),
            sub: inner
                .split_once(' ')
                .map_or("", |(_, sub)| sub.trim_matches('"')),
            key: key.trim_end().to_ascii_lowercase(),
            value: value.trim(),
        });
    }
    lines
}

impl Line<'_> {
    fn is_head(&self) -> bool {
        self.text.starts_with('[')
    }

    fn section(&self) -> &str {
        self.section.as_deref().unwrap_or_default()
    }

    /// Returns what the line sets, however it is written.
    fn setting(&self) -> (&str, &str, &str, &str) {
        (self.section(), self.sub, &self.key, self.value)
    }

    fn is_harmless(&self, is_module: bool) -> bool {
        let Some(name) = self.section.as_deref() else {
            return false;
        };
        let key = &*self.key;
        let value = self.value;
        // The files of a submodule lie beside the repository that has it.
        let is_of_module =
            is_module && name == "core" && key == "worktree" && value.starts_with("../");
        let is_key = HARMLESS
            .lines()
            .filter_map(|row| row.trim_start().split_once(' '))
            .any(|(section, keys)| section == name && has_word(keys, key));
        // `ext::sh …` is an address that runs a program, and `!sh …` a command.
        let is_value =
            !value.contains("::") && !value.contains("://-") && !value.starts_with(['-', '!', '"']);
        self.is_head() || (is_key || is_of_module) && is_value
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

    /// Settings of the user.
    const OWN: &str =
        "[user]\n\tname = Me\n\temail = me@home.example\n[remote \"origin\"]\n\turl = ../evil\n";

    /// The submodules of a repository.
    const MODULES: &str = "[submodule \"a\"]\n\tpath = a\n\turl = ../a\n[submodule \"b\"]\n\turl = https://example.org/b\n[submodule \"known\"]\n\turl = ../evil\n";

    #[test]
    fn settings_of_a_clone_are_harmless() {
        assert!(is_harmless(CLONE, None, false));
        assert!(is_harmless("", None, false));
        assert!(is_harmless(
            "[submodule \"a\"]\n\tactive = true\n\turl = https://example.org/a\n",
            None,
            false
        ));
    }

    #[test]
    fn settings_that_git_cannot_read_are_not_harmless() {
        for broken in ["[core", "[co", "core]", "[core]\n[core\n\tbare = false"] {
            let text = format!("{CLONE}{broken}\n");
            assert!(!is_harmless(&text, Some(CLONE), false), "{broken}");
        }
    }

    #[test]
    fn settings_that_are_gone_count_as_new_ones_do() {
        for line in [
            "[filter \"crypt\"]\n\tclean = encrypt",
            "[core]\n\thooksPath = .githooks",
            "[commit]\n\tgpgsign = true",
            "[remote \"origin\"]\n\tpush = refs/heads/main:refs/heads/review",
            "[alias]\n\tpush = !false",
        ] {
            let former = format!("{CLONE}{line}\n");
            assert!(!is_harmless(CLONE, Some(&former), false), "{line}");
            assert!(is_harmless(&former, Some(&former), false), "{line}");
        }
        let branch = "[branch \"a\"]\n\tremote = origin\n\tmerge = refs/heads/a\n";
        let former = format!("{CLONE}{branch}");
        assert!(is_harmless(CLONE, Some(&former), false), "a branch is gone");
        assert!(!redirects(&former, CLONE, "", ""), "a branch is gone");
        let former = former.replace("\"a\"]\n\tremote = origin", "\"a\"]\n\tremote = fork");
        assert!(redirects(&former, CLONE, "", ""), "its pushes go elsewhere");
        let fork = format!("{CLONE}[remote \"fork\"]\n\turl = ../fork\n");
        assert!(!redirects(CLONE, &fork, "", ""), "a further remote");
        let own = "[remote]\n\tpushDefault = fork\n";
        assert!(redirects(CLONE, &fork, own, ""), "the user waits for it");
    }

    #[test]
    fn settings_that_run_programs_count_however_they_are_written() {
        for line in [
            "[core]\nfsmonitor = evil",
            "[core] fsmonitor = evil",
            "[CORE]\nFsMonitor = evil",
            "[core]\nhooksPath=.",
            "[core]\nworktree = ../a",
            "[core]\nsparseCheckout = true",
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
            "[remote \"x\"] [filter \"y\"]\nurl = evil",
        ] {
            assert!(
                !is_harmless(&format!("{CLONE}{line}\n"), None, false),
                "{line}"
            );
        }
    }

    #[test]
    fn lines_that_were_there_before_do_not_count() {
        let former = format!("{CLONE}[core]\n\tpager = less\n");
        assert!(is_harmless(
            &format!("{former}[branch \"x\"]\n\tremote = origin\n"),
            Some(&former),
            false
        ));
        let strange = format!("{former}[alias]\n\ta = \\\n\t!b\n");
        assert!(
            is_harmless(&strange, Some(&strange), false),
            "nothing has changed"
        );
        let moved = "[core]\n\tbare = false\n[alias]\n\tpager = less\n";
        assert!(
            !is_harmless(moved, Some(&former), false),
            "another section is another setting"
        );
    }

    #[test]
    fn of_settings_of_an_author_only_the_name_and_the_address_are_taken() {
        let own = "[user]\n\tname = \"A B\" # me\n\tsigningKey = k\n[core]\n\tpager = less\n\temail = x\n\
            [user \"b\"]\n\tname = b\n[USER]\n\tEmail = a@b\n\tname = c\\\n[alias]\n\tname = !d\n";
        let taken = "[user]\n\tname = \"A B\" # me\n[user]\n\tEmail = a@b\n";
        assert_eq!(
            (author(own), author("[core]\n")),
            (taken.to_owned(), String::new())
        );
    }

    #[test]
    fn settings_that_send_commits_elsewhere_count_in_a_repository_that_was_there() {
        let former = format!(
            "{CLONE}[remote \"fork\"]\n\turl = ../fork\n[branch \"old\"]\n\tpushRemote = gone\n[submodule \"known\"]\n\turl = ../known\n"
        );
        for lines in [
            "[remote \"origin\"]\n\turl = ../evil",
            "[remote \"origin\"]\n\tpushurl = ../evil",
            "[remote \"fork\"]\n\tmirror = true",
            "[remote]\n\tpushDefault = fork",
            "[remote \"gone\"]\n\turl = ../evil",
            "[remote \"https://example.org/a\"]\n\turl = ../evil",
            "[remote \"new\"]\n\turl = ../a\n\tpushurl = ../evil",
            "[branch \"main\"]\n\tremote = fork",
            "[branch \"main\"]\n\tremote = .",
            "[submodule \"known\"]\n\turl = ../evil",
            "[branch \"main\"]\n\tpushRemote = fork",
            "[branch \"main\"]\n\tmerge = refs/heads/evil",
            "[branch \"new\"]\n\tremote = ../evil",
            "[branch \"new\"]\n\tremote = fork",
            "[remote \"new\"]\n\turl = ../evil\n[branch \"new\"]\n\tremote = new",
            "[user]\n\temail = evil@example.org",
            "[user]\n\temail = Me",
            "[user \"x\"]\n\temail = me@home.example",
            "[user]\n\tname = Evil",
            "[url \"../evil\"]\n\tinsteadOf = ../origin",
            "[commit]\n\ttemplate = evil",
            "[USER]\n\tEMAIL=evil",
            "[branch \"new\"]\n\tremote = origin\n\tmerge = refs/heads/main\n[push]\n\tdefault = upstream",
            "[push]\n\tdefault = matching",
            "[remote \"origin\"]\n\tfetch = +refs/pull/*:refs/remotes/origin/pull/*",
            "[remote \"origin\"]\n\tfetch = +refs/pull/7/head:refs/remotes/origin/main",
            "[remote \"origin\"]\n\tfetch = +refs/heads/x:refs/remotes/origin/main",
            "[remote \"origin\"]\n\tfetch = +refs/heads/*:refs/heads/*",
            "[remote \"new\"]\n\turl = ../a\n\tfetch = +refs/heads/*:refs/remotes/origin/*",
            "[remote \"origin\"]\n\tprune = true",
            "[remote \"origin\"]\n\ttagOpt = --tags",
            "[fetch]\n\tpruneTags = true",
            "[rerere]\n\tenabled = true",
            "[submodule \"a\"]\n\turl = ../evil",
            "[submodule \"b\"]\n\turl = ../a",
            "[submodule \"new\"]\n\turl = https://example.org/b",
            "[push]\n\tautoSetupRemote = true",
            "[push]\n\tfollowTags = true",
        ] {
            let text = format!("{former}{lines}\n");
            assert!(
                !is_harmless(&text, Some(&former), false)
                    || redirects(&former, &text, OWN, MODULES),
                "{lines}"
            );
        }
        let tracks = "[branch \"new\"]\n\tremote = origin\n\tmerge = refs/heads/main\n";
        for upstream in ["upstream", "TRACKING"] {
            let upstream = format!("[push]\n\tdefault = {upstream}\n");
            let (own, former) = (format!("{OWN}{upstream}"), format!("{former}{upstream}"));
            assert!(redirects(
                &former,
                &format!("{former}{tracks}"),
                OWN,
                MODULES
            ));
            let same = tracks.replace("heads/main", "heads/new");
            assert!(!redirects(
                &former,
                &format!("{former}{same}"),
                OWN,
                MODULES
            ));
            assert!(redirects(CLONE, &format!("{CLONE}{tracks}"), &own, MODULES));
            assert!(!redirects(
                CLONE,
                &format!("{CLONE}{upstream}"),
                &own,
                MODULES
            ));
        }
        for line in [
            "[push]\n\tdefault = nothing\n",
            "[user]\n\temail = work@example.org\n",
            "[committer]\n\tname = Work\n",
            "[url \"git@mine:\"]\n\tinsteadOf = https://mine/\n",
            "[include]\n\tpath = work\n",
            "[includeIf \"gitdir:x\"]\n\tpath = work\n",
            "[remote]\n\tpushDefault = fork\n",
            "[branch \"main\"]\n\tpushRemote = fork\n",
        ] {
            let with = format!("{former}{line}");
            assert!(redirects(&with, &former, OWN, MODULES), "{line} is gone");
        }
        let gone = former.replace("\turl = ../fork\n", "");
        assert!(
            redirects(&former, &gone, OWN, MODULES),
            "a name without an address is a path"
        );
        let swapped = former
            .replace("../origin", "../x")
            .replace("../fork", "../origin")
            .replace("../x", "../fork");
        assert!(redirects(&former, &swapped, OWN, MODULES));
        let pushed = former.replace(
            "\turl = ../fork\n",
            "\turl = ../fork\n\tpushurl = ../mine\n",
        );
        assert!(
            redirects(&pushed, &former, OWN, MODULES),
            "pushes go to the other address"
        );
        let renamed = former.replace("origin", "upstream");
        for lines in [
            "[remote \"origin\"]\n\turl = ../evil",
            "[branch \"new\"]\n\tremote = origin",
        ] {
            assert!(
                redirects(&renamed, &format!("{renamed}{lines}\n"), OWN, MODULES),
                "{lines}"
            );
        }
        let without = "[core]\n\tbare = false\n";
        for name in ["origin", "other"] {
            let first = format!("{without}[remote \"{name}\"]\n\turl = ../evil\n");
            assert!(
                redirects(without, &first, OWN, MODULES),
                "{name} is where the next push goes"
            );
        }
        for lines in [
            "[branch \"new\"]\n\tremote = origin\n\tmerge = refs/heads/new",
            "[branch \"new\"]\n\tremote = .\n\tmerge = refs/heads/main",
            "[branch \"new\"]\n\tremote = origin\n\tmerge = refs/heads/main",
            "[remote \"new\"]\n\turl = ../new\n\tfetch = +refs/heads/*:refs/remotes/new/*",
            "[remote \"origin\"]\n\tfetch = +refs/heads/x:refs/remotes/origin/x",
            "[submodule \"a\"]\n\tactive = true\n\turl = ../a",
            "[submodule \"b\"]\n\tactive = true\n\turl = https://example.org/b",
            "[branch \"main\"]\n\trebase = true",
            "[pull]\n\trebase = true",
            "[user]\n\tname = Me\n\temail = me@home.example",
        ] {
            let text = format!("{former}{lines}\n");
            assert!(
                is_harmless(&text, Some(&former), false)
                    && !redirects(&former, &text, OWN, MODULES),
                "{lines}"
            );
        }
        let (main, end) = former.split_once("[branch \"main\"]").unwrap();
        let end = end.split_once("[remote").unwrap().1;
        assert!(
            !redirects(&former, &format!("{main}[remote{end}"), OWN, MODULES),
            "a branch was removed"
        );
    }

    #[test]
    fn an_address_of_a_submodule_is_relative_to_that_of_a_remote() {
        for (remote, url, expected) in [
            (
                "https://example.org/x/y.git",
                "../a",
                Some("https://example.org/x/a"),
            ),
            (
                "https://example.org/x/y/",
                "../../a",
                Some("https://example.org/a"),
            ),
            (
                "https://example.org/x",
                "./a",
                Some("https://example.org/x/a"),
            ),
            ("https://example.org/x", "a", None),
            ("x", "../../a", None),
        ] {
            assert_eq!(resolve(remote, url).as_deref(), expected, "{remote} {url}");
        }
    }

    #[test]
    fn a_submodule_names_the_folder_of_its_files() {
        let module = "[core]\n\tworktree = ../../../a\n";
        assert!(is_harmless(module, None, true) && !is_harmless(module, None, false));
        assert!(!is_harmless("[core]\n\tworktree = /etc\n", None, true));
    }
}
