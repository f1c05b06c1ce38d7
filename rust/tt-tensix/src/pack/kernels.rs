//! The packer's conversions as loops over a tile, compiled per CPU level.
use tt_cpu::{Level, simd_kernel};
use tt_formats::{DataFormat, accumulate, block, format::GROUP, pack, unpack};

#[cfg(target_arch = "x86_64")]
use super::groups;
use super::{EdgeMask, PackConfig, Relu};
use crate::regs::{DstFormat, HalfTile, TILE_DATUMS};

/// A conversion of one tile.
///
/// The bytes must be exactly one tile of its output format.
pub type Kernel = unsafe fn(&Tile, &Limits, &mut [u8]);

/// Same as [`Kernel`] for a tile of upper halves, without `ReLU`.
pub type HalfKernel = unsafe fn(&HalfTile, &mut [u8]);

/// Adds a packed tile to one in L1.
pub type AccumulateKernel = unsafe fn(&[u8], &mut [u8]);

type Tile = [u32; TILE_DATUMS];

const EXPONENTS: usize = TILE_DATUMS / GROUP;

/// `ReLU` as three comparisons that do nothing unless set.
#[derive(Clone, Copy)]
pub struct Limits {
    /// A value with one of these bits becomes 0.
    sign: u32,
    /// A value up to this becomes 0; for 0 that changes nothing.
    min: u32,
    /// A value above this becomes this.
    max: u32,
    /// The bits that count in the comparison with `max`.
    max_mask: u32,
}

impl Limits {
    const OFF: Self = Self { sign: 0, min: 0, max: u32::MAX, max_mask: u32::MAX };

    /// The limits for an intermediate format.
    ///
    /// `None` if it does not have this `ReLU`.
    pub fn new(config: &PackConfig) -> Option<Self> {
        let integer = config.intermediate.is_integer();
        let wide = matches!(config.intermediate, DataFormat::Float32 | DataFormat::Tf32);
        let (sign, shift) = match (config.dst, config.intermediate) {
            _ if wide => (1 << 31, 16),
            _ if integer => (1 << 31, 0),
            // Limits come before the last step of this conversion, on a word of 19 bits.
            (DstFormat::Fp32, DataFormat::Float16) => (1 << 18, 3),
            _ => (1 << 15, 0),
        };
        let threshold = |t: u16| u32::from(t) << shift;
        let negative_to_zero = Self { sign, ..Self::OFF };
        Some(match config.relu {
            Relu::None => Self::OFF,
            Relu::Zero if config.intermediate == DataFormat::Int32 => negative_to_zero,
            _ if integer => return None,
            Relu::Zero => negative_to_zero,
            Relu::MinThreshold(t) => Self { min: threshold(t), ..negative_to_zero },
            Relu::MaxThreshold(t) => {
                Self { max: threshold(t), max_mask: if wide { !0x1fff } else { !0 }, ..negative_to_zero }
            }
        })
    }

    #[inline(always)]
    fn is_off(&self) -> bool {
        self.sign == 0 && self.min == 0 && self.max == u32::MAX
    }

    #[inline(always)]
    fn apply(&self, y: u32) -> u32 {
        let y = if y & self.sign != 0 { 0 } else { y };
        let y = if y <= self.min { 0 } else { y };
        if y & self.max_mask > self.max { self.max } else { y }
    }
}

/// Converts all datums. Most packs have no `ReLU`, and its comparisons would cost as much as the rest.
#[inline(always)]
fn all<T>(
    dst: &Tile,
    limits: &Limits,
    out: &mut [T],
    early: impl Fn(u32) -> u32,
    late: impl Fn(u32) -> u32,
    narrow: impl Fn(u32) -> T,
) {
    if limits.is_off() {
        for (y, x) in out.iter_mut().zip(dst) {
            *y = narrow(late(early(*x)));
        }
    } else {
        for (y, x) in out.iter_mut().zip(dst) {
            *y = narrow(late(limits.apply(early(*x))));
        }
    }
}

