//! What a person is asked, and what the answers mean.

use std::fmt::Write as _;

use tools::policy::{SensitivePath, SensitivePaths, Sensitivity};
use tools::protocol::ApprovalDefault;
use tools::{Access, Approval, Json, Target};

use crate::notice::{ALERT, BAD, STRONG, styled};
use crate::visible::visible;

/// How many characters of the arguments are shown at first.
const SHOWN: usize = 2000;

/// What a person answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// This call.
    Once,
    /// This call and further ones of the tool on the same targets.
    Session,
    /// Not this call.
    No,
    /// The arguments to their end, and the question again.
    View,
}

impl Answer {
    /// Nothing typed is a no; anything unexpected is no answer.
    pub(super) fn of(line: &str) -> Option<Self> {
        match line.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => Some(Self::Once),
            "s" | "session" => Some(Self::Session),
            "" | "n" | "no" => Some(Self::No),
            "v" | "view" => Some(Self::View),
            _ => None,
        }
    }
}

/// Whether a yes may hold for longer than one call. What destroys something is asked about each time, and so is what
/// might do anything, and so are settings.
pub(super) fn is_for_session(targets: &[Target], paths: &SensitivePaths) -> bool {
    let is_setting = |path: &SensitivePath| path.sensitivity() == Sensitivity::Settings;
    let is_lasting = |target: &Target| {
        target.approval_default() < ApprovalDefault::AlwaysAsk && !paths.find_target(target).is_some_and(is_setting)
    };
    targets.iter().all(is_lasting)
}

/// The whole question. All targets are shown, however many: nobody can agree to what they have not seen.
pub(super) fn question(approval: &Approval<'_>, is_whole: bool) -> String {
    let asks = if approval.targets.is_empty() { "asks to run" } else { "asks for" };
    let mut text = format!("{} {asks}:\n", styled(STRONG, visible(approval.tool)));
    for target in approval.targets {
        let style = if target.access() == Access::Destroy { BAD } else { ALERT };
        let what = if target.scheme() == "world" { ", which may be anything, anywhere" } else { "" };
        let granted = if approval.cx.grant().permits(target) { "" } else { " (not granted)" };
        let note = approval.sensitive(target).map(|path| format!(", {}", path.describe(target.value())));
        let note = note.unwrap_or_default();
        let _ = writeln!(text, "  {}{what}{}{granted}", styled(style, visible(&target.to_string())), visible(&note));
    }
    let _ = writeln!(text, "with {}", arguments(approval.arguments, is_whole));
    text + &choices(approval)
}

/// The last line of the question.
pub(super) fn choices(approval: &Approval<'_>) -> String {
    let session =
        if is_for_session(approval.targets, approval.cx.sensitive_paths()) { ", [s] for this session" } else { "" };
    format!("{} [y] once{session}, [n] no: ", styled(STRONG, "Allow?"))
}

fn arguments(arguments: &Json, is_whole: bool) -> String {
    let json = arguments.to_string();
    let shown = visible(&json);
    match shown.char_indices().nth(SHOWN) {
        Some((end, _)) if !is_whole => {
            let more = shown[end..].chars().count();
            format!("{}\n… and {more} more characters, [v] to view them", &shown[..end])
        }
        _ => shown.into_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_clear_yes_is_one() {
        assert_eq!(Answer::of("Y\n"), Some(Answer::Once));
        assert_eq!(Answer::of(" session \r\n"), Some(Answer::Session));
        for line in ["\n", "n\n", "NO\n"] {
            assert_eq!(Answer::of(line), Some(Answer::No), "{line:?}");
        }
        for line in ["yy\n", "ok\n", "1\n", "y n\n"] {
            assert_eq!(Answer::of(line), None, "{line:?}");
        }
    }

    #[test]
    fn what_destroys_or_might_do_anything_and_settings_are_never_allowed_for_longer() {
        let targets = |texts: &[&str]| texts.iter().map(|text| text.parse().unwrap()).collect::<Vec<Target>>();
        let paths = SensitivePaths::default();
        for (asked, expected) in [
            (&["fs:write:a", "net:read:example.org"][..], true),
            (&["fs:write:.git/config", "fs:read:toolcrib.toml"], true),
            (&["fs:write:a", "fs:destroy:b"], false),
            (&["world:write:shell"], false),
            (&["fs:write:a", "fs:write:toolcrib.toml"], false),
        ] {
            assert_eq!(is_for_session(&targets(asked), &paths), expected, "{asked:?}");
        }
    }
}
