//! Tile functions of integers.

use tt_formats::Arch;
use tt_sfpu::DstWidth;
use tt_sfpu::tile::{Registers, Rules, lookup};

/// Of results in a 32-bit `Dst`.
const WIDE: Rules = Rules { width: DstWidth::Bits32, arch: Arch::Wormhole };

fn one(name: &str, x: u32, parameters: &[u32]) -> u32 {
    let mut tiles = [[x; 1024]];
    lookup(name).expect(name).run(&mut Registers::Free, &mut tiles, parameters, WIDE).expect(name);
    tiles[0][1023]
}

fn two(name: &str, a: u32, b: u32) -> u32 {
    let mut tiles = [[a; 1024], [b; 1024], [0; 1024]];
    lookup(name).expect(name).run(&mut Registers::Free, &mut tiles, &[], WIDE).expect(name);
    tiles[2][0]
}

#[test]
fn signs_and_widths() {
    assert_eq!(one("max_int32", -5i32 as u32, &[3]), 3);
    assert_eq!(one("max_uint32", -5i32 as u32, &[3]), -5i32 as u32);
    assert_eq!(one("rsub_int32", 7, &[3]) as i32, -4);
    assert_eq!(one("eqz_uint16", 0x0001_0000, &[]), 1);
    assert_eq!(one("eqz_uint32", 0x0001_0000, &[]), 0);
    assert_eq!(two("add_uint16", 0xffff, 2), 1);
    assert_eq!(two("mul_uint16", 0x1234, 0x1001), (0x1234 * 0x1001) & 0xffff);
    assert_eq!(two("lt_uint16", 0x8000, 1), 0);
}