#[inline(always)]
fn words(dst: &Tile, limits: &Limits, l1: &mut [u8], early: impl Fn(u32) -> u32, late: impl Fn(u32) -> u32) {
    all(dst, limits, l1.as_chunks_mut::<4>().0, early, late, u32::to_le_bytes);
}

#[inline(always)]
fn halves(dst: &Tile, limits: &Limits, l1: &mut [u8], early: impl Fn(u32) -> u32, late: impl Fn(u32) -> u32) {
    all(dst, limits, l1.as_chunks_mut::<2>().0, early, late, |y| (y as u16).to_le_bytes());
}

#[inline(always)]
fn bytes(dst: &Tile, limits: &Limits, l1: &mut [u8], early: impl Fn(u32) -> u32, late: impl Fn(u32) -> u32) {
    all(dst, limits, l1, early, late, |y| y as u8);
}

/// Block floats with 5-bit exponents; `late` must return FP16.
#[inline(always)]
fn groups_a<const BITS: usize>(
    dst: &Tile,
    limits: &Limits,
    l1: &mut [u8],
    early: impl Fn(u32) -> u32,
    late: impl Fn(u32) -> u32,
) {
    let (exponents, datums) = l1.split_at_mut(EXPONENTS);
    block::pack_bfp::<BITS>(&values(dst, limits, early, late), exponents, datums);
}

#[inline(always)]
fn values(dst: &Tile, limits: &Limits, early: impl Fn(u32) -> u32, late: impl Fn(u32) -> u32) -> [u16; TILE_DATUMS] {
    let mut values = [0; TILE_DATUMS];
    all(dst, limits, &mut values, early, late, |y| y as u16);
    values
}

/// Packs BF16 values to block floats with 8-bit exponents. `WIDE`: with instructions that the compiler does not find in
/// [`block`], for AVX-512 only.
#[inline(always)]
fn groups_b<const BITS: usize, const WIDE: bool>(values: &[u16; TILE_DATUMS], l1: &mut [u8]) {
    #[cfg(target_arch = "x86_64")]
    if WIDE && BITS > 2 {
        // SAFETY: `group_kernel` hands out the wide version for AVX-512 only.
        return unsafe { groups::pack_bfp_b::<BITS>(values, l1) };
    }
    let (exponents, datums) = l1.split_at_mut(EXPONENTS);
    block::pack_bfp_b::<BITS>(values, exponents, datums);
}

/// Compiles `body::<WIDE>` for every CPU level.
macro_rules! group_kernel {
    ($arguments:tt) => {
        simd_kernel!(compiled, super::body::<false>, $arguments);
        #[cfg(target_arch = "x86_64")]
        simd_kernel!(wide, super::body::<true>, $arguments);

        pub fn at(level: Level) -> compiled::Kernel {
            match level.available() {
                #[cfg(target_arch = "x86_64")]
                Level::Avx512 => wide::at(level),
                level => compiled::at(level),
            }
        }
    };
}

/// From the bit positions in `Dst` to a 16-bit value.
#[inline(always)]
fn bf16(x: u32) -> u32 {
    x >> 16
}

#[inline(always)]
fn fp16(x: u32) -> u32 {
    (x >> 31) << 15 | x >> 13 & 0x7fff
}

#[inline(always)]
fn same(x: u32) -> u32 {
    x
}

#[inline(always)]
fn up(y: u32) -> u32 {
    y << 16
}

/// Early conversions, from the bit positions of `Dst`.
mod early {
    use super::{bf16, fp16, pack};

