//! Tile operations of the FPU against golden vectors.

use crate::common::{assert_same, config, config_on, format, formats, row_major, tiles, unpack};
use tt_cpu::Level;
use tt_formats::DataFormat;
use tt_fpu::{Accumulator, Broadcast, EltwiseOp, MathFidelity, PoolOp, PreparedA, PreparedB, ReduceDim};
use tt_tensix::pack::{self, PackConfig};
use tt_tensix::regs::Arch;
use tt_testkit::golden;

fn widths(name: &str) -> &'static [bool] {
    if name == "int8" { &[true] } else { &[false, true] }
}

fn suffix(dst32: bool) -> &'static str {
    if dst32 { "dst32" } else { "dst16" }
}

#[test]
fn matmul_at_every_level() {
    let names =
        ["bf16", "fp16", "fp32", "bfp8_b", "bfp4_b", "bf16_x_bfp8_b", "bf16_x_bfp4_b", "bfp8_b_x_bfp4_b", "int8"];
    check_matmul("fpu", &names, Arch::Wormhole);
}

#[test]
fn matmul_of_blackhole_at_every_level() {
    let names = ["bf16", "fp16", "fp32", "bfp8_b", "bfp4_b", "bf16_x_bfp8_b", "bfp8_b_x_bfp4_b"];
    check_matmul("blackhole/fpu", &names, Arch::Blackhole);
}

