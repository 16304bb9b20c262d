//! [`grant_lines`]: a grant in a question.

use tools::Grant;

/// The characters of a line. A terminal shows 160 of them before the person asks for the rest.
const WIDTH: usize = 150;

/// Returns the grant on lines of at most [`WIDTH`] characters, unless a clause alone is longer. The number of the clauses stands before
/// them, so that a person sees whether some are hidden.
pub(crate) fn grant_lines(grant: &Grant) -> String {
    if grant.layers().any(<[_]>::is_empty) {
        return "may: nothing\n".to_owned();
    }
    let mut text = String::new();
    for (index, layer) in grant.layers().enumerate() {
        text += if index == 0 {
            "may"
        } else {
            "and of this only"
        };
        text += &if layer.len() == 1 {
            ":".to_owned()
        } else {
            format!(" ({} clauses):", layer.len())
        };
        let mut length = text.lines().last().map_or(0, |line| line.chars().count());
        for (position, clause) in layer.iter().enumerate() {
            let or = if position == 0 { "" } else { "or " };
            let added = 1 + or.len() + clause.as_str().chars().count();
            if length + added > WIDTH {
                text += "\n ";
                length = 1;
            }
            text += &format!(" {or}{clause}");
            length += added;
        }
        text += "\n";
    }
    text
}

#[cfg(test)]
mod tests {
    use tools::Clause;

    use super::*;

    #[test]
    fn each_layer_has_its_clauses_and_their_number() {
        let grant = Grant::parse(["fs:read:**", "fs:write:src/**"]).unwrap();
        assert_eq!(
            grant_lines(&grant),
            "may (2 clauses): fs:read:** or fs:write:src/**\n"
        );
        let narrowed = grant.narrowed(["fs:*:src/**".parse::<Clause>().unwrap()]);
        assert_eq!(
            grant_lines(&narrowed),
            "may: fs:*:src/**\nand of this only (2 clauses): fs:read:** or fs:write:src/**\n"
        );
        assert_eq!(grant_lines(&narrowed.narrowed([])), "may: nothing\n");
    }
}
