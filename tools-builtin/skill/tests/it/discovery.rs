//! The places of skills, and their owners.

use tools_skill::{Discovery, Origin, SkillError, Skills};
use tools_testkit::TempWorkspace;

use crate::setup::{approved, found, workspace};

fn skill(name: &str) -> String {
    format!("---\nname: {name}\ndescription: Is {name}.\n---\nText of {name}.\n")
}

#[test]
fn skills_of_all_places_are_found_with_their_owner() {
    let project = TempWorkspace::from_files([
        (".agents/skills/a/SKILL.md", skill("a")),
        (".claude/skills/b/SKILL.md", skill("b")),
        ("more/c/SKILL.md", skill("c")),
        (".agents/skills/node_modules/x/SKILL.md", skill("x")),
        (".agents/skills/.system/y/SKILL.md", skill("y")),
        (".agents/skills/a/inner/SKILL.md", skill("inner")),
    ]);
    let home = TempWorkspace::from_files([("skills/d/SKILL.md", skill("d"))]);
    let found = Discovery {
        workspace: Some(project.path().into()),
        folders: vec![
            home.join("skills"),
            project.join("more"),
            home.join("missing"),
        ],
        ..Discovery::default()
    }
    .find();
    let of: Vec<_> = found
        .skills
        .iter()
        .map(|skill| (&*skill.name, skill.origin))
        .collect();
    let (user, project) = (Origin::User, Origin::Project);
    assert_eq!(
        of,
        [("a", project), ("b", project), ("d", user), ("c", project)]
    );
    assert_eq!(found.overlooked, []);
}

#[test]
fn a_folder_inside_the_workspace_belongs_to_the_project_also_without_the_projects_own_folders() {
    let project = TempWorkspace::from_files([
        (".agents/skills/a/SKILL.md", skill("a")),
        ("more/c/SKILL.md", skill("c")),
    ]);
    let found = Discovery {
        workspace: Some(project.path().into()),
        omits_project_folders: true,
        folders: vec![project.join("more")],
        ..Discovery::default()
    }
    .find();
    let of: Vec<_> = found
        .skills
        .iter()
        .map(|skill| (&*skill.name, skill.origin))
        .collect();
    assert_eq!(of, [("c", Origin::Project)]);
}

#[test]
fn a_linked_folder_is_one_skill_and_no_link_of_a_project_leads_out() {
    use std::os::unix::fs::symlink;

    let project = TempWorkspace::from_files([(".agents/skills/a/SKILL.md", skill("a"))]);
    let home = TempWorkspace::from_files([("own/d/SKILL.md", skill("d"))]);
    std::fs::create_dir_all(project.join(".claude/skills")).unwrap();
    std::fs::create_dir_all(home.join("skills")).unwrap();
    symlink("../../.agents/skills/a", project.join(".claude/skills/a")).unwrap();
    symlink(home.join("own/d"), project.join(".claude/skills/out")).unwrap();
    symlink("/etc", project.join(".claude/skills/etc")).unwrap();
    // The user may link to other places. A skill that the project can change stays one of the project.
    symlink(home.join("own/d"), home.join("skills/d")).unwrap();
    symlink(project.join(".agents/skills/a"), home.join("skills/a")).unwrap();
    let found = Discovery {
        workspace: Some(project.path().into()),
        folders: vec![home.join("skills")],
        ..Discovery::default()
    }
    .find();
    let of: Vec<_> = found
        .skills
        .iter()
        .map(|skill| (&*skill.name, skill.origin))
        .collect();
    assert_eq!(of, [("a", Origin::Project), ("d", Origin::User)]);
    let overlooked: Vec<_> = found
        .overlooked
        .iter()
        .map(|place| place.path.file_name().unwrap())
        .collect();
    assert_eq!(overlooked, ["etc", "out"]);
    assert!(
        found
            .overlooked
            .iter()
            .all(|place| place.reason.contains("link cannot be followed")),
        "{found:?}"
    );

    let of_user = Discovery {
        workspace: Some(home.path().into()),
        folders: vec![home.join("skills")],
        ..Discovery::default()
    }
    .find();
    assert!(
        of_user
            .skills
            .iter()
            .all(|skill| skill.name != "d" || skill.origin == Origin::Project),
        "{of_user:?}"
    );
}

