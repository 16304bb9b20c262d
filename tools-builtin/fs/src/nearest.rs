//! The lines of a file most similar to a text that was not found.

use tools::ToolContext;

use crate::counted::counted;
use crate::error::FsError;

/// The maximum number of lines compared.
const MAX_LINES: usize = 50_000;

/// The number of characters of a line that are compared.
const MAX_COMPARED: usize = 160;

/// The number of characters of a line that are shown.
const MAX_SHOWN: usize = 240;

/// The maximum number of lines shown.
const MAX_LINES_SHOWN: usize = 12;

/// The minimum similarity of two lines, from 0 to 1.
const MIN_SIMILARITY: f64 = 0.6;

/// Describes the lines of `text` most similar to `wanted`, with their numbers.
///
/// First looks for lines that are equal except for surrounding whitespace. If there are none, compares the longest line of
/// `wanted` with all lines.
pub(crate) fn nearest(cx: &ToolContext, text: &str, wanted: &str) -> Result<String, FsError> {
    let mut rest = text.lines();
    let lines: Vec<&str> = rest.by_ref().take(MAX_LINES).collect();
    let part = if rest.next().is_some() {
        format!(" in its first {MAX_LINES} lines")
    } else {
        String::new()
    };
    let wanted: Vec<&str> = wanted.lines().collect();
    let start = match same_lines(cx, &lines, &wanted)? {
        Some(start) => Some(start),
        None => most_similar(cx, &lines, &wanted)?,
    };
    let Some(start) = start else {
        return Ok(format!(
            "no similar text was found{part}; read the file and copy the text from it"
        ));
    };
    let end = lines.len().min(start + wanted.len().max(1));
    let place = match end - start {
        1 => format!("line {}", start + 1),
        _ => format!("lines {} to {end}", start + 1),
    };
    let mut shown: Vec<String> = (start..end)
        .take(MAX_LINES_SHOWN)
        .map(|at| number_line(at, lines[at]))
        .collect();
    if end - start > shown.len() {
        let more = counted(end - start - shown.len(), "more line", "more lines");
        shown.push(format!("[… {more} …]"));
    }
    let shown = shown.join("\n");
    Ok(format!("the nearest place{part} is {place}:\n{shown}"))
}

/// Returns the line at which most of the wanted lines match, ignoring surrounding whitespace.
fn same_lines(cx: &ToolContext, lines: &[&str], wanted: &[&str]) -> Result<Option<usize>, FsError> {
    // 64 lines are enough to find the place. Comparing thousands with thousands would take too long.
    let wanted: Vec<&str> = wanted.iter().take(64).map(|line| line.trim()).collect();
    let mut best = (0, None);
    for start in 0..lines.len() {
        if start % 1024 == 0 {
            cx.check_cancelled()?;
        }
        let here = lines[start..].iter().zip(&wanted);
        let same: usize = here
            .filter(|(line, wanted)| line.trim() == **wanted)
            .map(|(line, _)| line.trim().len())
            .sum();
        if same > best.0 {
            best = (same, Some(start));
        }
    }
    // Lines with only a brace or two match in too many places.
    Ok(best.1.filter(|_| best.0 > 3))
}

/// Returns the first line of the place where the longest wanted line is most similar.
fn most_similar(
    cx: &ToolContext,
    lines: &[&str],
    wanted: &[&str],
) -> Result<Option<usize>, FsError> {
    let numbered = wanted.iter().enumerate();
    let Some((offset, longest)) = numbered.max_by_key(|(_, line)| line.trim().len()) else {
        return Ok(None);
    };
    let longest = beginning(longest.trim(), MAX_COMPARED);
    let mut best = (MIN_SIMILARITY, None);
    for (at, line) in lines.iter().enumerate() {
        if at % 64 == 0 {
            cx.check_cancelled()?;
        }
        let similarity =
            strsim::normalized_levenshtein(longest, beginning(line.trim(), MAX_COMPARED));
        if similarity > best.0 {
            best = (similarity, Some(at));
        }
    }
    Ok(best.1.map(|at| at.saturating_sub(offset)))
}

fn number_line(at: usize, line: &str) -> String {
    let shown = beginning(line, MAX_SHOWN);
    let mark = if shown.len() < line.len() {
        " […]"
    } else {
        ""
    };
    format!("{}: {shown}{mark}", at + 1)
}

fn beginning(line: &str, characters: usize) -> &str {
    line.char_indices()
        .nth(characters)
        .map_or(line, |(end, _)| &line[..end])
}

#[cfg(test)]
mod tests {
    use super::*;
    use tools::Host;

    fn near(text: &str, wanted: &str) -> String {
        nearest(&Host::new(), text, wanted).unwrap()
    }

    #[test]
    fn space_around_lines_does_not_matter() {
        assert_eq!(
            near("{\n\tcall();\n}\n", "  call();"),
            "the nearest place is line 2:\n2: \tcall();"
        );
    }

    #[test]
    fn long_lines_and_places_are_cut() {
        let text = format!("{}\n", "long ".repeat(1000)).repeat(100);
        let shown = near(
            &text,
            &text
                .replace("long \n", "long\n")
                .replace("long l", "longer l"),
        );
        assert!(
            shown.len() < MAX_LINES_SHOWN * (MAX_SHOWN + 20) && shown.contains(" […]"),
            "{}",
            shown.len()
        );
    }

    #[test]
    fn a_long_text_is_searched_in_part_and_the_message_says_so() {
        let text = |lines: usize| format!("{}needle", "x\n".repeat(lines - 1));
        assert!(near(&text(MAX_LINES), "needle ").starts_with("the nearest place is line 50000:"));
        let message = near(&text(MAX_LINES + 1), "needle ");
        assert!(
            message.starts_with("no similar text was found in its first 50000 lines;"),
            "{message}"
        );
        let message = near(&format!("needle\n{}", text(MAX_LINES)), "needle ");
        assert!(
            message.starts_with("the nearest place in its first 50000 lines is line 1:"),
            "{message}"
        );
    }

    #[test]
    fn a_long_match_shows_the_number_of_omitted_lines() {
        let text = (0..20)
            .map(|line| format!("number {line}\n"))
            .collect::<String>();
        let shown = near(&text, &text.replace("number 19", "other"));
        assert!(
            shown.starts_with("the nearest place is lines 1 to 20:\n1: number 0\n"),
            "{shown}"
        );
        assert!(
            shown.ends_with("12: number 11\n[… 8 more lines …]"),
            "{shown}"
        );
    }

    #[test]
    fn an_empty_text_is_like_nothing() {
        assert!(near("", "x").starts_with("no similar text"));
        assert!(near("x", "\n").starts_with("no similar text"));
    }
}
