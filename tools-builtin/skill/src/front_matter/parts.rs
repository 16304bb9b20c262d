//! [`Parts`]: the front matter and the body of a `SKILL.md`.

use super::Fault;

/// The front matter and the body of a `SKILL.md`.
pub(super) struct Parts {
    /// The lines between the two lines `---`. `None` if there are none.
    pub(super) front_matter: Option<String>,
    pub(super) body: String,
}

impl Parts {
    /// Splits a text whose lines end with `\n`. Blank lines before the front matter are skipped.
    pub(super) fn split(text: &str, faults: &mut Vec<Fault>) -> Self {
        let mut rest = text;
        while let Some((line, after)) = rest
            .split_once('\n')
            .filter(|(line, _)| line.trim().is_empty())
        {
            let _ = line;
            rest = after;
        }
        let (first, after) = rest.split_once('\n').unwrap_or((rest, ""));
        if !is_boundary(first) {
            faults.push(Fault::NoFrontMatter);
            return Self {
                front_matter: None,
                body: text.to_owned(),
            };
        }
        let mut length = 0;
        for line in after.split_inclusive('\n') {
            if is_boundary(line) || line.trim_end() == "..." {
                let body = after[length + line.len()..]
                    .trim_start_matches('\n')
                    .to_owned();
                return Self {
                    front_matter: Some(after[..length].to_owned()),
                    body,
                };
            }
            length += line.len();
        }
        faults.push(Fault::NoClosingLine);
        let end = end_of_fields(after);
        let body = after[end..].trim_start_matches('\n').to_owned();
        Self {
            front_matter: Some(after[..end].to_owned()),
            body,
        }
    }
}

/// Returns true for a line of three or more hyphens.
fn is_boundary(line: &str) -> bool {
    let line = line.trim_end();
    line.len() >= 3 && line.bytes().all(|byte| byte == b'-')
}

/// Returns the end of the first lines that look like fields: the first blank line or heading.
fn end_of_fields(text: &str) -> usize {
    let lines = text.split_inclusive('\n');
    lines
        .take_while(|line| !line.trim().is_empty() && !line.starts_with('#'))
        .map(str::len)
        .sum()
}
