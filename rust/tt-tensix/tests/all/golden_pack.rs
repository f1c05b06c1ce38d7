//! Every array of `golden/fpu/{pack,pack_relu,pack_l1acc,unpack}.npz`, at every CPU level.
//!
//! And of Blackhole's own `{pack_fp8,unpack,unpack_fp8}.npz`.
use tt_cpu::Level;
use tt_formats::unpack::Unpacks;
use tt_formats::{Blackhole, DataFormat, TileShape, Wormhole};
use tt_tensix::pack::{DstFormat, EdgeMask, PackConfig, Packer, Relu};
use tt_tensix::unpack::{self, Unpacker};
use tt_testkit::golden::{self, Archive};

fn format(name: &str) -> DataFormat {
    match name {
        "fp32" => DataFormat::Float32,
        "fp16" => DataFormat::Float16,
        "bf16" => DataFormat::Float16B,
        "tf32" => DataFormat::Tf32,
        "bfp8_b" => DataFormat::Bfp8B,
        "bfp4_b" => DataFormat::Bfp4B,
        "bfp2_b" => DataFormat::Bfp2B,
        "int32" => DataFormat::Int32,
        "int8" => DataFormat::Int8,
        "uint8" => DataFormat::UInt8,
        "uint16" => DataFormat::UInt16,
        "fp8_e5m2" => DataFormat::Lf8,
        "fp8_e4m3" => DataFormat::Fp8E4M3,
        other => panic!("format {other}"),
    }
}

/// Intermediate formats are named after the float that they hold.
fn intermediate(name: &str) -> DataFormat {
    match name {
        "bfp8" => DataFormat::Bfp8B,
        "bfp8a" => DataFormat::Bfp8,
        other => format(other),
    }
}

fn config(name: &str) -> PackConfig {
    let (dst, rest) = name.split_once('_').expect("dst");
    let (from, output) = rest.split_once("_to_").expect("conversion");
    let dst = match (dst, from) {
        ("dst32", "int32" | "int8" | "uint8") => DstFormat::Int32,
        ("dst32", _) => DstFormat::Fp32,
        (_, "uint16") => DstFormat::UInt16,
        (_, "fp16" | "bfp8a") => DstFormat::Fp16,
        _ => DstFormat::Bf16,
    };
    PackConfig {
        dst,
        intermediate: intermediate(from),
        output: format(output),
        relu: Relu::None,
        l1_accumulate: false,
        edge: EdgeMask::None,
    }
}

/// A row-major tile of natural patterns as the engine's `Dst`.
fn registers(dst: DstFormat, words: &[u32]) -> [u32; 1024] {
    let placed: Vec<u32> = words
        .iter()
        .map(|&x| match dst {
            DstFormat::Bf16 => x << 16,
            DstFormat::Fp16 => (x >> 15) << 31 | (x & 0x7fff) << 13,
            DstFormat::Fp32 | DstFormat::Int32 | DstFormat::UInt16 => x,
        })
        .collect();
    let mut tile = [0; 1024];
    TileShape::FULL.tilize(&placed, &mut tile);
    tile
}

/// The conversions of a file: array names up to the last two underscores.
fn conversions(archive: &Archive) -> Vec<String> {
    let names = archive.names();
    names.iter().filter_map(|name| name.strip_suffix("__dst")).map(str::to_owned).collect()
}

#[test]
fn packed_tiles_are_equal() {
    let Some(mut archive) = golden::open("fpu/pack") else { return };
    let names = conversions(&archive);
    assert_eq!(names.len(), 25);
    for name in names {
        check_packed(&mut archive, &name, &config(&name));
    }
}

#[test]
fn packed_tiles_of_blackhole_are_equal() {
    let Some(mut archive) = golden::open("blackhole/fpu/pack_fp8") else { return };
    let names = conversions(&archive);
    assert_eq!(names.len(), 3);
    for name in names {
        let (from, output) = name.split_once("_to_").expect("conversion");
        let dst = if from.starts_with("dst32") { DstFormat::Fp32 } else { DstFormat::Bf16 };
        // As a generation selects it; of bfloat16 the name has the format before the step to FP16.
        check_packed(&mut archive, &name, &PackConfig::of::<Blackhole>(dst, format(output), false));
    }
}

