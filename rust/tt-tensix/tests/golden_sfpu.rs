//! The vector unit against golden vectors: multiply-add, conversions, and every function that has a table.

use tt_cpu::Level;
use tt_tensix::regs::Arch;
use tt_tensix::sfpu::convert::{self, Mode, Round};
use tt_tensix::sfpu::{self, DstWidth};
use tt_testkit::golden;

/// Panics with the number of differences and the first of them.
fn assert_same(what: &str, inputs: &[u32], got: &[u32], expected: &[u32]) {
    assert_eq!(got.len(), expected.len(), "{what}");
    let different: Vec<usize> = (0..got.len()).filter(|&i| got[i] != expected[i]).collect();
    if let Some(&i) = different.first() {
        panic!(
            "{what}: {} of {} differ; first at {i}: input {:08x}, got {:08x}, expected {:08x}",
            different.len(),
            got.len(),
            inputs[i],
            got[i],
            expected[i]
        );
    }
}

#[test]
fn multiply_add() {
    let Some(mut vectors) = golden::open("fpu/sfpu_fma") else { return };
    let [x, y, z] = ["x", "y", "z"].map(|name| vectors.read(name).data);
    for (name, arch) in [("wormhole", Arch::Wormhole), ("blackhole", Arch::Blackhole)] {
        let got: Vec<u32> = (0..x.len()).map(|i| sfpu::fma(x[i], y[i], z[i], arch)).collect();
        assert_same(name, &x, &got, &vectors.read(name).data);
    }
}

#[test]
fn conversions() {
    let Some(mut vectors) = golden::open("fpu/sfpu_convert") else { return };
    let mut check = |from: &str, to: &str, function: &dyn Fn(u32) -> u32| {
        let input = vectors.read(from).data;
        let got: Vec<u32> = input.iter().map(|&word| function(word)).collect();
        assert_same(to, &input, &got, &vectors.read(to).data);
    };
    for (name, mode) in [
        ("fp16", Mode::Fp16),
        ("bf16", Mode::Bf16),
        ("fp32", Mode::Fp32),
        ("int32", Mode::Int32),
        ("uint16", Mode::UInt16),
        ("int32_2c", Mode::Int32TwosComplement),
    ] {
        check(&format!("store_{name}__lreg"), &format!("store_{name}__dst"), &|word| convert::store(mode, word));
        check(&format!("load_{name}__dst"), &format!("load_{name}__lreg"), &|word| convert::load(mode, word));
    }
    for (name, mode) in [
        ("bf16", Round::Bf16),
        ("uint8", Round::UInt8),
        ("int8", Round::Int8),
        ("uint16", Round::UInt16),
        ("int16", Round::Int16),
    ] {
        let name = format!("round_fp32_to_{name}");
        check(&format!("{name}__in"), &format!("{name}__out"), &|word| convert::round(mode, word));
    }
    check("cast_int32_to_fp32__in", "cast_int32_to_fp32__out", &convert::cast_to_fp32);
}

/// Inputs of a `fp32_on_rand` table of `n` entries.
fn random_inputs(random: &[u32], n: usize) -> Vec<u32> {
    if n == random.len() {
        return random.to_vec();
    }
    [&random[..n / 2], &random[32768..32768 + n / 2]].concat()
}

#[test]
fn unary_functions_at_every_level() {
    let Some(mut inputs) = golden::open("sfpu/_inputs") else { return };
    let random = inputs.read("rand_fp32").data;
    let bf16: Vec<u32> = (0..=0xffff).map(|word: u32| word << 16).collect();
    for function in sfpu::FUNCTIONS.iter().copied().flatten() {
        let Some(mut vectors) = golden::open(&format!("sfpu/{}", function.name)) else { return };
        let mut tables = 0;
        for suffix in ["bf16", "fp32_on_bf16", "fp32_on_rand"] {
            let name = format!("{}__{suffix}", function.variant);
            if !vectors.names().contains(&name) {
                continue;
            }
            tables += 1;
            let expected = vectors.read(&name).data;
            let input = if suffix == "fp32_on_rand" { random_inputs(&random, expected.len()) } else { bf16.clone() };
            let width = if suffix == "bf16" { DstWidth::Bits16 } else { DstWidth::Bits32 };
            let narrow = |words: &[u32]| words.iter().map(|word| word >> 16).collect::<Vec<u32>>();
            for &level in Level::supported() {
                let mut dst = input.clone();
                function.run_program(&mut dst, width, level);
                let got = if width == DstWidth::Bits16 { narrow(&dst) } else { dst.clone() };
                assert_same(&format!("{function:?} {suffix} at {level}"), &input, &got, &expected);
                let mut looked_up = input.clone();
                function.run(&mut looked_up, width, level);
                assert_eq!(looked_up, dst, "{function:?}: the table differs from the program");
            }
        }
        assert!(tables > 0, "no golden table for {function:?}");
    }
}

#[test]
fn binary_functions() {
    let Some(mut inputs) = golden::open("sfpu/_inputs") else { return };
    for function in sfpu::BINARY_FUNCTIONS {
        let Some(mut vectors) = golden::open(&format!("sfpu/{}", function.name)) else { return };
        for (suffix, width, shift) in [("bf16", DstWidth::Bits16, 16), ("fp32", DstWidth::Bits32, 0)] {
            let operand = |words: Vec<u32>| words.iter().map(|word| word << shift).collect::<Vec<u32>>();
            let first = operand(inputs.read(&format!("pair_a_{suffix}")).data);
            let second = operand(inputs.read(&format!("pair_b_{suffix}")).data);
            let expected = operand(vectors.read(&format!("default__{suffix}")).data);
            for &level in Level::supported() {
                let mut dst = first.clone();
                sfpu::binary(*function, &mut dst, &second, width, level);
                assert_same(&format!("{} {suffix} at {level}", function.name), &first, &dst, &expected);
            }
        }
    }
}
