//! Arrays of eight lanes, for levels without their own implementation.
use std::array::from_fn;

use super::Vector;

/// Works on every CPU.
///
/// The compiler makes of it what the level allows.
#[derive(Clone, Copy)]
pub struct Portable;

const N: usize = 8;
type Lanes = [i32; N];

#[inline(always)]
fn map(a: Lanes, f: impl Fn(i32) -> i32) -> Lanes {
    from_fn(|i| f(a[i]))
}

#[inline(always)]
fn zip(a: Lanes, b: Lanes, f: impl Fn(i32, i32) -> i32) -> Lanes {
    from_fn(|i| f(a[i], b[i]))
}

#[inline(always)]
fn zip_halves(a: Lanes, b: Lanes, f: impl Fn(u16, u16) -> u16) -> Lanes {
    let (a, b): ([u16; 2 * N], [u16; 2 * N]) = (bytemuck::must_cast(a), bytemuck::must_cast(b));
    bytemuck::must_cast::<[u16; 2 * N], Lanes>(from_fn(|i| f(a[i], b[i])))
}

#[inline(always)]
fn zip_bytes(a: Lanes, b: Lanes, f: impl Fn(u8, u8) -> u8) -> Lanes {
    let (a, b): ([u8; 4 * N], [u8; 4 * N]) = (bytemuck::must_cast(a), bytemuck::must_cast(b));
    bytemuck::must_cast::<[u8; 4 * N], Lanes>(from_fn(|i| f(a[i], b[i])))
}

impl Vector for Portable {
    type Int = Lanes;
    type Float = [f32; N];
    type Mask = [bool; N];
    const LANES: usize = N;
    const ROUNDS_DOWN: bool = false;

