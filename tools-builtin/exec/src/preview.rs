//! The preview of a program: its command line and the walls around it.

use std::path::Path;

use tools::protocol::{Clause, Words};
use tools::trees::{TreePath, Trees};
use tools::{Preview, ToolContext, ToolError, visible_line};
use tools_workspace::Workspace;

use crate::blocking::blocking;
use crate::code::Code;
use crate::network;
use crate::report::{left_out, missing, shorten};
use crate::sandbox::Granted;
use crate::sandbox::Sandbox;
use crate::toolchain::Folders;
use crate::walls::{Confinement, Limits};

/// The characters of a working directory that are shown.
const SHOWN: usize = 200;

/// The reach of an approval, which has the words of a command and not its folder.
pub(crate) const EVERY_FOLDER: &str = "but an approval for the session covers every folder";

/// The protected files if no clause and no rule names any of them.
const ALL_PROTECTED: &str = ".git and files that run by themselves";

/// The lines about a program without walls.
const UNCONFINED: &str = "walls: none, because this machine cannot confine programs\nreads and changes: all that you can\nnetwork: any host\n";

/// Describes a command and its walls for the person who is asked about it. `input` are lines on its input, and `seconds` is its time
/// limit, if it has one.
pub(crate) async fn preview(
    cx: &ToolContext,
    command: Words,
    input: &str,
    cwd: &str,
    seconds: Option<u32>,
) -> Result<Preview, ToolError> {
    let place = if cwd == "." {
        String::new()
    } else {
        format!("in: {}, {EVERY_FOLDER}\n", visible_line(cwd, SHOWN))
    };
    let text = format!("runs: {command}\n{input}{place}");
    summary(cx, text, vec![command], String::new(), cwd, seconds).await
}

/// Adds the code and the walls of commands to their description. `script` is the text that they come from.
pub(crate) async fn summary(
    cx: &ToolContext,
    text: String,
    commands: Vec<Words>,
    script: String,
    cwd: &str,
    seconds: Option<u32>,
) -> Result<Preview, ToolError> {
    let code = {
        let cx = cx.clone();
        let cwd = cwd.to_owned();
        blocking(move || Code::find(&cx, &commands, &script, &cwd)).await?
    };
    Ok(
        Preview::summary(format!("{text}{}{}", code.describe(), walls(cx, seconds)?))
            .with_basis(code.basis),
    )
}

/// Returns the lines on a text that a program reads.
pub(crate) fn input(text: &str) -> String {
    if text.is_empty() {
        String::new()
    } else {
        format!("standard input:\n{}", mark_lines(text))
    }
}

/// Returns the lines of a text, each with a mark.
pub(crate) fn mark_lines(text: &str) -> String {
    text.split('\n')
        .map(|line| format!("  | {line}\n"))
        .collect()
}

/// Describes the walls around a program.
fn walls(cx: &ToolContext, seconds: Option<u32>) -> Result<String, ToolError> {
    let sandbox = cx.need::<Sandbox>()?;
    let Some(confinement) = sandbox.confinement()? else {
        return Ok(UNCONFINED.to_owned());
    };
    let workspace = cx.need::<Workspace>()?;
    let mut granted = Granted::from_context(cx);
    let absent = granted.take_missing(&workspace);
    let mut text = format!(
        "reads: {}, the folders of the system\n",
        list_trees(&granted.readable)
    );
    text += &format!("changes: {}\n", changes(cx, &granted, &confinement)?);
    text += &format!("network: {}\n", network(cx, &confinement));
    for note in [left_out(granted.left_out()), missing(&absent)]
        .into_iter()
        .flatten()
    {
        text += &format!("note: {note}\n");
    }
    for Folders {
        toolchain, read, ..
    } in sandbox.toolchains(&workspace)
    {
        let read = read.iter().map(|path| below_home(path, &sandbox.home));
        let read: Vec<_> = read.collect();
        text += &format!(
            "{toolchain}: reads {}, changes a cache of this workspace\n",
            read.join(", ")
        );
    }
    let landlock = if sandbox.layers().landlock.is_some() {
        "Landlock, "
    } else {
        ""
    };
    text += &match confinement {
        Confinement::Bubblewrap(_) => format!("walls: bubblewrap, {landlock}seccomp\n"),
        Confinement::LandlockAlone => {
            "walls: Landlock, seccomp; install bubblewrap to close their gaps\n".to_owned()
        }
    };
    Ok(text + &limits(&sandbox.limits, seconds))
}

