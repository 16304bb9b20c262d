//! Writes to skills of the user in the root, which other roots use without an approval.

use std::fs;
use std::os::unix::fs::symlink;

use crate::Crib;
use crate::skills::{PLAIN, run, section, write};

/// Calls `fs.write` with the grant to write everything. Expects the exit code 5 if it needs a person, and 0 otherwise.
fn expect_writes(crib: &Crib, paths: &[&str], code: i32) {
    for path in paths {
        let write = format!("fs.write path={path} content=x parents=true");
        run(
            crib,
            &[
                "run",
                "--provider",
                "direct",
                "--grant",
                "fs:write:**",
                &write,
            ],
        )
        .expect(code);
    }
}

#[test]
fn a_configured_folder_is_not_changed_without_a_question() {
    let crib = Crib::new();
    write(
        &crib,
        "root/more/star/SKILL.md",
        "---\nname: star\ndescription: Is far.\n---\nWait.\n",
    );
    let more = crib.root().join("more");
    write(
        &crib,
        "config/toolcrib/toolcrib.toml",
        &format!("skills.folders = [{:?}]\n", more.to_str().unwrap()),
    );
    // Another session has the folder outside of its workspace, and trusts it as the user's.
    let other = crib.dir.path().join("other");
    fs::create_dir(&other).unwrap();
    assert!(section(&crib, &["--root", other.to_str().unwrap()]).is_some());
    for path in ["more/star/SKILL.md", "more/new/SKILL.md"] {
        let write = format!("fs.write path={path} content=x");
        run(
            &crib,
            &[
                "run",
                "--provider",
                "direct",
                "--grant",
                "fs:write:**",
                &write,
            ],
        )
        .expect(5);
    }
    run(
        &crib,
        &[
            "run",
            "--provider",
            "direct",
            "--grant",
            "fs:write:**",
            "fs.write path=else content=x",
        ],
    )
    .expect(0);
}

#[test]
fn a_skill_of_the_user_that_is_a_link_into_the_workspace_is_not_changed_without_a_question() {
    let crib = Crib::new();
    write(
        &crib,
        "root/kept/star/SKILL.md",
        "---\nname: star\ndescription: Is far.\n---\nWait.\n",
    );
    let folder = crib.dir.path().join("config/toolcrib/skills");
    fs::create_dir_all(&folder).unwrap();
    std::os::unix::fs::symlink(crib.root().join("kept/star"), folder.join("star")).unwrap();
    for path in ["kept/star/SKILL.md", "kept/star/new.md"] {
        let write = format!("fs.write path={path} content=x");
        run(
            &crib,
            &[
                "run",
                "--provider",
                "direct",
                "--grant",
                "fs:write:**",
                &write,
            ],
        )
        .expect(5);
    }
    run(
        &crib,
        &[
            "run",
            "--provider",
            "direct",
            "--grant",
            "fs:write:**",
            "fs.write path=kept/x content=x",
        ],
    )
    .expect(0);
}

#[test]
fn a_folder_of_skills_that_a_link_leads_to_is_not_changed_without_a_question() {
    for (link, target) in [
        ("home/.agents/skills", "root/skills"),
        ("home/.agents", "root"),
        ("home/.agents/skills", "root/missing"),
        ("config/toolcrib/skills", "root/skills"),
    ] {
        let crib = Crib::new();
        write(&crib, "root/skills/moon/SKILL.md", PLAIN);
        let link = crib.dir.path().join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(crib.dir.path().join(target), &link).unwrap();
        match target {
            "root/missing" => expect_writes(&crib, &["missing/new/SKILL.md"], 5),
            _ => expect_writes(&crib, &["skills/moon/SKILL.md", "skills/new/SKILL.md"], 5),
        }
        // All of `~/.agents` configures agents.
        let code = if target == "root" { 5 } else { 0 };
        expect_writes(&crib, &["else"], code);
    }
}

#[test]
fn a_skill_that_a_link_below_the_folder_of_skills_leads_to_is_not_changed_without_a_question() {
    let crib = Crib::new();
    write(&crib, "root/moon/SKILL.md", PLAIN);
    write(
        &crib,
        "root/area/sun/SKILL.md",
        &PLAIN.replace("moon", "sun"),
    );
    let skills = crib.dir.path().join("home/.agents/skills");
    fs::create_dir_all(skills.join("sky")).unwrap();
    // A link that is followed through another one, and one that leads nowhere yet.
    symlink("../../../../root/moon", skills.join("sky/moon")).unwrap();
    symlink("../../../root/area", skills.join("area")).unwrap();
    symlink("../far", crib.root().join("area/far")).unwrap();
    expect_writes(
        &crib,
        &[
            "moon/SKILL.md",
            "area/sun/SKILL.md",
            "area/new/SKILL.md",
            "far/SKILL.md",
        ],
        5,
    );
    expect_writes(&crib, &["else", "more/moon/SKILL.md"], 0);
}

#[test]
fn a_root_inside_of_a_skill_of_the_user_is_not_changed_without_a_question() {
    for (link, target) in [(".agents/skills/moon", "root"), (".agents/skills", ".")] {
        let crib = Crib::new();
        write(&crib, "root/SKILL.md", PLAIN);
        let link = crib.dir.path().join("home").join(link);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(crib.dir.path().join(target), &link).unwrap();
        expect_writes(&crib, &["SKILL.md", "more.md"], 5);
    }
}

#[test]
fn no_program_adds_a_skill_of_the_user() {
    let crib = Crib::new();
    if !run(&crib, &["doctor"])
        .stdout
        .contains("Programs run in bubblewrap.")
    {
        return;
    }
    write(&crib, "root/skills/moon/SKILL.md", PLAIN);
    write(&crib, "root/new.md", PLAIN);
    let link = crib.dir.path().join("home/.agents/skills");
    fs::create_dir_all(link.parent().unwrap()).unwrap();
    symlink(crib.root().join("skills"), &link).unwrap();
    let install = |place: &str| {
        let prompt = format!(r#"exec.run program=install args='["-D","new.md","{place}"]'"#);
        let flags = ["--allow", "exec:write:install **", "--grant", "fs:*:**"];
        run(
            &crib,
            &[&["run", "--provider", "direct", &prompt], &flags[..]].concat(),
        )
        .stdout
    };
    let refused = install("skills/new/SKILL.md");
    assert!(
        refused.contains("Read-only") && !link.join("new").exists(),
        "{refused}"
    );
    let shown = install("else/new/SKILL.md");
    assert!(crib.root().join("else/new/SKILL.md").exists(), "{shown}");
}