    #[inline(always)]
    fn load(words: &[u32]) -> Lanes {
        from_fn(|i| words[i] as i32)
    }
    #[inline(always)]
    fn store(vector: Lanes, words: &mut [u32]) {
        for (word, lane) in words[..N].iter_mut().zip(vector) {
            *word = lane as u32;
        }
    }
    #[inline(always)]
    fn load_i32(words: &[i32]) -> Lanes {
        from_fn(|i| words[i])
    }
    #[inline(always)]
    fn add_halves(a: Lanes, b: Lanes) -> Lanes {
        zip_halves(a, b, u16::wrapping_add)
    }
    #[inline(always)]
    fn sub_halves(a: Lanes, b: Lanes) -> Lanes {
        zip_halves(a, b, u16::wrapping_sub)
    }
    #[inline(always)]
    fn max_halves(a: Lanes, b: Lanes) -> Lanes {
        zip_halves(a, b, |a, b| (a as i16).max(b as i16) as u16)
    }
    #[inline(always)]
    fn mul_halves(a: Lanes, b: Lanes) -> Lanes {
        zip_halves(a, b, u16::wrapping_mul)
    }
    #[inline(always)]
    fn shr_halves_by(a: Lanes, count: Lanes) -> Lanes {
        zip_halves(a, count, |a, n| if n > 15 { 0 } else { a >> n })
    }
    #[inline(always)]
    fn average_halves(a: Lanes, b: Lanes) -> Lanes {
        zip_halves(a, b, |a, b| ((u32::from(a) + u32::from(b) + 1) >> 1) as u16)
    }
    #[inline(always)]
    fn sub_bytes(a: Lanes, b: Lanes) -> Lanes {
        zip_bytes(a, b, u8::saturating_sub)
    }
    #[inline(always)]
    fn max_bytes(a: Lanes, b: Lanes) -> Lanes {
        zip_bytes(a, b, u8::max)
    }
    #[inline(always)]
    fn load_float(words: &[f32]) -> [f32; N] {
        from_fn(|i| words[i])
    }
    #[inline(always)]
    fn splat(value: i32) -> Lanes {
        [value; N]
    }
    #[inline(always)]
    fn splat_float(value: f32) -> [f32; N] {
        [value; N]
    }
    #[inline(always)]
    fn fma(a: [f32; N], b: [f32; N], c: [f32; N]) -> [f32; N] {
        from_fn(|i| a[i].mul_add(b[i], c[i]))
    }
    #[inline(always)]
    fn mul_float(a: [f32; N], b: [f32; N]) -> [f32; N] {
        from_fn(|i| a[i] * b[i])
    }
    #[inline(always)]
    fn add_float(a: [f32; N], b: [f32; N]) -> [f32; N] {
        from_fn(|i| a[i] + b[i])
    }
    #[inline(always)]
    fn sub_float(a: [f32; N], b: [f32; N]) -> [f32; N] {
        from_fn(|i| a[i] - b[i])
    }
    #[inline(always)]
    fn to_bits(a: [f32; N]) -> Lanes {
        from_fn(|i| a[i].to_bits() as i32)
    }
    #[inline(always)]
    fn from_bits(a: Lanes) -> [f32; N] {
        from_fn(|i| f32::from_bits(a[i] as u32))
    }
    #[inline(always)]
    fn exact_float(a: Lanes) -> [f32; N] {
        from_fn(|i| a[i] as f32)
    }
    #[inline(always)]
    fn interleave(a: Lanes, b: Lanes) -> [Lanes; 2] {
        let lane = |i: usize| if i.is_multiple_of(2) { a[i / 2] } else { b[i / 2] };
        [from_fn(lane), from_fn(|i| lane(i + N))]
    }
    #[inline(always)]
    fn mul_small(a: Lanes, b: Lanes) -> Lanes {
        zip(a, b, i32::wrapping_mul)
    }
    #[inline(always)]
    fn add(a: Lanes, b: Lanes) -> Lanes {
        zip(a, b, i32::wrapping_add)
    }
    #[inline(always)]
    fn sub(a: Lanes, b: Lanes) -> Lanes {
        zip(a, b, i32::wrapping_sub)
    }
    #[inline(always)]
    fn mul(a: Lanes, b: Lanes) -> Lanes {
        zip(a, b, i32::wrapping_mul)
    }
    #[inline(always)]
    fn max(a: Lanes, b: Lanes) -> Lanes {
        zip(a, b, i32::max)
    }
    #[inline(always)]
    fn min_unsigned(a: Lanes, b: Lanes) -> Lanes {
        zip(a, b, |a, b| (a as u32).min(b as u32) as i32)
    }
    #[inline(always)]
    fn abs(a: Lanes) -> Lanes {
        map(a, i32::wrapping_abs)
    }
    #[inline(always)]
    fn and(a: Lanes, b: Lanes) -> Lanes {
        zip(a, b, |a, b| a & b)
    }
    #[inline(always)]
    fn or(a: Lanes, b: Lanes) -> Lanes {
        zip(a, b, |a, b| a | b)
    }
    #[inline(always)]
    fn xor(a: Lanes, b: Lanes) -> Lanes {
        zip(a, b, |a, b| a ^ b)
    }
    #[inline(always)]
    fn leading_zeros(a: Lanes) -> Lanes {
        map(a, |a| a.leading_zeros() as i32)
    }
    #[inline(always)]
    fn shl<const COUNT: u32>(a: Lanes) -> Lanes {
        map(a, |a| a << COUNT)
    }
    #[inline(always)]
    fn shr<const COUNT: u32>(a: Lanes) -> Lanes {
        map(a, |a| (a as u32 >> COUNT) as i32)
    }
    #[inline(always)]
    fn sar<const COUNT: u32>(a: Lanes) -> Lanes {
        map(a, |a| a >> COUNT)
    }
    #[inline(always)]
    fn shl_by(a: Lanes, count: Lanes) -> Lanes {
        zip(a, count, |a, n| if n as u32 > 31 { 0 } else { a << n })
    }
    #[inline(always)]
    fn shr_by(a: Lanes, count: Lanes) -> Lanes {
        zip(a, count, |a, n| if n as u32 > 31 { 0 } else { (a as u32 >> n) as i32 })
    }
    #[inline(always)]
    fn sar_by(a: Lanes, count: Lanes) -> Lanes {
        zip(a, count, |a, n| a >> (n as u32).min(31))
    }
    #[inline(always)]
    fn equal(a: Lanes, b: Lanes) -> [bool; N] {
        from_fn(|i| a[i] == b[i])
    }
    #[inline(always)]
    fn greater(a: Lanes, b: Lanes) -> [bool; N] {
        from_fn(|i| a[i] > b[i])
    }
    #[inline(always)]
    fn both(a: [bool; N], b: [bool; N]) -> [bool; N] {
        from_fn(|i| a[i] & b[i])
    }
    #[inline(always)]
    fn select(mask: [bool; N], yes: Lanes, no: Lanes) -> Lanes {
        from_fn(|i| if mask[i] { yes[i] } else { no[i] })
    }
    #[inline(always)]
    fn keep(mask: [bool; N], value: Lanes) -> Lanes {
        from_fn(|i| if mask[i] { value[i] } else { 0 })
    }
}
