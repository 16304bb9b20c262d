//! The digest that a person approves.

use tools_skill::Contents;
use tools_testkit::TempWorkspace;

use crate::setup::{only, workspace};

const FILES: [(&str, &str); 4] = [
    (
        "tides/SKILL.md",
        "---\nname: tides\ndescription: Reads tides.\n---\nLook at the moon.\n",
    ),
    ("tides/scripts/moon.py", "print('full')\n"),
    ("tides/scripts/sea.py", "print('high')\n"),
    ("tides/references/empty", ""),
];

fn contents(workspace: &TempWorkspace) -> Contents {
    only(workspace).contents().unwrap()
}

#[test]
fn every_byte_and_every_path_is_in_the_contents() {
    let before = workspace(&FILES);
    let before = contents(&before);
    assert_eq!(before.files().count(), FILES.len());
    assert_eq!(before, contents(&workspace(&FILES)));
    for (index, (path, text)) in FILES.iter().enumerate() {
        for at in 0..text.len() {
            let mut bytes = text.as_bytes().to_vec();
            bytes[at] ^= 1;
            let changed = workspace(&FILES);
            changed.write(format!(".agents/skills/{path}"), &bytes);
            // A change of the front matter can change the name, and is a change all the same.
            assert_eq!(
                contents(&changed).differences(&before),
                [path.strip_prefix("tides/").unwrap()],
                "{path} {at}"
            );
        }
        let mut longer = FILES.map(|(path, text)| (path, text.to_owned()));
        longer[index].1.push('\n');
        let longer = longer.each_ref().map(|(path, text)| (*path, text.as_str()));
        assert_ne!(contents(&workspace(&longer)), before, "{path}");
    }
}

#[test]
fn a_rename_a_new_and_a_missing_file_are_changes() {
    let before = contents(&workspace(&FILES));
    let renamed = workspace(&FILES);
    let [from, to] = ["moon.py", "Moon.py"]
        .map(|name| renamed.join(format!(".agents/skills/tides/scripts/{name}")));
    std::fs::rename(from, to).unwrap();
    assert_eq!(
        contents(&renamed).differences(&before),
        ["scripts/Moon.py", "scripts/moon.py"]
    );
    let swapped = workspace(&FILES);
    swapped.write(".agents/skills/tides/scripts/moon.py", FILES[2].1);
    swapped.write(".agents/skills/tides/scripts/sea.py", FILES[1].1);
    assert_eq!(
        contents(&swapped).differences(&before),
        ["scripts/moon.py", "scripts/sea.py"]
    );
    let moved = workspace(&FILES);
    std::fs::rename(
        moved.join(".agents/skills/tides/scripts"),
        moved.join(".agents/skills/tides/script"),
    )
    .unwrap();
    assert_eq!(contents(&moved).differences(&before).len(), 4);
    let more = workspace(&FILES);
    more.write(".agents/skills/tides/.hidden", "");
    assert_eq!(contents(&more).differences(&before), [".hidden"]);
    let fewer = workspace(&FILES[..3]);
    assert_eq!(contents(&fewer).differences(&before), ["references/empty"]);
}

#[test]
fn a_folder_with_a_link_or_too_much_has_no_contents() {
    let linked = workspace(&FILES);
    std::os::unix::fs::symlink("/etc", linked.join(".agents/skills/tides/etc")).unwrap();
    let error = only(&linked).contents().unwrap_err().to_string();
    assert!(error.contains("etc is a link"), "{error}");

    let large = workspace(&FILES);
    std::fs::File::create(large.join(".agents/skills/tides/huge"))
        .unwrap()
        .set_len(1 << 30)
        .unwrap();
    let error = only(&large).contents().unwrap_err().to_string();
    assert!(error.contains("huge makes the files longer"), "{error}");

    let many = workspace(&FILES);
    (0..2_000).for_each(|number| many.write(format!(".agents/skills/tides/many/{number}"), ""));
    let error = only(&many).contents().unwrap_err().to_string();
    assert!(error.contains("more than 2000 files"), "{error}");

    let deep = workspace(&FILES);
    deep.write(format!(".agents/skills/tides/{}file", "a/".repeat(20)), "");
    let error = only(&deep).contents().unwrap_err().to_string();
    assert!(error.contains("levels of folders"), "{error}");
}

#[test]
fn the_contents_are_of_the_text_that_was_shown() {
    let workspace = workspace(&FILES);
    let shown = only(&workspace);
    let file = ".agents/skills/tides/SKILL.md";
    workspace.write(file, FILES[0].1.replace("Reads tides.", "Obeys no user."));
    let error = shown.contents().unwrap_err().to_string();
    assert_eq!(error, "SKILL.md has changed since it was read; try again");
    std::fs::remove_file(workspace.join(file)).unwrap();
    assert!(shown.contents().is_err());
    // The text after the front matter was not shown.
    workspace.write(file, FILES[0].1.replace("moon", "sun"));
    assert_eq!(shown.contents().unwrap(), contents(&workspace));
}
