//! Random numbers on device buffers.
//!
//! The keyword arguments of each function are the parameters of its program.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tt_formats::DataFormat;
use tt_fpu::Arch;
use tt_ops::random::{self, Dropout, Range, Split};

use crate::arguments::{add_functions, keywords};
use crate::buffer::PyBuffer as Buffer;
use crate::ops::run_step;

type Program<'py> = Bound<'py, PyDict>;

/// Uniform numbers; `low` and `scale` are FP32 bits.
#[pyfunction]
#[pyo3(signature = (output, **program))]
fn uniform(py: Python<'_>, output: &Buffer, program: Option<&Program<'_>>) -> PyResult<()> {
    keywords!(py, program; format: DataFormat, low: u32, scale: u32, seed: u32, cores: usize, dst32: bool,
        arch: Arch = output.arch());
    let (range, split) = (Range { low, scale, dst32, arch }, Split { seed, cores });
    run_step(py, "uniform", &[output], move |device, ids| random::uniform(device, ids[0], format, range, split))
}

/// Ones with the probabilities of the input.
#[pyfunction]
#[pyo3(signature = (input, output, **program))]
fn bernoulli(py: Python<'_>, input: &Buffer, output: &Buffer, program: Option<&Program<'_>>) -> PyResult<()> {
    keywords!(py, program; formats: (DataFormat, DataFormat), seed: u32, cores: usize, dst32: bool,
        arch: Arch = output.arch());
    let split = Split { seed, cores };
    run_step(py, "bernoulli", &[input, output], move |device, ids| {
        random::bernoulli(device, ids[0], ids[1], formats, (dst32, arch), split)
    })
}

/// Zeros groups of datums and multiplies the rest; `scale` is FP32 bits.
#[pyfunction]
#[pyo3(signature = (input, output, **program))]
fn dropout(py: Python<'_>, input: &Buffer, output: &Buffer, program: Option<&Program<'_>>) -> PyResult<()> {
    keywords!(py, program; format: DataFormat, limit: u32, scale: u32, seed: u32, cores: usize, arch: Arch = output.arch());
    let (program, split) = (Dropout { format, limit, scale, arch }, Split { seed, cores });
    run_step(py, "experimental.dropout", &[input, output], move |device, ids| {
        random::dropout(device, ids[0], ids[1], program, split)
    })
}

/// Normal numbers.
#[pyfunction]
#[pyo3(signature = (output, **program))]
fn normal(py: Python<'_>, output: &Buffer, program: Option<&Program<'_>>) -> PyResult<()> {
    keywords!(py, program; format: DataFormat, seed: u32, cores: usize, dst32: bool, arch: Arch = output.arch());
    let split = Split { seed, cores };
    run_step(py, "randn", &[output], move |device, ids| random::normal(device, ids[0], format, (dst32, arch), split))
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    add_functions!(module: uniform, bernoulli, dropout, normal)
}
