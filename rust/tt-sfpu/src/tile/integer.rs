//! Integers in the forms that have no listing.
//!
//! Scalars of 32 bits, tiles of 16 bits (the low half of each word), unsigned words. All of it is plain arithmetic;
//! sums and products wrap around.

use super::{Access, Registers, Rules, Tile, TileFunction};

const CHANGES: &[Access] = &[Access::Changes];
const JOINS: &[Access] = &[Access::Reads, Access::Reads, Access::Makes];
const LOW: u32 = 0xffff;

macro_rules! functions {
    (unary: $($unary:literal ($count:literal): $one:expr;)+ binary: $($binary:literal: $two:expr;)+) => {
        pub(super) const FUNCTIONS: &[TileFunction] = &[
            $(TileFunction::new($unary, CHANGES, $count, |_: &mut Registers, tiles: &mut [Tile], p: &[u32], _: Rules| {
                let program: fn(u32, &[u32]) -> u32 = $one;
                for word in &mut tiles[0] {
                    *word = program(*word, p);
                }
                Ok(())
            }),)+
            $(TileFunction::new($binary, JOINS, 0, |_: &mut Registers, tiles: &mut [Tile], _: &[u32], _: Rules| {
                let program: fn(u32, u32) -> u32 = $two;
                for datum in 0..tiles[2].len() {
                    tiles[2][datum] = program(tiles[0][datum], tiles[1][datum]);
                }
                Ok(())
            }),)+
        ];
    };
}

functions! {
    unary:
    "add_int32"(1): |x, p| x.wrapping_add(p[0]);
    "sub_int32"(1): |x, p| x.wrapping_sub(p[0]);
    "rsub_int32"(1): |x, p| p[0].wrapping_sub(x);
    "max_int32"(1): |x, p| (x as i32).max(p[0] as i32) as u32;
    "min_int32"(1): |x, p| (x as i32).min(p[0] as i32) as u32;
    "max_uint32"(1): |x, p| x.max(p[0]);
    "min_uint32"(1): |x, p| x.min(p[0]);
    "max_uint16"(1): |x, p| (x & LOW).max(p[0] & LOW);
    "min_uint16"(1): |x, p| (x & LOW).min(p[0] & LOW);
    "eqz_uint16"(0): |x, _| u32::from(x & LOW == 0);
    "nez_uint16"(0): |x, _| u32::from(x & LOW != 0);
    "eqz_uint32"(0): |x, _| u32::from(x == 0);
    "nez_uint32"(0): |x, _| u32::from(x != 0);
    "signbit_int32"(0): |x, _| x >> 31;
    "same"(0): |x, _| x;
    "remainder_uint32"(1): |x, p| x.checked_rem(p[0]).unwrap_or(0);
    binary:
    "add_uint16": |a, b| a.wrapping_add(b) & LOW;
    "sub_uint16": |a, b| a.wrapping_sub(b) & LOW;
    "rsub_uint16": |a, b| b.wrapping_sub(a) & LOW;
    "mul_uint16": |a, b| (a & LOW).wrapping_mul(b & LOW) & LOW;
    "and_uint16": |a, b| a & b & LOW;
    "or_uint16": |a, b| (a | b) & LOW;
    "xor_uint16": |a, b| (a ^ b) & LOW;
    "eq_uint16": |a, b| u32::from(a & LOW == b & LOW);
    "ne_uint16": |a, b| u32::from(a & LOW != b & LOW);
    "lt_uint16": |a, b| u32::from(a & LOW < b & LOW);
    "gt_uint16": |a, b| u32::from(a & LOW > b & LOW);
    "le_uint16": |a, b| u32::from(a & LOW <= b & LOW);
    "ge_uint16": |a, b| u32::from(a & LOW >= b & LOW);
}
