//! Format conversions of a 4096 x 4096 tensor, on one thread.
//!
//! The figure to look at is the throughput in bytes read plus written: a conversion should reach half of what `memcpy`
//! reaches with as many bytes.
use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use tt_cpu::convert::{self, Dims, Target, Values};
use tt_cpu::{Level, pool};
use tt_formats::{DataFormat, TileShape};
use tt_tensix::pack::{DstFormat, PackConfig, Packer};
use tt_tensix::unpack::{self, Unpacker};

const SIDE: usize = 4096;
const VALUES: usize = SIDE * SIDE;
const DIMS: Dims = Dims { batch: 1, rows: SIDE, columns: SIDE };
const FULL: Option<TileShape> = Some(TileShape::FULL);
const LEVELS: [Level; 3] = [Level::Scalar, Level::Avx2, Level::Avx512];

fn main() {
    pool::set_threads(1).expect("one thread");
    divan::main();
}

/// Values with exponents that differ inside groups, as activations have.
fn floats() -> Vec<f32> {
    let mut state = 0x1234_5678_9abc_def0_u64;
    let step = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let unit = (state >> 40) as f32 / (1 << 24) as f32 - 0.5;
        unit * unit * unit * 16.0
    };
    std::iter::repeat_with(step).take(VALUES).collect()
}

fn halves() -> Vec<u16> {
    floats().into_iter().map(|value| (value.to_bits() >> 16) as u16).collect()
}

/// Makes the level current for a bench; `None` if this host does not have it.
fn use_level(level: Level) -> Option<()> {
    Level::set_current(level).ok()
}

fn bench_pack(bencher: Bencher, level: Level, values: Values<'_>, format: DataFormat, tile: Option<TileShape>) {
    let Some(()) = use_level(level) else { return };
    let mut buffer = vec![1; convert::buffer_bytes(format, DIMS, tile).expect("fits")];
    let read = VALUES * values.format().element_bytes().expect("plain values");
    bencher.counter(BytesCount::new(read + buffer.len())).bench_local(|| {
        convert::pack(black_box(values), format, DIMS, tile, 0.0, black_box(&mut buffer)).expect("a conversion");
    });
}

fn bench_unpack<T: Copy + Default>(
    bencher: Bencher,
    level: Level,
    format: DataFormat,
    target: impl Fn(&mut [T]) -> Target<'_>,
) {
    let Some(()) = use_level(level) else { return };
    let mut buffer = vec![1; convert::buffer_bytes(format, DIMS, FULL).expect("fits")];
    convert::pack(Values::Float32(&floats()), format, DIMS, FULL, 0.0, &mut buffer).expect("a conversion");
    let mut values = vec![T::default(); VALUES];
    bencher.counter(BytesCount::new(size_of_val(&*values) + buffer.len())).bench_local(|| {
        convert::unpack(black_box(&buffer), format, DIMS, FULL, target(black_box(&mut values))).expect("a conversion");
    });
}

mod memcpy {
    use super::{Bencher, BytesCount, black_box};

    /// Copies half of `bytes`, so that `bytes` are read plus written.
    fn copy(bencher: Bencher, bytes: usize) {
        let (source, mut target) = (vec![1u8; bytes / 2], vec![2u8; bytes / 2]);
        bencher.counter(BytesCount::new(bytes)).bench_local(|| {
            black_box(&mut target).copy_from_slice(black_box(&source));
        });
    }

    /// bf16 to `bfloat8_b` and back.
    #[divan::bench]
    fn of_49_mib(bencher: Bencher) {
        copy(bencher, 49 << 20);
    }

    /// Tilize bf16.
    #[divan::bench]
    fn of_64_mib(bencher: Bencher) {
        copy(bencher, 64 << 20);
    }

    /// fp32 to bf16.
    #[divan::bench]
    fn of_96_mib(bencher: Bencher) {
        copy(bencher, 96 << 20);
    }

    /// Tilize fp32.
    #[divan::bench]
    fn of_128_mib(bencher: Bencher) {
        copy(bencher, 128 << 20);
    }
}

mod host {
    use super::{Bencher, DataFormat, FULL, LEVELS, Level, Target, Values, bench_pack, bench_unpack, floats, halves};

    #[divan::bench(args = LEVELS)]
    fn tilize_bf16(bencher: Bencher, level: Level) {
        bench_pack(bencher, level, Values::Float16B(&halves()), DataFormat::Float16B, FULL);
    }

    #[divan::bench(args = LEVELS)]
    fn tilize_fp32(bencher: Bencher, level: Level) {
        bench_pack(bencher, level, Values::Float32(&floats()), DataFormat::Float32, FULL);
    }

    #[divan::bench(args = LEVELS)]
    fn untilize_bf16(bencher: Bencher, level: Level) {
        bench_unpack(bencher, level, DataFormat::Float16B, |values| Target::Halves(values));
    }

    #[divan::bench(args = LEVELS)]
    fn untilize_fp32(bencher: Bencher, level: Level) {
        bench_unpack(bencher, level, DataFormat::Float32, |values| Target::Float32(values));
    }

