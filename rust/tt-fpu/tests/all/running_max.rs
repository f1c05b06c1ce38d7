//! Maxima of tiles against reductions.

use tt_cpu::Level;
use tt_formats::DataFormat;
use tt_fpu::clear_for_max;
use tt_fpu::{Arch, DstFormat, MathConfig, MathFidelity, PoolOp, ReduceDim, Reduction, RunningMax};
use tt_testkit::random::Random;

use tt_tensix::tile_io::{Input, ZERO};

/// Exponent bits of a `Dst` word.
const EXPONENT: u32 = 255 << 23;

#[test]
fn a_maximum_of_tiles_is_that_of_the_largest_datums() {
    let mut random = Random::new(21);
    let exponents = [0, 0, 1, 127, 128, 254, 255, 255];
    for round in 0..200_u32 {
        let format = if round % 2 == 0 { DataFormat::Float16B } else { DataFormat::Float32 };
        let input = Input::new(format, true);
        let arch = if round % 3 == 0 { Arch::Blackhole } else { Arch::Wormhole };
        let math = MathConfig { fidelity: MathFidelity::HiFi3, dst: DstFormat::Fp32, alu: input.register, arch };
        let reduction = Reduction::pool(&math, math.alu, (PoolOp::Max, ReduceDim::Row), &[127 << 10; 1024]);
        // Any words, few exponents, or negative words only, of which many are NaN or denormals.
        let mut word = || {
            let word = random.below(1 << 16) << 16 | random.below(1 << 16);
            let exponent = exponents[random.below(8) as usize] << 23;
            match round / 2 % 4 {
                0 => word,
                1 => word & !EXPONENT | exponent,
                2 => word & !EXPONENT | exponent | 1 << 31,
                _ => word & !EXPONENT | 1 << 31 | if word.is_multiple_of(64) { exponent } else { EXPONENT },
            }
        };
        let tiles: Vec<Vec<u8>> = (0..=round % 5)
            .map(|_| {
                (0..1024)
                    .flat_map(|_| word().to_le_bytes()[4 - format.element_bytes().unwrap_or(0)..].to_vec())
                    .collect()
            })
            .collect();
        for &level in Level::supported() {
            let (mut largest, mut src) = (RunningMax::new(level), ZERO);
            largest.take(&[1 << 18; 1024]);
            largest.clear();
            let mut results = [ZERO; 2];
            for dst in &mut results {
                clear_for_max(&math, dst);
            }
            for tile in &tiles {
                input.to_src(tile, &mut src);
                reduction.run(level, &mut results[0], &src);
                if format == DataFormat::Float16B && round % 4 == 0 {
                    largest.take_halves(tile);
                } else {
                    largest.take(&src);
                }
            }
            largest.store(&mut src);
            reduction.run(level, &mut results[1], &src);
            for row in 0..32 {
                let at = row / 16 * 512 + row % 16 * 16;
                assert_eq!(results[0][at], results[1][at], "{format:?}, {level:?}, round {round}, row {row}");
            }
        }
    }
}