#[test]
fn a_loose_file_and_an_unusable_name_are_reported() {
    let workspace = workspace(&[
        ("loose.md", "# Loose"),
        ("README.md", "# About"),
        ("b\u{1b}[2J/SKILL.md", "---\nname: \"x\\e[2J\"\n---\n"),
    ]);
    let found = found(&workspace);
    assert_eq!(found.skills.len(), 0);
    let reasons: Vec<_> = found
        .overlooked
        .iter()
        .map(|place| place.reason.as_str())
        .collect();
    assert!(
        reasons.len() == 2
            && reasons[0].contains("neither its name")
            && reasons[1].contains("is a folder"),
        "{found:?}"
    );
}

#[cfg(target_os = "linux")]
#[test]
fn a_folder_whose_name_is_not_utf_8_is_reported_and_hides_no_other() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt as _;

    let workspace = workspace(&[("tides/SKILL.md", &skill("tides"))]);
    let unnamed = workspace
        .join(".agents/skills")
        .join(OsStr::from_bytes(b"a\xff"));
    std::fs::create_dir(&unnamed).unwrap();
    std::fs::write(unnamed.join("SKILL.md"), skill("waves")).unwrap();
    std::fs::write(
        workspace
            .join(".agents/skills")
            .join(OsStr::from_bytes(b"b\xff")),
        "no folder",
    )
    .unwrap();
    let found = found(&workspace);
    assert_eq!(
        found
            .skills
            .iter()
            .map(|skill| &*skill.name)
            .collect::<Vec<_>>(),
        ["tides"]
    );
    let [overlooked] = &found.overlooked[..] else {
        panic!("{found:?}")
    };
    assert_eq!(overlooked.reason, "its name is not UTF-8; rename it");
}

#[test]
fn a_skill_below_the_last_level_is_reported() {
    let workspace = workspace(&[
        ("area/part/deep/SKILL.md", &skill("deep")),
        ("area/part/more/deeper/SKILL.md", &skill("deeper")),
        ("area/part/more/notes/text.txt", "no skill"),
    ]);
    let found = found(&workspace);
    let names: Vec<_> = found.skills.iter().map(|skill| &*skill.name).collect();
    assert_eq!(names, ["deep"]);
    let [deeper] = &found.overlooked[..] else {
        panic!("{found:?}")
    };
    assert!(
        deeper.path.ends_with("more/deeper") && deeper.reason.contains("more than 3 levels"),
        "{deeper:?}"
    );
}

#[test]
fn two_skills_of_one_name_are_a_clash_that_names_both_places() {
    let project = TempWorkspace::from_files([
        (".agents/skills/one/SKILL.md", skill("twin")),
        (".claude/skills/other/SKILL.md", skill("Twin")),
        (".claude/skills/alone/SKILL.md", skill("alone")),
    ]);
    let skills = Skills::new(found(&project).skills.into_iter().map(approved));
    assert_eq!(
        skills.list().map(|skill| &*skill.name).collect::<Vec<_>>(),
        ["alone"]
    );
    for name in ["twin", "Twin"] {
        let error = skills.get(name).unwrap_err().to_string();
        assert!(
            error.contains("skills/one") && error.contains("skills/other"),
            "{error}"
        );
    }
    assert_eq!(skills.clashes.len(), 1);
    let error = skills.get("aloen").unwrap_err().to_string();
    assert!(error.contains("did you mean alone?"), "{error}");
}