fn check_matmul(folder: &str, names: &[&str], arch: Arch) {
    let (mut in0_tile, mut in1_tile) = (PreparedB::new(), PreparedA::new());
    for &name in names {
        let Some(mut vectors) = golden::open(&format!("{folder}/matmul_{name}")) else { return };
        let (left, right) = formats(name);
        for k in ["k1", "k8"] {
            let [in0, in1] = ["in0", "in1"].map(|array| vectors.read(&format!("{k}_{array}")));
            for &dst32 in widths(name) {
                let expected = vectors.read(&format!("{k}_{}", suffix(dst32)));
                for case in 0..in0.len() {
                    let (a, b) = (tiles(&in0, case, left, dst32), tiles(&in1, case, right, dst32));
                    for (f, fidelity) in MathFidelity::ALL.into_iter().enumerate() {
                        let cfg = config_on(arch, right, dst32, fidelity);
                        let expected = &expected.at(case)[f * 1024..(f + 1) * 1024];
                        let mut dst = [0; 1024];
                        for (a, b) in a.iter().zip(&b) {
                            tt_fpu::matmul_tile_scalar(&cfg, &mut dst, a, b);
                        }
                        let what = format!("{folder} {name} {k} {} case {case} {fidelity:?}", suffix(dst32));
                        assert_same(&what, &row_major(cfg.dst, &dst), expected);
                        for &level in Level::supported() {
                            let mut dst = Accumulator::new();
                            for (a, b) in a.iter().zip(&b) {
                                in0_tile.prepare(&cfg, a);
                                in1_tile.prepare(&cfg, b);
                                tt_fpu::accumulate_at(level, &cfg, &mut dst, &mut in1_tile, &mut in0_tile);
                            }
                            assert_same(&format!("{what} at {level}"), &row_major(cfg.dst, dst.dst()), expected);
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn matmul_end_to_end() {
    let Some(mut vectors) = golden::open("fpu/matmul_end_to_end") else { return };
    for array in vectors.names().iter().filter(|array| array.contains("__out_")) {
        let (case, width) = array.split_once("__out_").expect("filtered");
        let dst32 = width == "dst32";
        let (names, _) = case.split_once("__k").expect("number of tiles");
        let (operands, output) = names.split_once("_to_").unwrap_or((names, names));
        let ((left, right), output) = (formats(operands), format(output));
        let [in0, in1] = ["in0", "in1"].map(|operand| vectors.read(&format!("{case}__{operand}")));
        let expected = vectors.read(array);
        for (f, fidelity) in MathFidelity::ALL.into_iter().enumerate() {
            let cfg = config(right, dst32, fidelity);
            let mut dst = [0; 1024];
            for k in 0..in0.len() {
                let (a, b) = (unpack(left, dst32, &in0.bytes_at(k)), unpack(right, dst32, &in1.bytes_at(k)));
                tt_fpu::matmul_tile(&cfg, &mut dst, &a, &b);
            }
            let mut l1 = vec![0; expected.at(f).len()];
            pack::pack_tile(&PackConfig::new(cfg.dst, output), &dst, &mut l1);
            assert_eq!(l1, expected.bytes_at(f), "{array} {fidelity:?}");
        }
    }
}

/// The two generations have the same element-wise results.
#[test]
fn eltwise() {
    for arch in [Arch::Wormhole, Arch::Blackhole] {
        check_eltwise(arch);
    }
}

fn check_eltwise(arch: Arch) {
    for name in ["bf16", "fp16", "fp32", "bfp8_b", "bfp4_b", "bf16_x_bfp8_b", "int8"] {
        let Some(mut vectors) = golden::open(&format!("fpu/eltwise_{name}")) else { return };
        let (left, right) = formats(name);
        let [in0, in1] = ["in0", "in1"].map(|array| vectors.read(array));
        for array in vectors.names().iter().filter(|array| array.contains("_dst")) {
            let (operation, width) = array.split_once('_').expect("operation and width");
            let dst32 = width == "dst32";
            let (op, rest) = operation.split_at(3);
            let op = match op {
                "add" => EltwiseOp::Add,
                "sub" => EltwiseOp::Sub,
                _ => EltwiseOp::Mul,
            };
            let broadcast = match rest {
                "col" => Broadcast::Column,
                "row" => Broadcast::Row,
                "scalar" => Broadcast::Scalar,
                _ => Broadcast::None,
            };
            let times = if rest == "acc" { 3 } else { 1 };
            let expected = vectors.read(array);
            let fidelities = expected.data.len() / expected.len() / 1024;
            for case in 0..in0.len() {
                let (a, b) = (&tiles(&in0, case, left, dst32)[0], &tiles(&in1, case, right, dst32)[0]);
                for f in 0..fidelities {
                    let fidelity = MathFidelity::ALL[if fidelities == 1 { 3 } else { f }];
                    let cfg = config_on(arch, left, dst32, fidelity);
                    let expected = &expected.at(case)[f * 1024..(f + 1) * 1024];
                    let what = format!("{arch:?} {name} {array} case {case} {fidelity:?}");
                    let accumulate = rest == "acc";
                    let mut dst = [0; 1024];
                    for _ in 0..times {
                        tt_fpu::eltwise_scalar(&cfg, op, broadcast, accumulate, &mut dst, a, b);
                    }
                    assert_same(&what, &row_major(cfg.dst, &dst), expected);
                    for &level in Level::supported() {
                        dst.fill(0);
                        for _ in 0..times {
                            tt_fpu::eltwise_at(level, &cfg, (op, broadcast), accumulate, &mut dst, a, b);
                        }
                        assert_same(&format!("{what} at {level}"), &row_major(cfg.dst, &dst), expected);
                    }
                }
            }
        }
    }
}

#[test]
fn reduce() {
    for name in ["bf16", "fp16", "fp32", "bfp8_b", "bfp4_b"] {
        let Some(mut vectors) = golden::open(&format!("fpu/reduce_{name}")) else { return };
        let operand = format(name);
        let data = vectors.read("in");
        for array in vectors.names().iter().filter(|array| array.contains("_dst")) {
            let words: Vec<&str> = array.split('_').collect();
            let dst32 = words.last() == Some(&"dst32");
            let (pool, count) = match words[0] {
                "sum" => (PoolOp::Sum, 1),
                "sum2" => (PoolOp::Sum, 2),
                "max" => (PoolOp::Max, 1),
                _ => (PoolOp::Max, 2),
            };
            let (dim, stride, results) = match words[1] {
                "row" => (ReduceDim::Row, 32, 32),
                "col" => (ReduceDim::Column, 1, 32),
                _ => (ReduceDim::Scalar, 1, 1),
            };
            // The scaler tile is BF16, or FP16 for FP16 data.
            let fp16 = operand == DataFormat::Float16;
            let scaler_format = if fp16 { DataFormat::Float16 } else { DataFormat::Float16B };
            let scaler = match (words[2], fp16) {
                ("inv32", false) => 0x3d00 << 3,
                ("arb", false) => 0x3f35 << 3,
                ("inv32", true) => 0x2800,
                ("arb", true) => 0x39a8,
                (_, false) => 0x3f80 << 3,
                (_, true) => 0x3c00,
            };
            let scaler: [u32; 1024] = std::array::from_fn(|i| if i % 256 < 16 { scaler } else { 0 });
            let expected = vectors.read(array);
            let fidelities = expected.data.len() / expected.len() / results;
            for case in 0..data.len() {
                let tiles = tiles(&data, case, operand, dst32);
                for f in 0..fidelities {
                    let fidelity = MathFidelity::ALL[f];
                    let cfg = config(operand, dst32, fidelity);
                    let expected = &expected.at(case)[f * results..(f + 1) * results];
                    for level in [None].into_iter().chain(Level::supported().iter().copied().map(Some)) {
                        let mut dst = [0; 1024];
                        if pool == PoolOp::Max {
                            tt_fpu::clear_for_max(&cfg, &mut dst);
                        }
                        for tile in &tiles[..count] {
                            if let Some(level) = level {
                                tt_fpu::reduce_at(level, &cfg, scaler_format, (pool, dim), &mut dst, tile, &scaler);
                            } else {
                                tt_fpu::reduce_scalar(&cfg, scaler_format, pool, dim, &mut dst, tile, &scaler);
                            }
                        }
                        let all = row_major(cfg.dst, &dst);
                        let got: Vec<u32> = (0..results).map(|i| all[i * stride]).collect();
                        assert_same(&format!("{name} {array} case {case} {fidelity:?} at {level:?}"), &got, expected);
                    }
                }
            }
        }
    }
}

#[test]
fn copies_to_dst() {
    let Some(mut vectors) = golden::open("fpu/datacopy_mova2d") else { return };
    for array in vectors.names().iter().filter(|array| array.ends_with("__l1")) {
        let name = array.strip_suffix("__l1").expect("filtered");
        let (operand, dst32) = match name {
            "fp32_tf32_dst32" => (DataFormat::Float32, true),
            "bf16_dst32" => (DataFormat::Float16B, true),
            other => (format(other), false),
        };
        let l1 = vectors.read(array);
        let expected = vectors.read(&format!("{name}__dst"));
        for case in 0..l1.len() {
            let source = unpack(operand, dst32, &l1.bytes_at(case));
            let cfg = config(operand, dst32, MathFidelity::LoFi);
            let mut dst = [0; 1024];
            tt_fpu::move_a_to_dst(&cfg, &mut dst, &source);
            assert_same(&format!("{name} case {case}"), &row_major(cfg.dst, &dst), expected.at(case));
            if !dst32 {
                let mut copied = [0; 1024];
                tt_fpu::copy_to_dst(&cfg, &mut copied, &source);
                assert_eq!(copied, dst);
            }
        }
    }
}
