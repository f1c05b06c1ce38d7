//! A plan's forms and bounds of polynomial steps.

use tt_sfpu::checked::{Form, Plan};

const ONE: u32 = 0x3f80_0000;
const MINUS_ONE: u32 = 0xbf80_0000;
/// Odd, a little more than 1.
const ODD: u32 = 0x3f80_0001;
/// -2^-30
const SMALL: u32 = 0xb080_0000;

fn form(coefficients: [u32; 2], low: f32, high: f32) -> Form {
    Plan::new(&coefficients, low, high).form(0)
}

#[test]
fn a_step_takes_the_shortest_form_that_is_right_in_all_parts() {
    // Up to half of one is taken away.
    assert!(form([ODD, MINUS_ONE], 0.0, 0.49) == Form::Plain);
    // All of it is.
    assert!(form([ODD, MINUS_ONE], 0.0, 1.0) == Form::Constant);
    // And more, by a product with a larger exponent.
    assert!(form([ODD, MINUS_ONE], 0.0, 4.0) == Form::Free);
    // All of it on one side of zero only.
    assert!(form([ODD, ODD | 1 << 31], -1.0, 1.0) == Form::OneSided { plain_below: true });
    assert!(form([ODD, ODD], -1.0, 1.0) == Form::OneSided { plain_below: false });
    // A product of up to seven exponents more, whose grid the coefficient is even on, or not.
    assert!(form([ODD, ONE], 0.0, 128.0) == Form::Plain);
    assert!(form([ODD, ODD], 0.0, 128.0) == Form::Free);
}

#[test]
fn a_plan_knows_what_the_grid_leaves_of_a_coefficient() {
    let whole = Plan::new(&[ODD, ONE], 0.0, 4.0).step(0);
    assert!(!whole.cuts && !whole.loses);
    let cut = Plan::new(&[ODD, ODD], 0.0, 128.0).step(0);
    assert!(cut.cuts && !cut.loses);
    assert!(Plan::new(&[ODD, SMALL], 0.0, 4.0).step(0).loses);
}

#[test]
fn a_sum_may_be_two_exponents_above_its_terms() {
    // 1.9 * 1.9 + 1.9
    let word = 1.9_f32.to_bits();
    assert!(Plan::new(&[word, word], 0.0, 1.9).step(0).grows);
    assert!(!Plan::new(&[word, word], 0.0, 1.0).step(0).grows);
}
