//! SFPU steps on word arrays, for golden checker and tests.
#![allow(clippy::needless_pass_by_value, reason = "Python hands arrays over as owned views")]
use numpy::{PyArray1, PyArrayMethods, PyUntypedArrayMethods};
use pyo3::prelude::*;
use tt_cpu::Level;
use tt_formats::by_generation;
use tt_fpu::Arch;
use tt_sfpu::DstWidth;
use tt_sfpu::convert::{self, Mode, Round};
use tt_sfpu::lane::{self, Lane, Word};

use crate::arguments::{Given, add_functions};
use crate::error::enter_engine;
use crate::tiles::{NewWords, Words, bad};

/// Applies a function to every word of an array.
fn map_words<'py>(py: Python<'py>, words: &Words<'_>, function: impl Fn(u32) -> u32 + Send + Sync) -> NewWords<'py> {
    let shape = words.shape().to_vec();
    let words = words.as_slice()?;
    let results =
        enter_engine(py, || -> PyResult<Vec<u32>> { Ok(words.iter().map(|&word| function(word)).collect()) })?;
    PyArray1::from_vec(py, results).reshape(shape)
}

/// `x * y + z` of the SFPU.
#[pyfunction]
fn sfpu_fma<'py>(py: Python<'py>, x: Words<'py>, y: Words<'py>, z: Words<'py>, arch: Given<Arch>) -> NewWords<'py> {
    let shape = x.shape().to_vec();
    let (x, y, z) = (x.as_slice()?, y.as_slice()?, z.as_slice()?);
    if x.len() != y.len() || x.len() != z.len() {
        return Err(bad(format!("operands of {}, {} and {} words", x.len(), y.len(), z.len())));
    }
    let results = enter_engine(py, || -> PyResult<Vec<u32>> {
        Ok((0..x.len()).map(|i| tt_sfpu::fma(x[i], y[i], z[i], arch.0)).collect())
    })?;
    PyArray1::from_vec(py, results).reshape(shape)
}

fn lane_mode(name: &str) -> PyResult<Mode> {
    Ok(match name {
        "fp16" => Mode::Fp16,
        "bf16" => Mode::Bf16,
        "fp32" => Mode::Fp32,
        "int32" => Mode::Int32,
        "uint16" => Mode::UInt16,
        "int32_2c" => Mode::Int32TwosComplement,
        _ => return Err(bad(format!("no load or store mode {name:?}"))),
    })
}

/// `SFPLOAD` of natural Dst words.
#[pyfunction]
#[pyo3(signature = (mode, words, arch=Given(Arch::Wormhole)))]
fn sfpu_load<'py>(py: Python<'py>, mode: &str, words: Words<'py>, arch: Given<Arch>) -> NewWords<'py> {
    let mode = lane_mode(mode)?;
    map_words(py, &words, move |word| convert::load(arch.0, mode, word))
}

/// `SFPSTORE` to natural Dst words.
#[pyfunction]
#[pyo3(signature = (mode, words, arch=Given(Arch::Wormhole)))]
fn sfpu_store<'py>(py: Python<'py>, mode: &str, words: Words<'py>, arch: Given<Arch>) -> NewWords<'py> {
    let mode = lane_mode(mode)?;
    map_words(py, &words, move |word| convert::store(arch.0, mode, word))
}

