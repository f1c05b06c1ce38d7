//! Exact integers scaled by powers of two, and their rounding.

/// The rounding of a number halfway between two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tie {
    /// The one with the larger magnitude.
    Away,
    /// The larger one.
    Up,
}

/// `numerator / denominator` to the nearest integer.
pub fn nearest(numerator: i128, denominator: i128, tie: Tie) -> i128 {
    let below = numerator.div_euclid(denominator);
    let twice_rest = 2 * numerator.rem_euclid(denominator);
    let up = match twice_rest.cmp(&denominator) {
        std::cmp::Ordering::Less => false,
        std::cmp::Ordering::Greater => true,
        std::cmp::Ordering::Equal => tie == Tie::Up || numerator > 0,
    };
    if up { below + 1 } else { below }
}

/// 2 to the power `n`.
///
/// Powers beyond what any operand can reach are cut off.
pub fn power_of_two(n: i64) -> i128 {
    1i128 << n.clamp(0, 90)
}

/// `value * 2^(from - to)` as an integer, for `to >= from`, rounded.
pub fn rescale(value: i128, from: i64, to: i64, tie: Tie) -> i128 {
    nearest(value, power_of_two(to - from), tie)
}
