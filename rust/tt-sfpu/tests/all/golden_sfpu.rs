//! The SFPU against golden vectors.
//!
//! Multiply-add, conversions, and every function that has a table, of both chip generations. The folder of Blackhole has
//! the functions whose bits differ from Wormhole's; of the others Wormhole's tables hold.

use tt_cpu::Level;
use tt_formats::{Arch, Blackhole};
use tt_sfpu::DstWidth;
use tt_sfpu::convert::{self, Mode, Round};
use tt_sfpu::lane::{self, ONE, Word};
use tt_testkit::golden::{self, Archive};

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

/// The folder of a generation, and the generation.
const FOLDERS: [(&str, Arch); 2] = [("", Arch::Wormhole), ("blackhole/", Arch::Blackhole)];

#[test]
fn multiply_add() {
    for (folder, _) in FOLDERS {
        multiply_add_of(folder);
    }
}

fn multiply_add_of(folder: &str) {
    let Some(mut vectors) = golden::open(&format!("{folder}fpu/sfpu_fma")) else { return };
    let [x, y, z] = ["x", "y", "z"].map(|name| vectors.read(name).data);
    for (name, arch) in [("wormhole", Arch::Wormhole), ("blackhole", Arch::Blackhole)] {
        let got: Vec<u32> = (0..x.len()).map(|i| tt_sfpu::fma(x[i], y[i], z[i], arch)).collect();
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
        check(&format!("store_{name}__lreg"), &format!("store_{name}__dst"), &|word| {
            convert::store(Arch::Wormhole, mode, word)
        });
        check(&format!("load_{name}__dst"), &format!("load_{name}__lreg"), &|word| {
            convert::load(Arch::Wormhole, mode, word)
        });
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

#[test]
fn conversions_of_blackhole() {
    let Some(mut vectors) = golden::open("blackhole/fpu/sfpu_convert") else { return };
    let (mode, arch) = (Mode::Int32TwosComplement, Arch::Blackhole);
    let input = vectors.read("store_int32_2c__lreg").data;
    let got: Vec<u32> = input.iter().map(|&word| convert::store(arch, mode, word)).collect();
    assert_same("store", &input, &got, &vectors.read("store_int32_2c__dst").data);
    let input = vectors.read("load_int32_2c__dst").data;
    let got: Vec<u32> = input.iter().map(|&word| convert::load(arch, mode, word)).collect();
    assert_same("load", &input, &got, &vectors.read("load_int32_2c__lreg").data);
}

#[test]
fn primitives_of_blackhole() {
    type W = Word<Blackhole>;
    let Some(mut vectors) = golden::open("blackhole/fpu/sfpu_primitives") else { return };
    let mut check = |operands: [&str; 2], result: &str, function: &dyn Fn(W, W) -> W| {
        let [a, b] = operands.map(|name| vectors.read(name).data);
        let pairs = a.iter().zip(&b);
        let got: Vec<u32> = pairs.map(|(&a, &b)| function(W::from(a), W::from(b)).bits).collect();
        assert_same(result, &a, &got, &vectors.read(result).data);
    };
    let truth = |mask: bool| W::from(u32::from(mask));
    check(["cast_int32_to_sm32__in"; 2], "cast_int32_to_sm32__out", &|a, _| lane::twos_to_sm(a));
    check(["arecip__in"; 2], "arecip__out", &|a, _| lane::arecip(a));
    check(["mul24__a", "mul24__b"], "mul24__lower", &|a, b| lane::mul24lo(a, b));
    check(["mul24__a", "mul24__b"], "mul24__upper", &|a, b| lane::mul24hi(a, b));
    check(["compare__a", "compare__b"], "compare__gt", &|a, b| truth(lane::greater(a, b)));
    check(["compare__a", "compare__b"], "compare__gt", &|a, b| lane::and(lane::gtmask(a, b), 1));
    check(["compare__a", "compare__b"], "compare__le", &|a, b| truth(!lane::greater(a, b)));
    check(["compare__a", "compare__b"], "compare__le", &|a, b| truth(!lane::less(b, a)));
    check(["ashift__in", "ashift__by"], "ashift__out", &|a, by| lane::ashift(a, by));
}

/// Inputs of a `fp32_on_rand` table of `n` entries.
fn random_inputs(random: &[u32], n: usize) -> Vec<u32> {
    if n == random.len() {
        return random.to_vec();
    }
    [&random[..n / 2], &random[32768..32768 + n / 2]].concat()
}

/// Variants of the tables that spell parameters: function (* is any), variant, the engine's variant, parameters.
const FLOATS: &[(&str, &str, &str, &[f32])] = &[
    ("relu_max", "upper6", "default", &[6.0]),
    ("relu_max", "upper1", "default", &[1.0]),
    ("relu_min", "lower0p5", "default", &[0.5]),
    ("relu_min", "lower_m1", "default", &[-1.0]),
    ("prelu", "w0p25", "default", &[0.25]),
    ("prelu", "w0p1", "default", &[0.1]),
    ("round", "decimals0", "integer", &[]),
    ("round", "decimals1", "decimals", &[10.0, 0.1]),
    ("round", "decimals2", "decimals", &[100.0, 0.01]),
    ("round", "decimalsm1", "decimals", &[0.1, 10.0]),
    ("elu", "alpha1", "default", &[1.0]),
    ("elu", "alpha0p5", "default", &[0.5]),
    ("celu", "alpha1", "default", &[1.0, 1.0]),
    ("celu", "alpha0p5", "default", &[0.5, 2.0]),
    ("softshrink", "lambda0p5", "default", &[0.5]),
    ("hardtanh", "m1_1", "default", &[-1.0, 1.0]),
    ("hardtanh", "m2p5_0p7", "default", &[-2.5, 0.7]),
    ("clamp", "m1_1", "default", &[-1.0, 1.0]),
    ("clamp", "m0p3_2p7", "default", &[-0.3, 2.7]),
    ("power", "exp0p5", "default", &[0.5]),
    ("power", "exp2p0", "default", &[2.0]),
    ("power", "exp3p0", "default", &[3.0]),
    ("power", "expm1p0", "default", &[-1.0]),
    ("power", "expm0p5", "default", &[-0.5]),
    ("power", "exp1p7", "default", &[1.7]),
    ("remainder", "d3", "default", &[3.0, 1.0 / 3.0]),
    ("*", "v0p5", "default", &[0.5]),
    ("*", "vm1p3", "default", &[-1.3]),
    ("*", "s1p5", "default", &[1.5]),
    ("*", "s0p1", "default", &[0.1]),
    ("rdiv", "v2", "default", &[2.0]),
    ("rdiv", "v1p5", "default", &[1.5]),
    ("rdiv", "v1p5_trunc", "trunc", &[1.5]),
    ("rdiv", "v1p5_floor", "floor", &[1.5]),
    ("rpow", "base2", "default", &[2.0]),
    ("rpow", "base0p7", "default", &[0.7]),
    ("xielu", "ap0p8_an0p8", "default", &[0.8, 0.8]),
    ("softplus", "beta1_thr20", "default", &[1.0, 1.0, 20.0]),
    ("softplus", "beta2_thr20", "default", &[2.0, 0.5, 20.0]),
    ("fmod", "d3", "default", &[3.0, 1.0 / 3.0]),
    ("softcap", "beta30", "default", &[30.0, 1.0 / 30.0]),
    ("isclose", "rtol1em5_atol1em8", "default", &[1e-5, 1e-8]),
];

/// The same where the parameters are no floats of few digits.
const WORDS: &[(&str, &str, &str, &[u32])] = &[
    ("selu", "ttnn_default", "default", &[0x3f86_7d56, 0x3fe1_093b]),
    ("selu", "torch_constants", "default", &[0x3f86_7d5f, 0x3fe1_0966]),
    ("remainder", "dm0p7", "default", &[0xbf33_3333, 0xbfb6_db6e]),
    ("fmod", "d0p7", "default", &[0x3f33_3333, 0x3fb6_db6e]),
    ("power_iterative", "n2", "default", &[2]),
    ("power_iterative", "n3", "default", &[3]),
    ("power_iterative", "n4", "default", &[4]),
    ("power_iterative", "n5", "default", &[5]),
    ("polygamma", "n1", "default", &[1, ONE]),
    ("polygamma", "n2", "default", &[2, 0xc000_0000]),
    ("*", "int32_0x0f0f1234", "int32", &[0x0f0f_1234]),
    ("right_shift", "int32_by1", "int32", &[1]),
    ("right_shift", "int32_by5", "int32", &[5]),
    ("right_shift", "int32_by31", "int32", &[31]),
    ("right_shift", "int32_by32", "int32", &[32]),
    ("clamp_int32", "m100_5000", "int32", &[-100_i32 as u32, 5000]),
    ("*", "v7", "int32", &[7]),
];

/// The engine's variant and parameters for a variant of the tables.
fn variant_of<'a>(name: &str, variant: &'a str) -> (&'a str, Vec<u32>) {
    let fits = |of: &str, spelled: &str| spelled == variant && (of == name || of == "*");
    let floats = FLOATS.iter().find(|row| fits(row.0, row.1));
    let words = WORDS.iter().find(|row| fits(row.0, row.1));
    match (floats, words) {
        (Some(row), _) => (row.2, row.3.iter().map(|value| value.to_bits()).collect()),
        (_, Some(row)) => (row.2, row.3.to_vec()),
        _ => (variant, vec![]),
    }
}

/// The shared inputs of a table: one array per operand, in `Dst` positions.
fn operands(inputs: &mut Archive, name: &str, suffix: &str, length: usize, count: usize) -> Vec<Vec<u32>> {
    let upper = |words: Vec<u32>| words.iter().map(|word| word << 16).collect::<Vec<u32>>();
    let first = |mut words: Vec<u32>| {
        words.truncate(length);
        words
    };
    let integers = |inputs: &mut Archive, names: &[&str]| {
        names.iter().map(|name| first(inputs.read(name).data)).collect::<Vec<_>>()
    };
    let of_integers = length == 16384 || name.starts_with("div_int32");
    match (suffix, count) {
        ("bf16" | "fp32_on_bf16", 1) => vec![upper((0..=0xffff).collect())],
        ("fp32_on_rand", _) => vec![random_inputs(&inputs.read("rand_fp32").data, length)],
        ("fp32", 1) if name == "typecast_from_bf16" => vec![upper((0..=0xffff).collect())],
        ("fp32", 1) => integers(inputs, &["int_a"]),
        ("fp32", 2) if name == "lcm" => integers(inputs, &["int_small_a", "int_small_b"]),
        ("fp32", 2) if name.contains("_shift") => integers(inputs, &["int_a", "int_shift"]),
        ("fp32", 2) if of_integers => integers(inputs, &["int_a", "int_b"]),
        _ => {
            let wide = suffix == "fp32";
            let read = |operand| first(inputs.read(&format!("pair_{operand}_{suffix}")).data);
            let words = ["a", "b", "c"][..count].iter().map(read);
            words.map(|words| if wide { words } else { upper(words) }).collect()
        }
    }
}

/// Runs `program` at every level on the operands of a table. `None` if the engine has no such function.
fn run_table(
    arch: Arch,
    name: &str,
    variant: &str,
    suffix: &str,
    inputs: &mut Archive,
    length: usize,
) -> Option<Vec<Vec<u32>>> {
    let width = if suffix == "bf16" { DstWidth::Bits16 } else { DstWidth::Bits32 };
    let (variant, parameters) = variant_of(name, variant);
    let mut results = Vec::new();
    if let Some(function) = tt_sfpu::lookup(arch, name, variant) {
        let call = function.with(&parameters).unwrap_or_else(|error| panic!("{function:?}: {error}"));
        let input = operands(inputs, name, suffix, length, 1).remove(0);
        for &level in Level::supported() {
            let mut dst = input.clone();
            call.run_program(&mut dst, width, level);
            results.push(dst);
        }
        let mut dst = input;
        call.run(&mut dst, width, Level::current());
        results.push(dst);
    } else if let Some(function) = tt_sfpu::lookup_binary(arch, name, variant) {
        let call = function.with(&parameters).unwrap_or_else(|error| panic!("{function:?}: {error}"));
        let [first, second] = operands(inputs, name, suffix, length, 2).try_into().expect("two operands");
        for &level in Level::supported() {
            let mut dst = first.clone();
            call.run(&mut dst, &second, width, level);
            results.push(dst);
        }
    } else if let Some(function) = tt_sfpu::lookup_ternary(arch, name, variant) {
        let call = function.with(&parameters).unwrap_or_else(|error| panic!("{function:?}: {error}"));
        let [first, second, third] = operands(inputs, name, suffix, length, 3).try_into().expect("three operands");
        for &level in Level::supported() {
            let mut dst = first.clone();
            call.run(&mut dst, &second, &third, width, level);
            results.push(dst);
        }
    } else {
        return None;
    }
    Some(results)
}

/// What a folder's tables came to.
#[derive(Default)]
struct Outcome {
    equal: usize,
    values: usize,
    different: Vec<String>,
    missing: Vec<String>,
}

/// Every array of a file, at every CPU level.
fn compare(folder: &str, arch: Arch, name: &str, inputs: &mut Archive, outcome: &mut Outcome) {
    let Some(mut vectors) = golden::open(&format!("{folder}sfpu/{name}")) else { return };
    for array in vectors.names() {
        let (variant, suffix) = array.rsplit_once("__").expect("names are variant__mode");
        let expected = vectors.read(&array).data;
        outcome.values += expected.len();
        let Some(results) = run_table(arch, name, variant, suffix, inputs, expected.len()) else {
            outcome.missing.push(format!("{name}/{array}"));
            continue;
        };
        // Narrow tables hold the upper halves, or integers.
        let shift = if suffix == "bf16" && !name.starts_with("typecast") { 16 } else { 0 };
        let wrong = |got: &Vec<u32>| {
            let first = (0..expected.len()).find(|&i| got[i] != expected[i] << shift)?;
            let count = (0..expected.len()).filter(|&i| got[i] != expected[i] << shift).count();
            Some(format!(
                "{name}/{array}: {count}, first {first}: {:08x}, not {:08x}",
                got[first],
                expected[first] << shift
            ))
        };
        match results.iter().find_map(wrong) {
            None => outcome.equal += 1,
            Some(text) => outcome.different.push(text),
        }
    }
}

#[allow(clippy::print_stderr, reason = "the counts are the result")]
fn assert_all_equal(outcome: &Outcome) {
    let Outcome { equal, values, different, missing } = outcome;
    eprintln!("{equal} arrays of {values} values equal, {} different, {} not covered", different.len(), missing.len());
    assert!(
        different.is_empty() && missing.is_empty(),
        "different:\n{}\nnot covered:\n{}",
        different.join("\n"),
        missing.join("\n")
    );
}

fn every_table_of(folder: &str, arch: Arch) {
    let Some(mut inputs) = golden::open(&format!("{folder}sfpu/_inputs")) else { return };
    let mut outcome = Outcome::default();
    for name in golden::names(&format!("{folder}sfpu")) {
        if !name.starts_with('_') {
            compare(folder, arch, &name, &mut inputs, &mut outcome);
        }
    }
    assert_all_equal(&outcome);
}

#[test]
fn every_table_at_every_level() {
    every_table_of("", Arch::Wormhole);
}

#[test]
fn every_table_of_blackhole_at_every_level() {
    every_table_of("blackhole/", Arch::Blackhole);
}

/// Functions with the same bits on both generations for everything that is tabulated.
const SHARED: &str = "\
    relu relu_max relu_min abs neg sign signbit floor ceil trunc hardshrink hardtanh threshold isinf isposinf \
    isneginf isnan isfinite gtz nez gez ltz eqz lez unary_ne unary_eq unary_gt unary_ge unary_lt unary_le heaviside \
    logical_not clamp unary_max unary_min identity eq_binary ne_binary lt_binary gt_binary le_binary ge_binary \
    binary_max binary_min nextafter isclose where typecast_from_bf16 typecast_from_uint16 bitwise_and \
    bitwise_and_binary bitwise_or bitwise_or_binary bitwise_xor bitwise_xor_binary bitwise_not left_shift \
    right_shift binary_left_shift binary_right_shift binary_logical_right_shift add_int sub_int mul_int \
    remainder_int32 fmod_int32 binary_max_int32 binary_min_int32 gcd lcm eq_int ne_int lt_int gt_int le_int ge_int \
    abs_int32 neg_int32 relu_int32 clamp_int32 gtz_int32 lez_int32 unary_ne_int32 unary_eq_int32 unary_gt_int32 \
    unary_ge_int32 unary_lt_int32 unary_le_int32 typecast_from_fp32 typecast_from_int32 typecast_from_uint32";

#[test]
fn wormholes_tables_hold_on_blackhole() {
    let Some(mut inputs) = golden::open("sfpu/_inputs") else { return };
    let mut outcome = Outcome::default();
    let names: Vec<&str> = SHARED.split(' ').collect();
    assert_eq!(names.len(), 91);
    for name in golden::names("sfpu").iter().filter(|name| names.contains(&name.as_str())) {
        compare("", Arch::Blackhole, name, &mut inputs, &mut outcome);
    }
    assert_all_equal(&outcome);
}