    #[divan::bench(args = LEVELS)]
    fn fp32_to_bf16_rows(bencher: Bencher, level: Level) {
        bench_pack(bencher, level, Values::Float32(&floats()), DataFormat::Float16B, None);
    }

    #[divan::bench(args = LEVELS)]
    fn fp32_to_bf16_tiles(bencher: Bencher, level: Level) {
        bench_pack(bencher, level, Values::Float32(&floats()), DataFormat::Float16B, FULL);
    }

    #[divan::bench(args = LEVELS)]
    fn fp32_to_bfp8_b(bencher: Bencher, level: Level) {
        bench_pack(bencher, level, Values::Float32(&floats()), DataFormat::Bfp8B, FULL);
    }

    #[divan::bench(args = LEVELS)]
    fn fp32_to_bfp4_b(bencher: Bencher, level: Level) {
        bench_pack(bencher, level, Values::Float32(&floats()), DataFormat::Bfp4B, FULL);
    }

    #[divan::bench(args = LEVELS)]
    fn bf16_to_bfp8_b(bencher: Bencher, level: Level) {
        bench_pack(bencher, level, Values::Float16B(&halves()), DataFormat::Bfp8B, FULL);
    }

    #[divan::bench(args = LEVELS)]
    fn bfp8_b_to_bf16(bencher: Bencher, level: Level) {
        bench_unpack(bencher, level, DataFormat::Bfp8B, |values| Target::Halves(values));
    }

    #[divan::bench(args = LEVELS)]
    fn bfp8_b_to_fp32(bencher: Bencher, level: Level) {
        bench_unpack(bencher, level, DataFormat::Bfp8B, |values| Target::Float32(values));
    }

    #[divan::bench(args = LEVELS)]
    fn bfp4_b_to_fp32(bencher: Bencher, level: Level) {
        bench_unpack(bencher, level, DataFormat::Bfp4B, |values| Target::Float32(values));
    }
}

/// The device's packer and unpacker, one tile in the first-level cache.
mod tile {
    use super::{
        Bencher, DataFormat, DstFormat, LEVELS, Level, PackConfig, Packer, Unpacker, black_box, floats, unpack,
    };

    const FORMATS: [DataFormat; 4] = [DataFormat::Float32, DataFormat::Float16B, DataFormat::Bfp8B, DataFormat::Bfp4B];

    fn registers(mask: u32) -> [u32; 1024] {
        let mut tile = [0; 1024];
        for (word, value) in tile.iter_mut().zip(floats()) {
            *word = value.to_bits() & mask;
        }
        tile
    }

    fn pack(bencher: Bencher, level: Level, config: PackConfig) {
        let Ok(packer) = Packer::new(&config, level) else { return };
        let dst = registers(if config.dst == DstFormat::Fp32 { u32::MAX } else { 0xffff_0000 });
        let mut l1 = vec![0; packer.tile_bytes()];
        bencher.bench_local(|| packer.pack(black_box(&dst), black_box(&mut l1)));
    }

    #[divan::bench(args = FORMATS, consts = [0, 1, 2])]
    fn pack_bf16<const LEVEL: usize>(bencher: Bencher, output: DataFormat) {
        pack(bencher, LEVELS[LEVEL], PackConfig::new(DstFormat::Bf16, output));
    }

    #[divan::bench(args = FORMATS, consts = [0, 1, 2])]
    fn pack_fp32<const LEVEL: usize>(bencher: Bencher, output: DataFormat) {
        pack(bencher, LEVELS[LEVEL], PackConfig::new(DstFormat::Fp32, output));
    }

    #[divan::bench(args = [DataFormat::Float32, DataFormat::Float16B], consts = [0, 1, 2])]
    fn accumulate_bf16<const LEVEL: usize>(bencher: Bencher, output: DataFormat) {
        let config = PackConfig { l1_accumulate: true, ..PackConfig::new(DstFormat::Bf16, output) };
        pack(bencher, LEVELS[LEVEL], config);
    }

    #[divan::bench(args = FORMATS, consts = [0, 1, 2])]
    fn unpack_to_src<const LEVEL: usize>(bencher: Bencher, format: DataFormat) {
        let register = unpack::register_format(format, true);
        let Ok(unpacker) = Unpacker::to_src::<tt_formats::Wormhole>(format, register, LEVELS[LEVEL]) else { return };
        let mut l1 = vec![0; unpacker.tile_bytes()];
        Packer::new(&PackConfig::new(DstFormat::Fp32, format), LEVELS[LEVEL])
            .expect("a conversion")
            .pack(&registers(u32::MAX), &mut l1);
        let mut tile = [0; 1024];
        bencher.bench_local(|| unpacker.unpack(black_box(&l1), black_box(&mut tile)));
    }

    #[divan::bench]
    fn transpose(bencher: Bencher) {
        let (tile, mut transposed) = (registers(u32::MAX), [0; 1024]);
        bencher.bench_local(|| unpack::transpose(black_box(&tile), black_box(&mut transposed)));
    }
}
