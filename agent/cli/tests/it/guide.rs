//! The pages of the guide: each command prints the output that its page shows.
//!
//! A block `console` has commands after `$ ` and their output, in which `…` stands for any text. Those of one page run in order, in one home
//! and the project in it. A comment before a block says how it is used:
//! - `<!-- file PATH -->`: the block is a file, which is written before the next commands.
//! - `<!-- terminal -->`: the block is one command on a terminal; a line is typed after each `toolcrib> ` and `no: `.
//! - `<!-- run`, with a script up to `-->`: prepares what follows, out of sight.
//!
//! `.ci/generate` writes the outputs.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rexpect::session::spawn_command;
use tempfile::TempDir;
use tools_testkit::http::TestServer;

use crate::terminal::{TIMEOUT_MS, rest};
use crate::web::PageServer;

/// The home and the server of the pages.
const HOME: &str = "/home/me";
const SERVER: &str = "localhost:8000";

/// The line of `doctor` on a machine with all walls.
const BUBBLEWRAP: &str = "Programs run in bubblewrap.";

/// A part of a page, as it is written there.
enum Part<'a> {
    Text(&'a str),
    Setup(&'a str),
    File { path: &'a str, text: &'a str },
    Console(&'a str),
    Terminal(&'a str),
}

/// Splits a page into its parts. Together they are the whole page.
fn parts(page: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::new();
    let mut rest = page;
    let starts = [
        "<!-- run\n",
        "<!-- file ",
        "<!-- terminal -->\n```text\n",
        "```console\n",
    ];
    while let Some((at, start)) = starts
        .iter()
        .filter_map(|start| Some((rest.find(start)?, *start)))
        .min()
    {
        let (text, block) = rest.split_at(at + start.len());
        parts.push(Part::Text(text));
        let end = if start == starts[0] { "-->\n" } else { "```\n" };
        if start == starts[1] {
            let (path, after) = block.split_once(" -->\n").unwrap();
            let fence = after.find('\n').unwrap() + 1;
            let length = after[fence..].find(end).unwrap();
            parts.push(Part::Text(&block[..path.len() + 5 + fence]));
            let text = &after[fence..fence + length];
            parts.push(Part::File { path, text });
            rest = &after[fence + length..];
        } else {
            let (inside, after) = block.split_at(block.find(end).unwrap());
            parts.push(match start {
                "<!-- run\n" => Part::Setup(inside),
                "```console\n" => Part::Console(inside),
                _ => Part::Terminal(inside),
            });
            rest = after;
        }
    }
    parts.push(Part::Text(rest));
    parts
}

/// The machine of a page: a home with a project, and a server.
struct Desk {
    dir: TempDir,
    server: PageServer,
}

impl Desk {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let desk = Self {
            dir,
            server: PageServer::new(|request| {
                let secret = request
                    .head
                    .lines()
                    .find(|line| line.to_ascii_lowercase().starts_with("authorization: "));
                let page = "<title>Stock</title><h1>Stock</h1><p>There are <b>42</b> hammers.</p>";
                match secret {
                    Some(line) => TestServer::ok("text/plain", format!("You sent {line}")),
                    None => TestServer::ok("text/html", page),
                }
            }),
        };
        std::fs::create_dir_all(desk.project()).unwrap();
        std::fs::write(
            desk.project().join("README.md"),
            "# Shed\n\nTools of the garden.\n",
        )
        .unwrap();
        let bin = desk.dir.path().join("bin");
        std::fs::create_dir(&bin).unwrap();
        std::os::unix::fs::symlink(env!("CARGO_BIN_EXE_toolcrib"), bin.join("toolcrib")).unwrap();
        desk
    }

    fn home(&self) -> PathBuf {
        self.dir.path().join("home")
    }

    fn project(&self) -> PathBuf {
        self.home().join("project")
    }

    /// Returns the place of a file of a page.
    fn place(&self, path: &str) -> PathBuf {
        match path.strip_prefix("~/") {
            Some(path) => self.home().join(path),
            None => self.project().join(path),
        }
    }

    /// Returns the address of the server.
    fn address(&self) -> String {
        self.server.host.replace("127.0.0.1", "localhost")
    }

    /// Returns the text with the places of this machine for those of the pages.
    fn real(&self, text: &str) -> String {
        text.replace(SERVER, &self.address())
    }

    /// Returns the text with the places of the pages for those of this machine.
    fn shown(&self, text: &str) -> String {
        let home = self.home();
        text.replace(home.to_str().unwrap(), HOME)
            .replace(&self.address(), SERVER)
    }

    fn shell(&self, script: &str) -> Command {
        let mut command = Command::new("sh");
        command
            .args(["-c", &format!("exec 2>&1\n{}", self.real(script))])
            .current_dir(self.project());
        crate::cleared(&mut command);
        let path = std::env::var("PATH").unwrap();
        command
            .env_remove("XDG_STATE_HOME")
            .env_remove("XDG_DATA_HOME")
            .env("TERM", "dumb")
            .env("PATH", format!("{}/bin:{path}", self.dir.path().display()))
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("HOME", self.home());
        command
    }

    /// Runs a command without a terminal. Returns its output.
    fn run(&self, script: &str) -> String {
        let output = self.shell(script).output().unwrap();
        self.shown(&String::from_utf8(output.stdout).unwrap())
    }

    /// Runs the commands of a block. Returns the block with their output, unless it already matches.
    fn console(&self, block: &str) -> String {
        let mut written = String::new();
        let mut lines = block.lines().peekable();
        while let Some(line) = lines.next() {
            let mut command = line
                .strip_prefix("$ ")
                .unwrap_or_else(|| panic!("{line}"))
                .to_owned();
            while command.ends_with('\\') {
                command = format!("{command}\n{}", lines.next().unwrap());
            }
            let mut expected = String::new();
            while let Some(line) = lines.next_if(|line| !line.starts_with("$ ")) {
                writeln!(expected, "{line}").unwrap();
            }
            let printed = self.run(&command);
            writeln!(written, "$ {command}").unwrap();
            written += &chosen(expected, printed);
        }
        written
    }

    /// Runs the command of a block on a terminal, and types its lines. Returns the block with the output, unless it already matches.
    fn terminal(&self, block: &str) -> String {
        let (command, expected) = block.split_once('\n').unwrap();
        let script = format!(
            "stty -echo cols 80; {}",
            command.strip_prefix("$ ").unwrap()
        );
        let mut session = spawn_command(self.shell(&script), Some(TIMEOUT_MS)).unwrap();
        let mut printed = String::new();
        let mut left = expected;
        while let Some((at, marker)) = ["toolcrib> ", "no: "]
            .iter()
            .filter_map(|marker| Some((left.find(marker)?, *marker)))
            .min()
        {
            let typed = left[at + marker.len()..].lines().next().unwrap_or_default();
            left = &left[at + marker.len() + typed.len()..];
            printed += &format!("{}{marker}{typed}\n", session.exp_string(marker).unwrap());
            session.send_line(typed).unwrap();
        }
        if block.contains("toolcrib> ") {
            printed += &session.exp_string("toolcrib> ").unwrap();
            session.send_control('d').unwrap();
        }
        printed += &rest(session).0;
        let printed = self.shown(&printed.replace('\r', ""));
        let printed = printed.trim_end().to_owned() + "\n";
        format!("{command}\n{}", chosen(expected.to_owned(), printed))
    }
}

/// Returns the output to write: the expected one if it matches the printed one.
fn chosen(expected: String, printed: String) -> String {
    if matches(&expected, &printed) {
        return expected;
    }
    let lines = printed
        .lines()
        .map(|line| line.trim_end().to_owned() + "\n");
    lines.collect()
}

/// Returns true if the printed text is the expected one, apart from line breaks and measured numbers. `…` stands for any text.
fn matches(expected: &str, printed: &str) -> bool {
    let (expected, printed) = (stable(expected), stable(printed));
    let mut pieces = expected.split('…').map(str::trim);
    let first = pieces.next().unwrap_or_default();
    let Some(mut rest) = printed.strip_prefix(first) else {
        return false;
    };
    let mut last = None;
    for piece in pieces {
        let Some(at) = rest.find(piece) else {
            return false;
        };
        rest = &rest[at + piece.len()..];
        last = Some(piece);
    }
    match last {
        Some(piece) => piece.is_empty() || rest.is_empty() || printed.ends_with(piece),
        None => rest.is_empty(),
    }
}

/// Returns the words of a text without times, which vary.
fn stable(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_time = |word: &str| {
        let number = word.trim_end_matches(|c: char| !c.is_ascii_digit());
        word.starts_with(|c: char| c.is_ascii_digit())
            && number.parse::<f64>().is_ok()
            && ["ms", "s", "ms,", "s,", "s]"].contains(&&word[number.len()..])
    };
    let is_second = |index: usize| {
        let unit = words.get(index + 1).copied().unwrap_or_default();
        words[index].parse::<f64>().is_ok() && ["ms", "ms,", "s", "s]", "s,"].contains(&unit)
    };
    let kept = words.iter().enumerate();
    let kept = kept.filter(|(index, word)| !is_time(word) && !is_second(*index));
    kept.map(|(_, word)| *word).collect::<Vec<_>>().join(" ")
}

/// Returns true if `.ci/generate` asks for the outputs.
fn is_generating() -> bool {
    std::env::var_os("TOOLCRIB_GENERATE").is_some()
}

/// Runs all of a page.
fn check(file: &Path) {
    let page = std::fs::read_to_string(file).unwrap();
    let desk = Desk::new();
    // The outputs of programs and of doctor are those of a machine with bubblewrap.
    let needs_walls = ["exec.run program=env", "$ toolcrib doctor"];
    if needs_walls.iter().any(|part| page.contains(part))
        && !desk.run("toolcrib doctor").contains(BUBBLEWRAP)
    {
        return;
    }
    let mut written = String::new();
    for part in parts(&page) {
        match part {
            Part::Text(text) => written += text,
            Part::Setup(script) => {
                let output = desk.shell(script).output().unwrap();
                assert!(output.status.success(), "{script}: {output:?}");
                written += script;
            }
            Part::File { path, text } => {
                let place = desk.place(path);
                std::fs::create_dir_all(place.parent().unwrap()).unwrap();
                std::fs::write(place, desk.real(text)).unwrap();
                written += text;
            }
            Part::Console(block) => written += &desk.console(block),
            Part::Terminal(block) => written += &desk.terminal(block),
        }
    }
    if is_generating() {
        std::fs::write(file, written).unwrap();
    } else if page != written {
        let differing = page
            .lines()
            .zip(written.lines())
            .find(|(old, new)| old != new);
        panic!(
            "{}: run .ci/generate; {differing:#?}\n{written}",
            file.display()
        );
    }
}

fn project() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Declares a test for each page, and the list of them.
macro_rules! pages {
    ($($test:ident: $name:literal,)*) => {
        const PAGES: &[&str] = &[$($name),*];
        $(
            #[test]
            fn $test() {
                check(&project().join("agent/cli/guide").join($name));
            }
        )*
    };
}

pages! {
    the_page_first_session_shows_real_output: "first-session.md",
    the_page_permissions_shows_real_output: "permissions.md",
    the_page_models_shows_real_output: "models.md",
    the_page_programs_shows_real_output: "programs.md",
    the_page_web_shows_real_output: "web.md",
    the_page_mcp_shows_real_output: "mcp.md",
    the_page_editors_shows_real_output: "editors.md",
    the_page_memory_jobs_messages_shows_real_output: "memory-jobs-messages.md",
    the_page_own_tools_shows_real_output: "own-tools.md",
    the_page_own_agent_shows_real_output: "own-agent.md",
    the_page_own_program_shows_real_output: "own-program.md",
    the_page_own_family_shows_real_output: "own-family.md",
    the_page_sessions_shows_real_output: "sessions.md",
    the_page_teams_shows_real_output: "teams.md",
    the_page_security_shows_real_output: "security.md",
    the_page_troubleshooting_shows_real_output: "troubleshooting.md",
}

#[test]
fn the_start_page_shows_real_output() {
    check(&project().join("README.md"));
}

/// Returns the pages of the manual with their texts: the start page, that of the program, the guide and the reference.
fn manual() -> Vec<(PathBuf, String)> {
    let folder = project().join("agent/cli");
    let mut files = vec![project().join("README.md"), folder.join("README.md")];
    for part in ["guide", "reference"] {
        let entries = std::fs::read_dir(folder.join(part)).unwrap();
        files.extend(entries.map(|entry| entry.unwrap().path()));
    }
    files.retain(|file| file.extension().is_some_and(|end| end == "md"));
    files.sort();
    let read = |file: PathBuf| {
        let text = std::fs::read_to_string(&file).unwrap();
        (file, text)
    };
    files.into_iter().map(read).collect()
}

/// Returns the text without blocks of code.
fn prose(text: &str) -> String {
    let pieces = text.split("\n```").step_by(2);
    pieces.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_guide_has_short_pages_that_its_first_page_lists() {
    let folder = project().join("agent/cli/guide");
    let mut found: Vec<String> = std::fs::read_dir(&folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    found.sort();
    let mut pages = PAGES.to_vec();
    pages.sort_unstable();
    assert_eq!(found, pages);
    let list = include_str!("../../README.md");
    for page in pages {
        assert!(
            list.contains(&format!("(guide/{page})")),
            "{page} is not in the list"
        );
        let text = std::fs::read_to_string(folder.join(page)).unwrap();
        let words = prose(&text).split_whitespace().count();
        assert!(words <= 1200, "{page} has {words} words");
    }
    let start = std::fs::read_to_string(project().join("README.md")).unwrap();
    assert!(
        start.lines().count() <= 150,
        "the start page has over 150 lines"
    );
}

#[test]
fn the_manual_has_no_long_cell_of_a_table_in_its_guide() {
    for (file, text) in manual() {
        for row in prose(&text).lines().filter(|line| line.starts_with("| ")) {
            let long = row.split(" | ").find(|cell| cell.chars().count() > 200);
            assert_eq!(long, None, "{}", file.display());
        }
    }
}

/// Returns the anchors of a page, as web pages of repositories make them of headings.
fn anchors(text: &str) -> Vec<String> {
    let headings = text.lines().filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        let kept = words
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c));
        kept.map(|c| if c == ' ' { '-' } else { c }).collect()
    };
    headings.map(anchor).collect()
}

#[test]
fn each_link_of_the_guide_and_the_other_pages_leads_to_a_file_and_a_heading() {
    let others =
        ["CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md"].map(|name| project().join(name));
    let others = others.map(|file| (file.clone(), std::fs::read_to_string(file).unwrap()));
    for (file, text) in manual().into_iter().chain(others) {
        for link in prose(&text).split("](").skip(1) {
            let link = link.split(')').next().unwrap();
            if link.starts_with("http") {
                continue;
            }
            let (path, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match path {
                "" => file.clone(),
                path => file.parent().unwrap().join(path),
            };
            assert!(target.exists(), "{}: {link}", file.display());
            if !anchor.is_empty() {
                let target = std::fs::read_to_string(target).unwrap();
                let found = anchors(&target).iter().any(|found| found == anchor);
                assert!(found, "{}: {link}", file.display());
            }
        }
    }
}
