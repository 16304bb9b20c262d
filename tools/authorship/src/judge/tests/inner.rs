//! Programs of roots inside of each other.

use super::*;

#[test]
fn a_folder_that_was_moved_away_from_a_program_is_looked_at_again() {
    for is_killed in [false, true] {
        let place = Place::new();
        let (sub, taken) = (place.root().join("sub"), place.root().join("y"));
        fs::create_dir(&sub).unwrap();
        let mut inner = Running::new(&sub, std::slice::from_ref(&sub), &[]);
        inner.process = 1;
        let inner = Watch::begin(&place.marks(), inner).unwrap();
        let move_away = || {
            // Nobody knows its number yet.
            fs::create_dir(sub.join("new")).unwrap();
            fs::rename(sub.join("new"), &taken).unwrap();
        };
        if is_killed {
            let outer = place.mortal(&[place.root()], &[]);
            move_away();
            drop(outer);
            // A process that another test starts has a copy of the lock for a moment.
            while place.marks().programs.find_lost().unwrap().is_empty() {
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            settle_lost(&place.marks()).unwrap();
        } else {
            let outer = place.watch(&[place.root()], &[]);
            move_away();
            drop(outer);
        }
        std::thread::sleep(CLOCK_LAG * 3);
        place.init(&taken);
        assert!(matches!(
            place.trust(&taken),
            Err(TrustError::Written { process: 1, .. })
        ));
        drop(inner);
        fs::rename(&taken, place.path().join("moved")).unwrap();
        assert!(place.is_marked(&place.path().join("moved")), "{is_killed}");
        let lost = place.marks().programs.find_lost().unwrap();
        assert_eq!(lost.len(), usize::from(is_killed));
    }
}

#[test]
fn a_program_whose_folders_cannot_be_noted_for_later_is_lost() {
    let place = Place::new();
    let watch = place.watch(&[place.root()], &[]);
    let damaged = place.path().join("programs/program-0.json");
    fs::write(&damaged, "{").unwrap();
    drop(watch);
    fs::remove_file(damaged).unwrap();
    place.end(());
    assert_eq!(place.marks().programs.find_lost().unwrap().len(), 1);
}