/// The results of an operation that not every chip has, on words: one array or two.
fn primitive<V: Lane>(name: &str, operands: &[&[u32]], word: impl Fn(V) -> u32) -> Option<Vec<Vec<u32>>> {
    let truth = |mask: V::Mask| lane::select(mask, V::from(1), V::from(0));
    let one = |function: &dyn Fn(V) -> V| operands[0].iter().map(|&a| word(function(a.into()))).collect();
    let two = |function: &dyn Fn(V, V) -> V| {
        operands[0].iter().zip(operands[1]).map(|(&a, &b)| word(function(a.into(), b.into()))).collect()
    };
    Some(match (name, operands.len()) {
        ("cast_int32_to_sm32", 1) => vec![one(&lane::twos_to_sm)],
        ("arecip", 1) => vec![one(&lane::arecip)],
        ("mul24", 2) => vec![two(&|a, b| lane::mul24lo(a, b)), two(&|a, b| lane::mul24hi(a, b))],
        ("compare", 2) => {
            vec![two(&|a, b| truth(lane::greater(a, b))), two(&|a, b| truth(!lane::greater(a, b)))]
        }
        ("ashift", 2) => vec![two(&|a, by| lane::ashift(a, by))],
        _ => return None,
    })
}

/// The results of an operation of a chip's vector unit, on words: one array or two.
#[pyfunction]
fn sfpu_primitive<'py>(
    py: Python<'py>,
    name: &str,
    operands: Vec<Words<'py>>,
    arch: Given<Arch>,
) -> PyResult<Vec<Bound<'py, PyArray1<u32>>>> {
    let operands = operands.iter().map(|words| words.as_slice()).collect::<Result<Vec<_>, _>>()?;
    same_length(&operands.iter().map(|words| words.len()).collect::<Vec<_>>())?;
    let results = enter_engine(py, || -> PyResult<_> {
        Ok(by_generation!(arch.0, G => primitive::<Word<G>>(name, &operands, |word| word.bits)))
    })?;
    let results = results.ok_or_else(|| bad(format!("no operation {name:?} of {} words", operands.len())))?;
    Ok(results.into_iter().map(|words| PyArray1::from_vec(py, words)).collect())
}

/// The rounding instruction to nearest.
#[pyfunction]
fn sfpu_round<'py>(py: Python<'py>, mode: &str, words: Words<'py>) -> NewWords<'py> {
    let mode = match mode {
        "fp32_to_bf16" => Round::Bf16,
        "fp32_to_uint8" => Round::UInt8,
        "fp32_to_int8" => Round::Int8,
        "fp32_to_uint16" => Round::UInt16,
        "fp32_to_int16" => Round::Int16,
        _ => return Err(bad(format!("no rounding mode {mode:?}"))),
    };
    map_words(py, &words, |word| convert::round(mode, word))
}

/// The cast instruction.
#[pyfunction]
fn sfpu_cast<'py>(py: Python<'py>, mode: &str, words: Words<'py>) -> NewWords<'py> {
    if mode != "int32_to_fp32" {
        return Err(bad(format!("no cast {mode:?}")));
    }
    map_words(py, &words, convert::cast_to_fp32)
}

fn width(dst32: bool) -> DstWidth {
    if dst32 { DstWidth::Bits32 } else { DstWidth::Bits16 }
}

/// A function of one operand on Dst words; in a 16-bit Dst they lie in the upper half.
#[pyfunction(name = "sfpu", signature = (name, variant, values, dst32, parameters=vec![], arch=Given(Arch::Wormhole)))]
fn sfpu_unary<'py>(
    py: Python<'py>,
    name: &str,
    variant: &str,
    values: Words<'py>,
    dst32: bool,
    parameters: Vec<u32>,
    arch: Given<Arch>,
) -> NewWords<'py> {
    let function = tt_sfpu::lookup(arch.0, name, variant);
    let function = function.ok_or_else(|| bad(format!("no function {name}/{variant}")))?;
    let call = function.with(&parameters).map_err(|error| bad(format!("{name}/{variant}: {error}")))?;
    map_dst(py, &values, move |dst| call.run(dst, width(dst32), Level::current()))
}