/// Describes the files that the program changes, with those that are protected in them.
fn changes(
    cx: &ToolContext,
    granted: &Granted,
    confinement: &Confinement,
) -> Result<String, ToolError> {
    let changed = list_trees(&granted.writable);
    Ok(match confinement {
        _ if granted.writable.paths.is_empty() => changed,
        Confinement::Bubblewrap(_) => format!(
            "{changed}, also by rename and removal\nprotected: {}",
            describe_protected(cx)
        ),
        Confinement::LandlockAlone => {
            // Nothing is asked about files that do not exist, because the program cannot create them.
            let is_asked = granted.has_writable(&*cx.need::<Workspace>()?);
            let question = if is_asked {
                ", after one more question"
            } else {
                ""
            };
            format!(
                "{changed}, also by rename and removal{question}\nnot protected: {ALL_PROTECTED}"
            )
        }
    })
}

/// Describes the files that stay as they are in a folder that the program changes.
fn describe_protected(cx: &ToolContext) -> String {
    let policy = cx.policy().zip(cx.tool().map(Into::into));
    let lifting = cx.sensitive_paths().lifted_by(cx.previewed_grant(), policy);
    let clauses: Vec<String> = lifting.into_iter().map(Clause::to_string).collect();
    if clauses.is_empty() {
        ALL_PROTECTED.to_owned()
    } else {
        format!(
            "files that run by themselves, but not those that these name: {}",
            shorten(&clauses)
        )
    }
}

/// Describes the limits of a program.
fn limits(limits: &Limits, seconds: Option<u32>) -> String {
    let all = [
        seconds.map(|seconds| format!("{seconds} s")),
        limits
            .file_size
            .map(|size| format!("{} a file", bytes(size))),
        limits
            .disk
            .map(|size| format!("{} of the disk", bytes(size))),
        limits
            .processes
            .map(|processes| format!("{processes} processes (not root's)")),
        limits
            .memory
            .map(|memory| format!("{} of memory", bytes(memory))),
        limits.open_files.map(|files| format!("{files} open files")),
        limits
            .cpu_seconds
            .map(|seconds| format!("{seconds} s of CPU")),
    ];
    let all: Vec<String> = all.into_iter().flatten().collect();
    if all.is_empty() {
        String::new()
    } else {
        format!("limits: {}\n", all.join(", "))
    }
}

fn bytes(number: u64) -> String {
    let units = [("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)];
    let unit = units
        .into_iter()
        .find(|(_, unit)| number.is_multiple_of(*unit));
    unit.map_or_else(
        || format!("{number} bytes"),
        |(name, unit)| format!("{} {name}", number / unit),
    )
}

/// Returns a path with `~` for the home of the user.
fn below_home(path: &Path, home: &Path) -> String {
    path.strip_prefix(home).map_or_else(
        |_| path.display().to_string(),
        |below| format!("~/{}", below.display()),
    )
}

/// Names the hosts that the program reaches.
fn network(cx: &ToolContext, confinement: &Confinement) -> String {
    let (hosts, way) = match confinement {
        Confinement::Bubblewrap(_) => (network::proxied_hosts(cx), "through a proxy"),
        Confinement::LandlockAlone => (
            network::wanted_hosts(cx),
            "which is asked about at the start, because it opens every host, the local network and the services of this machine",
        ),
    };
    match hosts {
        Ok(hosts) if hosts.is_empty() => "none".to_owned(),
        Ok(hosts) => format!("{}, {way}", hosts.join(", ")),
        Err(reason) => format!("none, because {reason}"),
    }
}

fn list_trees(trees: &Trees) -> String {
    let shown = |path: &TreePath| match (path.path.as_str(), path.is_tree) {
        (".", true) => "the workspace".to_owned(),
        _ => path.to_string(),
    };
    let mut shown: Vec<String> = trees.paths.iter().map(shown).collect();
    if shown.is_empty() {
        shown.push("nothing in the workspace".to_owned());
    }
    shown.join(", ")
}