    #[inline(always)]
    pub fn bf16_to_bf16(x: u32) -> u32 {
        pack::bf16_to_bf16(bf16(x))
    }
    #[inline(always)]
    pub fn bf16_to_e8m6(x: u32) -> u32 {
        pack::bf16_to_e8m6(bf16(x))
    }
    #[inline(always)]
    pub fn bf16_to_fp16(x: u32) -> u32 {
        pack::bf16_to_fp16(bf16(x))
    }
    #[inline(always)]
    pub fn fp16_to_fp16(x: u32) -> u32 {
        pack::fp16_to_fp16(fp16(x))
    }
    #[inline(always)]
    pub fn fp16_to_e5m6(x: u32) -> u32 {
        pack::fp16_to_e5m6(fp16(x))
    }
    /// FP8 as an FP16 pattern with low mantissa bits cleared.
    #[inline(always)]
    pub fn fp16_to_lf8(x: u32) -> u32 {
        fp16(x) & 0xff00
    }
}

/// Late conversions that are two steps.
mod late {
    use super::{pack, unpack};

    #[inline(always)]
    pub fn bf16_to_fp16(y: u32) -> u32 {
        unpack::fp32_to_fp16(y << 16)
    }
    #[inline(always)]
    pub fn fp32_to_lf8(y: u32) -> u32 {
        pack::fp16_to_lf8(unpack::fp32_to_fp16(y))
    }
    #[inline(always)]
    pub fn tf32_word_to_fp8_e4m3(y: u32) -> u32 {
        pack::fp16_to_fp8_e4m3(pack::tf32_word_to_fp16(y))
    }
}

macro_rules! kernels {
    (
        datums { $(
            $name:ident: $dst:ident, $intermediate:ident => $output:ident, $loop:path, $early:expr, $late:expr;
        )* }
        groups_b { $(
            $group:ident: $of:ident, $between:ident => $to:ident, $bits:literal, $group_early:expr, $group_late:expr;
        )* }
    ) => {
        $(mod $name {
            use super::*;

            #[inline(always)]
            fn body(dst: &Tile, limits: &Limits, l1: &mut [u8]) {
                $loop(dst, limits, l1, $early, $late);
            }

            simd_kernel!(kernel, super::body, (dst: &Tile, limits: &Limits, l1: &mut [u8]));
        })*

        $(mod $group {
            use super::*;

            #[inline(always)]
            fn body<const WIDE: bool>(dst: &Tile, limits: &Limits, l1: &mut [u8]) {
                groups_b::<$bits, WIDE>(&values(dst, limits, $group_early, $group_late), l1);
            }

            group_kernel!((dst: &Tile, limits: &Limits, l1: &mut [u8]));
        })*

        /// The conversion of a configuration, if the packer has it.
        pub fn convert(config: &PackConfig, level: Level) -> Option<Kernel> {
            match (config.dst, config.intermediate, config.output) {
                $((DstFormat::$dst, DataFormat::$intermediate, DataFormat::$output) => Some($name::kernel::at(level)),)*
                $((DstFormat::$of, DataFormat::$between, DataFormat::$to) => Some($group::at(level)),)*
                _ => None,
            }
        }

        /// Every conversion: what `Dst` holds, the intermediate format, the output.
        pub const CONVERSIONS: &[(DstFormat, DataFormat, DataFormat)] = &[
            $((DstFormat::$dst, DataFormat::$intermediate, DataFormat::$output),)*
            $((DstFormat::$of, DataFormat::$between, DataFormat::$to),)*
        ];
    };
}

