//! The help of the commands of families, compared with a committed text.

use crate::Crib;

/// The help of the program and of all commands of families. Those that run a session are left out, because they have the flags of the keys.
const EXPECTED: &str = include_str!("family_help.txt");

const FAMILIES: [&str; 6] = ["mcp", "memory", "skills", "cron", "sessions", "audit"];

#[test]
fn the_help_of_each_command_of_a_family_is_the_committed_text() {
    let crib = Crib::new();
    let mut text = crib.run(&["--help"]).expect(0).stdout;
    for family in FAMILIES {
        let below = subcommands(&crib, family);
        let commands = below.iter().map(|name| vec![family, name]);
        for words in std::iter::once(vec![family]).chain(commands) {
            for form in ["--help", "-h"] {
                text += &format!("\n$ {} {form}\n", words.join(" "));
                text += &crib.run(&[&words[..], &[form]].concat()).expect(0).stdout;
            }
        }
    }
    if text != EXPECTED {
        let place = std::env::temp_dir().join("family_help.txt");
        std::fs::write(&place, &text).unwrap();
        panic!(
            "the help differs from family_help.txt; {} has the present one",
            place.display()
        );
    }
}

/// Returns the subcommands that the help lists, without `help` and `cron run`.
fn subcommands(crib: &Crib, family: &str) -> Vec<String> {
    let help = crib.run(&[family, "-h"]).expect(0).stdout;
    let listed = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty());
    listed
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !["", "help", "run"].contains(name))
        .map(str::to_owned)
        .collect()
}
