//! A tile product of the plain path.
//!
//! Its operands, and the scales of its phases.

use super::prepared::Planes;
use crate::MathConfig;
use crate::operand::Phase;

/// What one call computes.
#[derive(Clone, Copy)]
pub(super) struct Job<'a> {
    pub cfg: &'a MathConfig,
    pub a: &'a Planes,
    pub b: &'a Planes,
    /// Rows from here on are zero, and stay so.
    pub rows: usize,
}

impl Job<'_> {
    /// Returns the exponent difference of a phase to phase 0.
    #[inline(always)]
    pub fn below_phase_0(&self, phase: u32) -> i32 {
        Phase::new(self.cfg.mode(), 0).adjust - Phase::new(self.cfg.mode(), phase).adjust
    }
}

#[inline(always)]
pub(super) const fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) << 23) as u32)
}