kernels! {
    datums {
        fp32_fp32_fp32: Fp32, Float32 => Float32, words, same, same;
        fp32_fp32_bf16: Fp32, Float32 => Float16B, halves, same, pack::fp32_late_to_bf16;
        fp32_fp32_fp16: Fp32, Float32 => Float16, halves, same, unpack::fp32_to_fp16;
        fp32_fp32_lf8: Fp32, Float32 => Lf8, bytes, same, late::fp32_to_lf8;
        fp32_fp32_bfp8: Fp32, Float32 => Bfp8, groups_a::<8>, same, unpack::fp32_to_fp16;
        fp32_fp32_bfp4: Fp32, Float32 => Bfp4, groups_a::<4>, same, unpack::fp32_to_fp16;
        fp32_fp32_bfp2: Fp32, Float32 => Bfp2, groups_a::<2>, same, unpack::fp32_to_fp16;
        fp32_fp16_fp16: Fp32, Float16 => Float16, halves, pack::fp32_to_tf32_word, pack::tf32_word_to_fp16;
        fp32_fp16_fp8_e4m3: Fp32, Float16 => Fp8E4M3, bytes, pack::fp32_to_tf32_word, late::tf32_word_to_fp8_e4m3;
        fp32_tf32_fp32: Fp32, Tf32 => Float32, words, pack::fp32_to_tf32, same;
        fp32_tf32_tf32: Fp32, Tf32 => Tf32, words, pack::fp32_to_tf32, same;
        fp32_tf32_fp16: Fp32, Tf32 => Float16, halves, pack::fp32_to_tf32, unpack::fp32_to_fp16;
        fp32_bf16_bf16: Fp32, Float16B => Float16B, halves, pack::fp32_to_bf16, same;
        fp32_bf16_fp32: Fp32, Float16B => Float32, words, pack::fp32_to_bf16, up;
        fp32_e8m6_bf16: Fp32, Bfp8B => Float16B, halves, pack::fp32_to_e8m6, same;
        fp32_e8m6_fp32: Fp32, Bfp8B => Float32, words, pack::fp32_to_e8m6, up;
        fp32_int32_int32: Fp32, Int32 => Int32, words, same, same;
        fp32_uint32_uint32: Fp32, UInt32 => UInt32, words, same, same;

        bf16_bf16_bf16: Bf16, Float16B => Float16B, halves, early::bf16_to_bf16, same;
        bf16_bf16_fp32: Bf16, Float16B => Float32, words, early::bf16_to_bf16, up;
        bf16_bf16_tf32: Bf16, Float16B => Tf32, words, early::bf16_to_bf16, up;
        bf16_bf16_fp16: Bf16, Float16B => Float16, halves, early::bf16_to_bf16, late::bf16_to_fp16;
        bf16_fp16_fp8_e4m3: Bf16, Float16 => Fp8E4M3, bytes, early::bf16_to_fp16, pack::fp16_to_fp8_e4m3;
        bf16_e8m6_bf16: Bf16, Bfp8B => Float16B, halves, early::bf16_to_e8m6, same;
        bf16_e8m6_fp32: Bf16, Bfp8B => Float32, words, early::bf16_to_e8m6, up;

        fp16_fp16_fp16: Fp16, Float16 => Float16, halves, early::fp16_to_fp16, same;
        fp16_fp16_fp32: Fp16, Float16 => Float32, words, early::fp16_to_fp16, pack::fp16_to_fp32;
        fp16_fp16_bf16: Fp16, Float16 => Float16B, halves, early::fp16_to_fp16, pack::fp16_late_to_bf16;
        fp16_fp16_lf8: Fp16, Float16 => Lf8, bytes, early::fp16_to_fp16, pack::fp16_to_lf8;
        fp16_fp16_fp8_e4m3: Fp16, Float16 => Fp8E4M3, bytes, early::fp16_to_fp16, pack::fp16_to_fp8_e4m3;
        fp16_fp16_bfp8: Fp16, Float16 => Bfp8, groups_a::<8>, early::fp16_to_fp16, same;
        fp16_fp16_bfp4: Fp16, Float16 => Bfp4, groups_a::<4>, early::fp16_to_fp16, same;
        fp16_fp16_bfp2: Fp16, Float16 => Bfp2, groups_a::<2>, early::fp16_to_fp16, same;
        fp16_e5m6_fp32: Fp16, Bfp8 => Float32, words, early::fp16_to_e5m6, pack::fp16_to_fp32;
        fp16_e5m6_bf16: Fp16, Bfp8 => Float16B, halves, early::fp16_to_e5m6, pack::fp16_late_to_bf16;
        fp16_e5m6_bfp8: Fp16, Bfp8 => Bfp8, groups_a::<8>, early::fp16_to_e5m6, same;
        fp16_e5m6_bfp4: Fp16, Bfp8 => Bfp4, groups_a::<4>, early::fp16_to_e5m6, same;
        fp16_e5m6_bfp2: Fp16, Bfp8 => Bfp2, groups_a::<2>, early::fp16_to_e5m6, same;
        fp16_lf8_lf8: Fp16, Lf8 => Lf8, bytes, early::fp16_to_lf8, pack::fp16_to_lf8;

        int32_int32_int32: Int32, Int32 => Int32, words, same, same;
        int32_uint32_uint32: Int32, UInt32 => UInt32, words, same, same;
        int32_int8_int8: Int32, Int8 => Int8, bytes, pack::int32_to_int8, same;
        int32_uint8_uint8: Int32, UInt8 => UInt8, bytes, pack::int32_to_uint8, same;
        uint16_uint16_uint16: UInt16, UInt16 => UInt16, halves, same, same;
    }
    groups_b {
        fp32_fp32_bfp8_b: Fp32, Float32 => Bfp8B, 8, same, pack::fp32_late_to_bf16;
        fp32_fp32_bfp4_b: Fp32, Float32 => Bfp4B, 4, same, pack::fp32_late_to_bf16;
        fp32_fp32_bfp2_b: Fp32, Float32 => Bfp2B, 2, same, pack::fp32_late_to_bf16;
        fp32_bf16_bfp8_b: Fp32, Float16B => Bfp8B, 8, pack::fp32_to_bf16, same;
        fp32_bf16_bfp4_b: Fp32, Float16B => Bfp4B, 4, pack::fp32_to_bf16, same;
        fp32_bf16_bfp2_b: Fp32, Float16B => Bfp2B, 2, pack::fp32_to_bf16, same;
        fp32_e8m6_bfp8_b: Fp32, Bfp8B => Bfp8B, 8, pack::fp32_to_e8m6, same;
        fp32_e8m6_bfp4_b: Fp32, Bfp8B => Bfp4B, 4, pack::fp32_to_e8m6, same;
        fp32_e8m6_bfp2_b: Fp32, Bfp8B => Bfp2B, 2, pack::fp32_to_e8m6, same;
        bf16_bf16_bfp8_b: Bf16, Float16B => Bfp8B, 8, early::bf16_to_bf16, same;
        bf16_bf16_bfp4_b: Bf16, Float16B => Bfp4B, 4, early::bf16_to_bf16, same;
        bf16_bf16_bfp2_b: Bf16, Float16B => Bfp2B, 2, early::bf16_to_bf16, same;
        bf16_e8m6_bfp8_b: Bf16, Bfp8B => Bfp8B, 8, early::bf16_to_e8m6, same;
        bf16_e8m6_bfp4_b: Bf16, Bfp8B => Bfp4B, 4, early::bf16_to_e8m6, same;
        bf16_e8m6_bfp2_b: Bf16, Bfp8B => Bfp2B, 2, early::bf16_to_e8m6, same;
        fp16_fp16_bfp8_b: Fp16, Float16 => Bfp8B, 8, early::fp16_to_fp16, pack::fp16_late_to_bf16;
        fp16_fp16_bfp4_b: Fp16, Float16 => Bfp4B, 4, early::fp16_to_fp16, pack::fp16_late_to_bf16;
        fp16_fp16_bfp2_b: Fp16, Float16 => Bfp2B, 2, early::fp16_to_fp16, pack::fp16_late_to_bf16;
        fp16_e5m6_bfp8_b: Fp16, Bfp8 => Bfp8B, 8, early::fp16_to_e5m6, pack::fp16_late_to_bf16;
        fp16_e5m6_bfp4_b: Fp16, Bfp8 => Bfp4B, 4, early::fp16_to_e5m6, pack::fp16_late_to_bf16;
        fp16_e5m6_bfp2_b: Fp16, Bfp8 => Bfp2B, 2, early::fp16_to_e5m6, pack::fp16_late_to_bf16;
    }
}

