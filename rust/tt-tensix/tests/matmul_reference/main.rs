//! The matrix unit's tile products against the independent reference. `cargo xtask reference` compares a hundred times
//! as many outputs.

mod compare;

#[test]
fn a_hundred_thousand_outputs() {
    let counts = compare::compare(100_000);
    assert!(counts.outputs >= 100_000 && counts.minus_one > 0, "{counts:?}");
}
