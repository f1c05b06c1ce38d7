//! Loads from `Dst`, stores, rounding, and integer cast.
//!
//! `docs/chip/numerics.md` section 13.1.

use tt_formats::Arch;

use super::lane;

/// The `Dst` word format of `SFPLOAD` and `SFPSTORE`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mode {
    /// 16-bit `Dst`, natural FP16 in the low half.
    Fp16,
    /// 16-bit `Dst`, natural BF16 in the low half.
    Bf16,
    /// 32-bit `Dst` as FP32.
    Fp32,
    /// 32 raw bits.
    Int32,
    /// Raw low half.
    UInt16,
    /// Sign-magnitude in `Dst`, two's complement in the lane; on Blackhole two's complement in both.
    Int32TwosComplement,
}

/// The target of `SFP_STOCH_RND` in its nearest mode, for an FP32 word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Round {
    /// BF16, kept as FP32.
    Bf16,
    /// Magnitude up to 255.
    UInt8,
    /// Sign and magnitude up to 127.
    Int8,
    /// Magnitude up to 65535.
    UInt16,
    /// Sign and magnitude up to 32767.
    Int16,
}

/// `SFPLOAD`.
#[inline(always)]
pub fn load(arch: Arch, mode: Mode, dst: u32) -> u32 {
    match mode {
        Mode::Fp16 => {
            let exponent = dst >> 10 & 31;
            // A denormal half becomes a denormal word, which every later operation takes as zero.
            let exponent = if exponent == 0 { 0 } else { exponent + 112 };
            (dst >> 15 & 1) << 31 | exponent << 23 | (dst & 1023) << 13
        }
        Mode::Bf16 => dst << 16,
        Mode::Fp32 | Mode::Int32 => dst,
        Mode::UInt16 => dst & 0xffff,
        Mode::Int32TwosComplement => match arch {
            Arch::Wormhole => lane::sm_to_twos(dst),
            Arch::Blackhole => dst,
        },
    }
}

/// `SFPSTORE`; 16-bit results in the low half.
#[inline(always)]
pub fn store(arch: Arch, mode: Mode, word: u32) -> u32 {
    match mode {
        Mode::Fp16 => {
            let sign = word >> 31 << 15;
            match (word >> 23 & 255) as i32 - 112 {
                ..=0 => sign,
                exponent @ 1..=31 => sign | (exponent as u32) << 10 | word >> 13 & 1023,
                32.. => sign | 0x7fff,
            }
        }
        Mode::Bf16 => lane::flush(word) >> 16,
        Mode::Fp32 => lane::flush(word),
        Mode::Int32 => word,
        Mode::UInt16 => word & 0xffff,
        Mode::Int32TwosComplement => match arch {
            Arch::Wormhole => lane::twos_to_sm(word),
            Arch::Blackhole => word,
        },
    }
}

/// The rounding instruction, ties away from zero.
#[inline(always)]
pub fn round(mode: Round, word: u32) -> u32 {
    match mode {
        Round::Bf16 => lane::round_bf16(word),
        Round::UInt8 => lane::round_u8(word),
        Round::UInt16 => lane::round_u16(word),
        Round::Int8 => lane::round_sm8(word),
        Round::Int16 => lane::round_sm16(word),
    }
}

/// `SFPCAST`: sign-magnitude integer to FP32, to nearest even.
///
/// The sign is kept also for zero.
#[inline(always)]
pub fn cast_to_fp32(word: u32) -> u32 {
    lane::sm2f(word)
}
