//! Loads from `Dst`, stores to it, the rounding instruction and the integer cast. `numerics.md` section 13.1.

/// How `SFPLOAD` and `SFPSTORE` read and write a `Dst` word.
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
    /// Sign-magnitude in `Dst`, two's complement in the lane.
    Int32TwosComplement,
}

/// What `SFP_STOCH_RND` in its nearest mode makes of an FP32 word.
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

/// FP32 with denormals replaced by a zero of the same sign.
#[inline(always)]
pub fn flush(word: u32) -> u32 {
    if word & 0x7f80_0000 == 0 { word & 0x8000_0000 } else { word }
}

/// `SFPLOAD`.
#[inline(always)]
pub fn load(mode: Mode, dst: u32) -> u32 {
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
        Mode::Int32TwosComplement => sign_magnitude_to_twos_complement(dst),
    }
}

/// `SFPSTORE`; 16-bit results in the low half.
#[inline(always)]
pub fn store(mode: Mode, lane: u32) -> u32 {
    match mode {
        Mode::Fp16 => {
            let sign = lane >> 31 << 15;
            match (lane >> 23 & 255) as i32 - 112 {
                ..=0 => sign,
                exponent @ 1..=31 => sign | (exponent as u32) << 10 | lane >> 13 & 1023,
                32.. => sign | 0x7fff,
            }
        }
        Mode::Bf16 => flush(lane) >> 16,
        Mode::Fp32 => flush(lane),
        Mode::Int32 => lane,
        Mode::UInt16 => lane & 0xffff,
        Mode::Int32TwosComplement => twos_complement_to_sign_magnitude(lane),
    }
}

/// Two's complement of a sign-magnitude word.
#[inline(always)]
pub fn sign_magnitude_to_twos_complement(word: u32) -> u32 {
    if word >> 31 == 1 { (word & 0x7fff_ffff).wrapping_neg() } else { word }
}

/// Sign and magnitude of a two's complement word; `0x8000_0000` stays.
#[inline(always)]
pub fn twos_complement_to_sign_magnitude(word: u32) -> u32 {
    if word >> 31 == 1 { 1 << 31 | word.wrapping_neg() } else { word }
}

/// The rounding instruction, ties away from zero.
#[inline(always)]
pub fn round(mode: Round, word: u32) -> u32 {
    match mode {
        Round::Bf16 => round_bf16(word),
        Round::UInt8 => round_magnitude(word, 255),
        Round::UInt16 => round_magnitude(word, 65535),
        Round::Int8 => signed(word, round_magnitude(word, 127)),
        Round::Int16 => signed(word, round_magnitude(word, 32767)),
    }
}

/// BF16 kept as FP32: exponent 0 becomes +0, NaN becomes infinity.
#[inline(always)]
pub fn round_bf16(word: u32) -> u32 {
    match word >> 23 & 255 {
        0 => 0,
        255 => word & 0xff80_0000,
        _ => word.wrapping_add(0x8000) & 0xffff_0000,
    }
}

#[inline(always)]
fn round_magnitude(word: u32, max: u32) -> u32 {
    let exponent = word >> 23 & 255;
    let significand = 1 << 23 | word & 0x7f_ffff;
    match exponent {
        0..126 => 0,
        126..143 => {
            let shift = 150 - exponent;
            ((significand + (1 << (shift - 1))) >> shift).min(max)
        }
        _ => max,
    }
}

#[inline(always)]
fn signed(word: u32, magnitude: u32) -> u32 {
    if magnitude == 0 { 0 } else { word & 0x8000_0000 | magnitude }
}

/// `SFPCAST`: sign-magnitude integer to FP32, to nearest even, the sign kept also for zero.
#[inline(always)]
pub fn cast_to_fp32(word: u32) -> u32 {
    word & 0x8000_0000 | ((word & 0x7fff_ffff) as f32).to_bits()
}