/// The conversions of words that are given as their upper halves, without `ReLU`.
macro_rules! half_kernels {
    ($($name:ident: $intermediate:ident => $output:ident, $early:path, $store:ident $(<$bits:literal>)?;)*) => {
        $(mod $name {
            use super::*;

            #[inline(always)]
            fn body<const WIDE: bool>(dst: &HalfTile, l1: &mut [u8]) {
                let mut values = *dst;
                for value in &mut values {
                    *value = $early(u32::from(*value)) as u16;
                }
                $store::<$($bits,)? WIDE>(&values, l1);
            }

            group_kernel!((dst: &HalfTile, l1: &mut [u8]));
        })*

        /// The conversion of a configuration, if there is such a way.
        pub fn convert_halves(config: &PackConfig, level: Level) -> Option<HalfKernel> {
            let plain = config.relu == Relu::None && config.edge == EdgeMask::None && !config.l1_accumulate;
            if !plain || config.dst != DstFormat::Bf16 {
                return None;
            }
            match (config.intermediate, config.output) {
                $((DataFormat::$intermediate, DataFormat::$output) => Some($name::at(level)),)*
                _ => None,
            }
        }
    };
}

half_kernels! {
    half_bf16_bf16: Float16B => Float16B, pack::bf16_to_bf16, store_halves;
    half_bf16_bfp8_b: Float16B => Bfp8B, pack::bf16_to_bf16, groups_b<8>;
    half_bf16_bfp4_b: Float16B => Bfp4B, pack::bf16_to_bf16, groups_b<4>;
    half_e8m6_bfp8_b: Bfp8B => Bfp8B, pack::bf16_to_e8m6, groups_b<8>;
    half_e8m6_bfp4_b: Bfp8B => Bfp4B, pack::bf16_to_e8m6, groups_b<4>;
}

