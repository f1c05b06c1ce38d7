//! Zeros and NaN of comparisons against the sums that the kernels form.

use tt_sfpu::checked::{are_zeros, is_unordered};
use tt_sfpu::lane::{INFINITY, add, magnitude};
use tt_testkit::random::Random;

/// The kernels' sums of magnitudes, of which bits alone tell whether they are 0 or NaN.
#[test]
fn magnitudes_tell_what_their_sum_would() {
    let mut random = Random::new(11);
    let mut word = || match random.below(3) {
        0 => random.below(u32::MAX),
        1 => random.below(2) << 31 | random.below(3) << 23 | random.below(3),
        _ => random.below(2) << 31 | (INFINITY - 2 + random.below(5)),
    };
    for _ in 0..1_000_000 {
        let (a, b) = (word(), word());
        let sum: u32 = add(magnitude(a), magnitude(b));
        assert_eq!(are_zeros(a, b), sum == 0, "{a:08x} and {b:08x}");
        assert_eq!(is_unordered(a, b), sum > INFINITY, "{a:08x} and {b:08x}");
    }
}
