//! The place in a text that is most like another text.

use tools::ToolContext;

use crate::error::FsError;

/// How many lines are looked at.
const MAX_LINES: usize = 50_000;

/// How much of a line is compared, in characters.
const MAX_COMPARED: usize = 160;

/// How much of a line is shown, in characters.
const MAX_SHOWN: usize = 240;

/// How many lines are shown.
const MAX_LINES_SHOWN: usize = 12;

/// How alike two lines have to be, from 0 to 1, to be worth a word.
const ALIKE: f64 = 0.6;

/// Where in a text something is like `wanted`, in words: the lines, with their numbers.
///
/// A line that is the same but for the space around it says the most. Where there is none, the longest line that was
/// wanted is compared with all there are.
pub(crate) fn nearest(cx: &ToolContext, text: &str, wanted: &str) -> Result<String, FsError> {
    let mut rest = text.lines();
    let lines: Vec<&str> = rest.by_ref().take(MAX_LINES).collect();
    let part = if rest.next().is_some() { format!(" in its first {MAX_LINES} lines") } else { String::new() };
    let wanted: Vec<&str> = wanted.lines().collect();
    let start = match same_lines(cx, &lines, &wanted)? {
        Some(start) => Some(start),
        None => alike(cx, &lines, &wanted)?,
    };
    let Some(start) = start else {
        let place = if part.is_empty() { " in it" } else { &part };
        return Ok(format!("nothing{place} is like it; read the file and copy the text from there"));
    };
    let end = lines.len().min(start + wanted.len().max(1));
    let place = match end - start {
        1 => format!("line {}", start + 1),
        _ => format!("lines {} to {end}", start + 1),
    };
    let mut shown: Vec<String> = (start..end).take(MAX_LINES_SHOWN).map(|at| numbered(at, lines[at])).collect();
    if end - start > shown.len() {
        shown.push(format!("[… {} more lines …]", end - start - shown.len()));
    }
    Ok(format!("the nearest place{part} is {place}:\n{}", shown.join("\n")))
}

/// Where most of the wanted lines are, leaving aside the space around them.
fn same_lines(cx: &ToolContext, lines: &[&str], wanted: &[&str]) -> Result<Option<usize>, FsError> {
    // A few lines tell the place; comparing thousands with thousands would take long.
    let wanted: Vec<&str> = wanted.iter().take(64).map(|line| line.trim()).collect();
    let mut best = (0, None);
    for start in 0..lines.len() {
        if start % 1024 == 0 {
            cx.check_cancelled()?;
        }
        let here = lines[start..].iter().zip(&wanted);
        let same: usize =
            here.filter(|(line, wanted)| line.trim() == **wanted).map(|(line, _)| line.trim().len()).sum();
        if same > best.0 {
            best = (same, Some(start));
        }
    }
    // A brace or two on a line of its own is in many places.
    Ok(best.1.filter(|_| best.0 > 3))
}

/// Where the wanted lines would begin if the longest of them were the line that is most like it.
fn alike(cx: &ToolContext, lines: &[&str], wanted: &[&str]) -> Result<Option<usize>, FsError> {
    let Some((offset, longest)) = wanted.iter().enumerate().max_by_key(|(_, line)| line.trim().len()) else {
        return Ok(None);
    };
    let longest = beginning(longest.trim(), MAX_COMPARED);
    let mut best = (ALIKE, None);
    for (at, line) in lines.iter().enumerate() {
        if at % 64 == 0 {
            cx.check_cancelled()?;
        }
        let likeness = strsim::normalized_levenshtein(longest, beginning(line.trim(), MAX_COMPARED));
        if likeness > best.0 {
            best = (likeness, Some(at));
        }
    }
    Ok(best.1.map(|at| at.saturating_sub(offset)))
}

fn numbered(at: usize, line: &str) -> String {
    let shown = beginning(line, MAX_SHOWN);
    let mark = if shown.len() < line.len() { " […]" } else { "" };
    format!("{}: {shown}{mark}", at + 1)
}

fn beginning(line: &str, characters: usize) -> &str {
    line.char_indices().nth(characters).map_or(line, |(end, _)| &line[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(text: &str, wanted: &str) -> String {
        nearest(&ToolContext::new(), text, wanted).unwrap()
    }

    #[test]
    fn space_around_lines_does_not_matter() {
        assert_eq!(near("{\n\tcall();\n}\n", "  call();"), "the nearest place is line 2:\n2: \tcall();");
    }

    #[test]
    fn long_lines_and_places_are_cut() {
        let text = format!("{}\n", "long ".repeat(1000)).repeat(100);
        let shown = near(&text, &text.replace("long \n", "long\n").replace("long l", "longer l"));
        assert!(shown.len() < MAX_LINES_SHOWN * (MAX_SHOWN + 20) && shown.contains(" […]"), "{}", shown.len());
    }

    #[test]
    fn a_long_text_is_looked_through_in_part_and_that_is_told() {
        let text = |lines: usize| format!("{}needle", "x\n".repeat(lines - 1));
        assert!(near(&text(MAX_LINES), "needle ").starts_with("the nearest place is line 50000:"));
        let told = near(&text(MAX_LINES + 1), "needle ");
        assert!(told.starts_with("nothing in its first 50000 lines is like it"), "{told}");
        let told = near(&format!("needle\n{}", text(MAX_LINES)), "needle ");
        assert!(told.starts_with("the nearest place in its first 50000 lines is line 1:"), "{told}");
    }

    #[test]
    fn of_a_long_place_it_is_told_how_many_lines_are_not_shown() {
        let text = (0..20).map(|line| format!("number {line}\n")).collect::<String>();
        let shown = near(&text, &text.replace("number 19", "other"));
        assert!(shown.starts_with("the nearest place is lines 1 to 20:\n1: number 0\n"), "{shown}");
        assert!(shown.ends_with("12: number 11\n[… 8 more lines …]"), "{shown}");
    }

    #[test]
    fn an_empty_text_is_like_nothing() {
        assert!(near("", "x").starts_with("nothing"));
        assert!(near("x", "\n").starts_with("nothing"));
    }
}
