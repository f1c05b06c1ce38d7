//! SFPU sums and differences in 32-bit `Dst`, on many words.

use tt_cpu::Level;
use tt_formats::Arch;
use tt_sfpu::{BinaryCall, DstWidth, TernaryCall};

/// The functions, looked up once.
#[derive(Clone, Copy)]
pub(crate) struct Lanes {
    add: BinaryCall,
    subtract: BinaryCall,
    multiply_add: TernaryCall,
    level: Level,
}

impl Lanes {
    pub(crate) fn new(arch: Arch) -> Self {
        let binary = |name| tt_sfpu::lookup_binary(arch, name, "default").expect("a function of the SFPU").with(&[]);
        let multiply_add = tt_sfpu::lookup_ternary(arch, "mac", "default").expect("a function of the SFPU").with(&[]);
        Self {
            add: binary("add_binary").expect("a function without parameters"),
            subtract: binary("sub_binary").expect("a function without parameters"),
            multiply_add: multiply_add.expect("a function without parameters"),
            level: Level::current(),
        }
    }

    /// `a + b` in `a`.
    pub(crate) fn add(&self, a: &mut [u32], b: &[u32]) {
        self.add.run(a, b, DstWidth::Bits32, self.level);
    }

    /// `a - b` in `a`.
    pub(crate) fn subtract(&self, a: &mut [u32], b: &[u32]) {
        self.subtract.run(a, b, DstWidth::Bits32, self.level);
    }

    /// `b * b + a` in `a`, of up to 64 words.
    pub(crate) fn add_squares(&self, a: &mut [u32], b: &[u32]) {
        let mut sums = [0; 64];
        let sums = &mut sums[..b.len()];
        sums.copy_from_slice(b);
        self.multiply_add.run(sums, b, a, DstWidth::Bits32, self.level);
        a.copy_from_slice(sums);
    }
}
