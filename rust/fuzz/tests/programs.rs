//! Programs from seeded bytes.

use fuzz::{End, check, run};
use tt_testkit::random::Random;

#[test]
fn programs_of_random_bytes_have_one_outcome() {
    let mut random = Random::new(21);
    let (mut done, mut faults) = (0, 0);
    for length in (0..400).map(|round| round % 40) {
        let bytes: Vec<u8> = (0..length).map(|_| random.bits() as u8).collect();
        match check(&bytes) {
            End::Done => done += 1,
            End::Fault(_) => faults += 1,
            End::Deadlock(_) => {}
        }
    }
    assert!(done > 20 && faults > 100, "{done} done, {faults} faults");
}

#[test]
fn a_program_without_changes_ends_and_copies_its_pages() {
    for (pages, formats) in [(1, 0), (3, 1), (4, 2)] {
        let outcome = run(&[formats, pages]);
        assert_eq!(outcome.end, End::Done);
        assert!(outcome.cycles > 0 && outcome.output.iter().any(|&byte| byte != 0));
    }
}
