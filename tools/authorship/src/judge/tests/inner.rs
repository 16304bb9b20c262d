//! Programs of roots inside of each other.

use super::*;

#[test]
fn a_folder_that_was_moved_away_from_a_program_is_looked_at_again() {
    let place = Place::new();
    let (sub, taken) = (place.root().join("sub"), place.root().join("y"));
    fs::create_dir_all(sub.join("new")).unwrap();
    let inner = Running::new(&sub, std::slice::from_ref(&sub), &[]);
    let inner = Watch::begin(&place.marks(), inner).unwrap();
    let outer = place.watch(&[place.root()], &[]);
    fs::rename(sub.join("new"), &taken).unwrap();
    drop(outer);
    place.init(&taken);
    assert!(matches!(
        place.trust(&taken),
        Err(TrustError::Written { .. })
    ));
    drop(inner);
    fs::rename(&taken, place.path().join("moved")).unwrap();
    assert!(place.is_marked(&place.path().join("moved")));
}
