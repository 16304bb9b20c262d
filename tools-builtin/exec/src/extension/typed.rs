//! The call that a typed command line becomes.

use serde_json::{Value, json};

/// The signs with which a line may mean more to a shell than a program and its words.
const SIGNS: &str = "|&;<>$`*?(){}[]~#\n";

/// Returns the tool that runs a command line, and its arguments. An error is for the person.
pub(super) fn call(line: &str) -> Result<(&'static str, Value), String> {
    if line.contains(|c: char| SIGNS.contains(c)) {
        return Ok(("exec.shell", json!({"script": line})));
    }
    let words = shlex::split(line).ok_or("unclosed quote; close it, or remove it")?;
    let [program, args @ ..] = &words[..] else {
        return Err("name a program after the exclamation mark, such as !git status".to_owned());
    };
    Ok(("exec.run", json!({"program": program, "args": args})))
}
