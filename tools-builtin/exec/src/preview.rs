//! The preview of a program: its command line and the walls around it.

use tools::{Preview, ToolContext, ToolError, TreePath, Trees};
use tools_fs::Workspace;

use crate::Sandbox;
use crate::network;
use crate::report::left_out;
use crate::sandbox::Granted;
use crate::toolchain::Folders;
use crate::walls::Confinement;

/// Describes a command and its walls for the person who is asked about it.
pub(crate) fn preview(cx: &ToolContext, command: &str) -> Result<Preview, ToolError> {
    Ok(Preview::summary(format!("runs: {command}\n{}", walls(cx)?)))
}

/// Describes the walls around a program.
pub(crate) fn walls(cx: &ToolContext) -> Result<String, ToolError> {
    let sandbox = cx.need::<Sandbox>()?;
    let confinement = sandbox.confinement()?;
    let granted = Granted::from_context(cx);
    let mut text = format!(
        "reads: {}\nchanges, also by rename and removal: {}\nnetwork: {}\n",
        listed(&granted.readable),
        listed(&granted.writable),
        network(cx, confinement.as_ref()),
    );
    if let Some(note) = left_out(granted.left_out()) {
        text += &format!("note: {note}\n");
    }
    for Folders { toolchain, read, cache, .. } in sandbox.toolchains(&*cx.need::<Workspace>()?) {
        let read: Vec<_> = read.iter().map(|path| path.display().to_string()).collect();
        text += &format!("for {toolchain}: reads {}, changes {}\n", read.join(", "), cache.display());
    }
    let Some(confinement) = confinement else {
        return Ok(text + "note: this machine cannot confine programs, so it can read and change everything\n");
    };
    for caveat in confinement.caveats() {
        text += &format!("note: {caveat}\n");
    }
    Ok(text)
}

/// Names the hosts that the program reaches.
fn network(cx: &ToolContext, confinement: Option<&Confinement>) -> String {
    let (hosts, way) = match confinement {
        None => return "any host".to_owned(),
        Some(Confinement::Bubblewrap(_)) => (network::hosts(cx), "through a proxy"),
        Some(Confinement::LandlockAlone) => {
            (network::wanted(cx).unwrap_or_default(), "which is asked about at the start, because it opens every host")
        }
    };
    if hosts.is_empty() { "none".to_owned() } else { format!("{}, {way}", hosts.join(", ")) }
}

fn listed(trees: &Trees) -> String {
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
