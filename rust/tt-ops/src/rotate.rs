//! Pairs (a, b) of neighbouring columns become (-b, a).
//!
//! Complex numbers times i.
//!
//! Source: tt-metal `ckernel_sfpu_alt_complex_rotate90.h`. The kernel exchanges its loads of even and odd columns.

use std::ops::Range;

use tt_formats::{Arch, DataFormat};
use tt_fpu::{CopyTile, MathConfig, MathFidelity};
use tt_memory::{BufferId, Device};
use tt_tensix::pack::{self, PackConfig};
use tt_tensix::tile_io::{self, Input, Tile, ZERO};

use crate::unary::UnaryProgram;
use crate::{Chain, OpError, for_each_page};

/// Pages, or pieces of them, that pass through `Dst` together.
struct Visits {
    /// Datums of a page.
    datums: usize,
    /// Datums between the first ones of two pages in `Dst`: the last column of an odd number meets padding.
    pitch: usize,
    /// Pages of a visit; one if a page takes several visits.
    together: usize,
}

impl Visits {
    fn new(datums: usize) -> Self {
        let pitch = datums.next_multiple_of(2);
        Self { datums, pitch, together: (1024 / pitch).max(1) }
    }

    /// The datums of each page that a visit takes.
    fn pieces(&self) -> impl Iterator<Item = Range<usize>> + use<> {
        let datums = self.datums;
        (0..datums).step_by(1024).map(move |start| start..datums.min(start + 1024))
    }
}

/// Exchanges and negates a tile.
struct Turn {
    neg: Chain,
    identity: Chain,
    dst32: bool,
}

impl Turn {
    fn new(arch: Arch, dst32: bool) -> Result<Self, OpError> {
        let function = |name| Chain::of(arch, name, "default", &[]);
        Ok(Self { neg: function("neg")?, identity: function("identity")?, dst32 })
    }

    fn apply(&self, dst: &mut Tile) {
        for [even, odd] in dst.as_chunks_mut::<2>().0 {
            std::mem::swap(even, odd);
        }
        let mut plain = *dst;
        self.neg.apply(dst, self.dst32);
        self.identity.apply(&mut plain, self.dst32);
        for (pair, plain) in dst.as_chunks_mut::<2>().0.iter_mut().zip(plain.as_chunks::<2>().0) {
            pair[1] = plain[1];
        }
    }
}

/// Runs the program on every page, a tile or a whole row.
///
/// Input and output may be one buffer.
///
/// # Errors
/// Memory errors of either buffer; differing page counts.
pub fn rotate(device: &mut Device, input: BufferId, output: BufferId, program: &UnaryProgram) -> Result<(), OpError> {
    let pages = device.buffer(output)?.num_pages();
    if device.buffer(input)?.num_pages() != pages {
        return Err(OpError::Invariant { operator: "rotate", what: "input and output differ in pages".into() });
    }
    let (format_in, format_out) = program.formats;
    let entry = Input::direct_to_dst(format_in, program.dst32);
    let dst = tile_io::dst_format(format_in, program.dst32);
    let math = MathConfig { fidelity: MathFidelity::HiFi4, dst, alu: entry.register, arch: program.arch };
    let result = tile_io::result_format(format_in, format_out, program.dst32);
    let packer = PackConfig::precise(result, format_out, program.precise);
    let (tile_in, tile_out) = (tile_bytes(format_in), tile_bytes(format_out));
    let datums = if program.tiled { 1024 } else { device.buffer(output)?.page_bytes() * 1024 / tile_out };
    let visits = Visits::new(datums);
    let turn = Turn::new(program.arch, program.dst32)?;
    let access = device.access(&[output])?;
    let source = if input == output { None } else { Some(access.input(input)?.all()?) };
    let target = access.output(output)?;
    let make = || (vec![0; tile_in], vec![0; tile_out], ZERO, ZERO);
    for_each_page(pages.div_ceil(visits.together), make, |(bytes_in, bytes_out, src, dst), group| {
        let first = group * visits.together;
        let mut targets: Vec<&mut [u8]> = target.claim_run(first..pages.min(first + visits.together))?.collect();
        for piece in visits.pieces() {
            let of_bytes =
                |tile: usize| (piece.start * tile / 1024..piece.end * tile / 1024, visits.pitch * tile / 1024);
            let (range, pitch) = of_bytes(tile_in);
            bytes_in.fill(0);
            for (number, target) in targets.iter().enumerate() {
                let page = source.as_ref().map_or(&**target, |source| source.page(first + number));
                bytes_in[number * pitch..][..range.len()].copy_from_slice(&page[range.clone()]);
            }
            entry.to_dst(&math, bytes_in, src, dst);
            turn.apply(dst);
            pack::pack_tile(&packer, dst, bytes_out);
            let (range, pitch) = of_bytes(tile_out);
            for (number, target) in targets.iter_mut().enumerate() {
                target[range.clone()].copy_from_slice(&bytes_out[number * pitch..][..range.len()]);
            }
        }
        Ok(())
    })
}

fn tile_bytes(format: DataFormat) -> usize {
    format.tile_bytes(tt_formats::TileShape::FULL)
}

#[cfg(test)]
mod tests {
    use std::iter;

    use super::*;

    #[test]
    fn pages_pass_together_with_their_pairs_apart() {
        let of = |datums| {
            let visits = Visits::new(datums);
            (visits.pitch, visits.together, visits.pieces().collect::<Vec<_>>())
        };
        assert_eq!(of(3), (4, 256, iter::once(0..3).collect()));
        assert_eq!(of(1024), (1024, 1, iter::once(0..1024).collect()));
        assert_eq!(of(2049), (2050, 1, vec![0..1024, 1024..2048, 2048..2049]));
    }

    #[test]
    fn pairs_are_turned() {
        let mut dst: Tile = std::array::from_fn(|at| (at as f32).to_bits());
        Turn::new(Arch::Wormhole, true).expect("functions").apply(&mut dst);
        assert_eq!(dst[..4].iter().map(|&word| f32::from_bits(word)).collect::<Vec<_>>(), [-1.0, 0.0, -3.0, 2.0]);
    }
}