fn check_packed(archive: &mut Archive, name: &str, config: &PackConfig) {
    let (dst, l1) = (archive.read(&format!("{name}__dst")), archive.read(&format!("{name}__l1")));
    for &level in Level::supported() {
        let packer = Packer::new(config, level).expect("a conversion of the packer");
        for i in 0..dst.len() {
            let mut got = vec![0; packer.tile_bytes()];
            packer.pack(&registers(config.dst, dst.at(i)), &mut got);
            assert!(got == l1.bytes_at(i), "{name} tile {i} at {level}");
        }
    }
}

#[test]
fn packed_tiles_with_relu_are_equal() {
    let Some(mut archive) = golden::open("fpu/pack_relu") else { return };
    let names = conversions(&archive);
    assert_eq!(names.len(), 7);
    for name in names {
        let plain = config(&name);
        let [dst, l1, mode, threshold] =
            ["dst", "l1", "mode", "threshold"].map(|part| archive.read(&format!("{name}__{part}")));
        for &level in Level::supported() {
            for i in 0..dst.len() {
                let threshold = threshold.data[i] as u16;
                let relu = match mode.data[i] {
                    0 => Relu::None,
                    1 => Relu::Zero,
                    2 => Relu::MinThreshold(threshold),
                    _ => Relu::MaxThreshold(threshold),
                };
                let packer = Packer::new(&PackConfig { relu, ..plain }, level).expect("a conversion of the packer");
                let mut got = vec![0; packer.tile_bytes()];
                packer.pack(&registers(plain.dst, dst.at(i)), &mut got);
                assert!(got == l1.bytes_at(i), "{name} {relu:?} tile {i} at {level}");
            }
        }
    }
}

#[test]
fn accumulated_tiles_are_equal() {
    let Some(mut archive) = golden::open("fpu/pack_l1acc") else { return };
    let names = conversions(&archive);
    assert_eq!(names.len(), 6);
    for name in names {
        let config = PackConfig { l1_accumulate: true, ..config(&name) };
        let [dst, before, after] =
            ["dst", "l1_before", "l1_after"].map(|part| archive.read(&format!("{name}__{part}")));
        for &level in Level::supported() {
            let packer = Packer::new(&config, level).expect("a conversion of the packer");
            for i in 0..dst.len() {
                let mut l1 = before.bytes_at(i);
                packer.pack(&registers(config.dst, dst.at(i)), &mut l1);
                assert!(l1 == after.bytes_at(i), "{name} tile {i} at {level}");
            }
        }
    }
}

#[test]
fn unpacked_tiles_are_equal() {
    check_unpacked::<Wormhole>("fpu/unpack", 14);
}

#[test]
fn unpacked_tiles_of_blackhole_are_equal() {
    check_unpacked::<Blackhole>("blackhole/fpu/unpack", 1);
    check_unpacked::<Blackhole>("blackhole/fpu/unpack_fp8", 1);
}

fn check_unpacked<G: Unpacks>(file: &str, conversions: usize) {
    let Some(mut archive) = golden::open(file) else { return };
    let names: Vec<String> =
        archive.names().iter().filter_map(|name| name.strip_suffix("__l1")).map(str::to_owned).collect();
    assert_eq!(names.len(), conversions);
    for name in names {
        let (from, to) = name.split_once("_to_").expect("conversion");
        let format = format(from);
        let to_src = to.strip_prefix("src");
        let register = to_src
            .and_then(|to| to.strip_prefix('_'))
            .map_or_else(|| unpack::register_format(format, false), intermediate);
        let l1 = archive.read(&format!("{name}__l1"));
        let expected = archive.read(&format!("{name}__{}", if to_src.is_some() { "src19" } else { "dst" }));
        for &level in Level::supported() {
            let unpacker = if to_src.is_some() {
                Unpacker::to_src::<G>(format, register, level)
            } else {
                Unpacker::to_dst::<G>(format, level)
            };
            let unpacker = unpacker.expect("a conversion of the unpacker");
            for i in 0..l1.len() {
                let (mut tile, mut rows) = ([0; 1024], [0; 1024]);
                unpacker.unpack(&l1.bytes_at(i), &mut tile);
                TileShape::FULL.untilize(&tile, &mut rows);
                assert!(rows == expected.at(i), "{name} tile {i} at {level}");
            }
        }
    }
}