/// A function of two operands on Dst words, as [`sfpu_unary`].
#[pyfunction]
#[pyo3(signature = (name, a, b, dst32, variant="default", parameters=vec![], arch=Given(Arch::Wormhole)))]
#[allow(clippy::too_many_arguments, reason = "keyword arguments of Python")]
fn sfpu_binary<'py>(
    py: Python<'py>,
    name: &str,
    a: Words<'py>,
    b: Words<'py>,
    dst32: bool,
    variant: &str,
    parameters: Vec<u32>,
    arch: Given<Arch>,
) -> NewWords<'py> {
    let function = tt_sfpu::lookup_binary(arch.0, name, variant);
    let function = function.ok_or_else(|| bad(format!("no function {name}/{variant}")))?;
    let call = function.with(&parameters).map_err(|error| bad(format!("{name}/{variant}: {error}")))?;
    let second = b.as_slice()?;
    same_length(&[a.len(), second.len()])?;
    map_dst(py, &a, move |dst| call.run(dst, second, width(dst32), Level::current()))
}

/// A function of three operands on Dst words, as [`sfpu_unary`].
#[pyfunction]
#[pyo3(signature = (name, operands, dst32, variant="default", parameters=vec![], arch=Given(Arch::Wormhole)))]
fn sfpu_ternary<'py>(
    py: Python<'py>,
    name: &str,
    operands: (Words<'py>, Words<'py>, Words<'py>),
    dst32: bool,
    variant: &str,
    parameters: Vec<u32>,
    arch: Given<Arch>,
) -> NewWords<'py> {
    let function = tt_sfpu::lookup_ternary(arch.0, name, variant);
    let function = function.ok_or_else(|| bad(format!("no function {name}/{variant}")))?;
    let call = function.with(&parameters).map_err(|error| bad(format!("{name}/{variant}: {error}")))?;
    let (a, second, third) = (operands.0, operands.1.as_slice()?, operands.2.as_slice()?);
    same_length(&[a.len(), second.len(), third.len()])?;
    map_dst(py, &a, move |dst| call.run(dst, second, third, width(dst32), Level::current()))
}

fn same_length(lengths: &[usize]) -> PyResult<()> {
    if lengths.iter().any(|length| *length != lengths[0]) {
        return Err(bad(format!("operands of {lengths:?} words")));
    }
    Ok(())
}

/// A copy of `words` changed by `change`, off the interpreter.
fn map_dst<'py>(py: Python<'py>, words: &Words<'py>, change: impl FnOnce(&mut [u32]) + Send) -> NewWords<'py> {
    let shape = words.shape().to_vec();
    let mut dst = words.as_slice()?.to_vec();
    let dst = enter_engine(py, move || -> PyResult<Vec<u32>> {
        change(&mut dst);
        Ok(dst)
    })?;
    PyArray1::from_vec(py, dst).reshape(shape)
}

/// Names and variants of the functions of one operand that some chip has.
#[pyfunction]
fn sfpu_variants() -> Vec<(&'static str, &'static str)> {
    let all = [Arch::Wormhole, Arch::Blackhole].into_iter().flat_map(tt_sfpu::functions);
    let mut found: Vec<_> = all.map(|function| (function.name, function.variant)).collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Every function of the SFPU: operands, name, variant, names of its parameters.
#[pyfunction]
#[pyo3(signature = (arch=Given(Arch::Wormhole)))]
fn sfpu_functions(arch: Given<Arch>) -> Vec<(usize, &'static str, &'static str, Vec<&'static str>)> {
    let unary = tt_sfpu::functions(arch.0).map(|f| (1, f.name, f.variant, f.parameters.to_vec()));
    let binary = tt_sfpu::binary_functions(arch.0).map(|f| (2, f.name, f.variant, f.parameters.to_vec()));
    let ternary = tt_sfpu::ternary_functions(arch.0).map(|f| (3, f.name, f.variant, f.parameters.to_vec()));
    unary.chain(binary).chain(ternary).collect()
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    add_functions!(module: sfpu_fma, sfpu_primitive, sfpu_load, sfpu_store, sfpu_round, sfpu_cast, sfpu_unary, sfpu_variants, sfpu_binary, sfpu_ternary, sfpu_functions)
}