#[test]
fn a_full_place_is_reported_and_takes_nothing_from_another() {
    let project = TempWorkspace::from_files([(".claude/skills/b/SKILL.md", skill("b"))]);
    let home = TempWorkspace::from_files([("skills/d/SKILL.md", skill("d"))]);
    let full = |count| {
        (0..count).for_each(|number| project.write(format!(".agents/skills/{number:04}"), ""));
        Discovery {
            workspace: Some(project.path().into()),
            folders: vec![home.join("skills")],
            ..Discovery::default()
        }
        .find()
    };
    let names = |found: &tools_skill::Found| {
        found
            .skills
            .iter()
            .map(|skill| skill.name.clone())
            .collect::<Vec<_>>()
            .join(" ")
    };
    let found = full(5_000);
    assert_eq!(
        (names(&found).as_str(), &found.overlooked[..]),
        ("b d", &[][..])
    );
    let found = full(5_001);
    assert_eq!(names(&found), "b d");
    let [place] = &found.overlooked[..] else {
        panic!("{:?}", found.overlooked)
    };
    assert!(
        place.path.ends_with(".agents/skills") && place.reason.contains("5000 entries"),
        "{place:?}"
    );
}

#[test]
fn the_first_skills_of_a_place_with_too_many_are_found() {
    let project = TempWorkspace::new();
    let home = TempWorkspace::from_files([("skills/d/SKILL.md", skill("d"))]);
    (0..=500).for_each(|number| {
        project.write(
            format!(".agents/skills/area-{}/s{number:03}/SKILL.md", number % 2),
            skill(&format!("s{number:03}")),
        );
    });
    let found = Discovery {
        workspace: Some(project.path().into()),
        folders: vec![home.join("skills")],
        ..Discovery::default()
    }
    .find();
    assert_eq!(
        (
            found.skills.len(),
            &*found.skills[500].name,
            found.overlooked.len()
        ),
        (501, "d", 1)
    );
    assert!(
        found.skills.iter().all(|skill| skill.name != "s499"),
        "the last of the sorted paths"
    );
    std::fs::remove_dir_all(project.join(".agents/skills/area-0/s000")).unwrap();
    let found = Discovery {
        workspace: Some(project.path().into()),
        folders: vec![home.join("skills")],
        ..Discovery::default()
    }
    .find();
    assert_eq!((found.skills.len(), found.overlooked.len()), (501, 0));
}

#[test]
fn the_instructions_of_a_place_are_bounded_together() {
    let text = |name: &str| skill(name) + &" ".repeat((1 << 20) - skill(name).len());
    let files = |count| {
        (0..count).map(move |number| {
            (
                format!(".agents/skills/s{number:02}/SKILL.md"),
                text(&format!("s{number:02}")),
            )
        })
    };
    let all = found(&TempWorkspace::from_files(files(16)));
    assert_eq!((all.skills.len(), all.overlooked.len()), (16, 0));
    let part = found(&TempWorkspace::from_files(files(17)));
    assert_eq!((part.skills.len(), part.overlooked.len()), (16, 1));
    assert!(
        part.overlooked[0].reason.contains("16 MiB of SKILL.md"),
        "{part:?}"
    );
}

#[test]
fn the_reason_to_withhold_a_skill_is_shown_for_its_name_alone() {
    let mut skills = Skills::new([]);
    skills.withheld = [("tides", "it waits for approval")]
        .map(|(name, reason)| (name.into(), reason.into()))
        .into();
    let withheld = skills.get("tides").unwrap_err();
    assert!(
        matches!(&withheld, SkillError::Withheld { reason, .. } if reason == "it waits for approval"),
        "{withheld}"
    );
    let unknown = skills.get("tide").unwrap_err();
    assert!(
        matches!(&unknown, SkillError::Unknown { names, .. } if names.is_empty()),
        "{unknown}"
    );
    assert_eq!(skills.section(8_000), "");
}