#[inline(always)]
fn store_halves<const WIDE: bool>(values: &HalfTile, l1: &mut [u8]) {
    for (y, x) in l1.as_chunks_mut::<2>().0.iter_mut().zip(values) {
        *y = x.to_le_bytes();
    }
}

macro_rules! accumulate_kernels {
    ($($name:ident: $bytes:literal, $word:ty, $add:path;)*) => { $(
        mod $name {
            use super::*;

            #[inline(always)]
            fn body(packed: &[u8], l1: &mut [u8]) {
                for (old, new) in l1.as_chunks_mut::<$bytes>().0.iter_mut().zip(packed.as_chunks::<$bytes>().0) {
                    let sum = $add(<$word>::from_le_bytes(*old).into(), <$word>::from_le_bytes(*new).into());
                    *old = (sum as $word).to_le_bytes();
                }
            }

            simd_kernel!(kernel, super::body, (packed: &[u8], l1: &mut [u8]));
        }
    )* };
}

accumulate_kernels! {
    accumulate_fp32: 4, u32, accumulate::fp32;
    accumulate_bf16: 2, u16, accumulate::bf16;
    accumulate_fp16: 2, u16, accumulate::fp16;
}

/// The accumulation of an output format, if the packer has it.
pub fn accumulate(output: DataFormat, level: Level) -> Option<AccumulateKernel> {
    match output {
        DataFormat::Float32 => Some(accumulate_fp32::kernel::at(level)),
        DataFormat::Float16B => Some(accumulate_bf16::kernel::at(level)),
        DataFormat::Float16 => Some(accumulate_fp16::kernel::at(level)),
        _ => None,
    }
}
