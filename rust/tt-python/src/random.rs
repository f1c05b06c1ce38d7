//! Random numbers on device buffers.
//!
//! The keyword arguments of each function are the parameters of its program.

use pyo3::prelude::*;
use tt_ops::random::{self, Dropout, Range, Split};

use crate::arguments::add_functions;
use crate::buffer::PyBuffer as Buffer;
use crate::keywords::{BernoulliArguments, DropoutArguments, NormalArguments, Program, UniformArguments, keywords};
use crate::ops::run_step;

/// Uniform numbers.
#[pyfunction]
#[pyo3(signature = (output, **program))]
fn uniform(py: Python<'_>, output: &Buffer, program: Option<&Program<'_>>) -> PyResult<()> {
    let UniformArguments { format, low, scale, seed, cores, dst32 } = keywords(py, program)?;
    let (range, split) = (Range { low, scale, dst32, arch: output.arch() }, Split { seed, cores });
    run_step(py, "uniform", &[output], move |device, ids| random::uniform(device, ids[0], format, range, split))
}

/// Ones with the probabilities of the input.
#[pyfunction]
#[pyo3(signature = (input, output, **program))]
fn bernoulli(py: Python<'_>, input: &Buffer, output: &Buffer, program: Option<&Program<'_>>) -> PyResult<()> {
    let BernoulliArguments { formats, seed, cores, dst32 } = keywords(py, program)?;
    let (mode, split) = ((dst32, output.arch()), Split { seed, cores });
    run_step(py, "bernoulli", &[input, output], move |device, ids| {
        random::bernoulli(device, ids[0], ids[1], formats, mode, split)
    })
}

/// Zeros groups of datums and multiplies the rest.
#[pyfunction]
#[pyo3(signature = (input, output, **program))]
fn dropout(py: Python<'_>, input: &Buffer, output: &Buffer, program: Option<&Program<'_>>) -> PyResult<()> {
    let DropoutArguments { format, limit, scale, seed, cores } = keywords(py, program)?;
    let (program, split) = (Dropout { format, limit, scale, arch: output.arch() }, Split { seed, cores });
    run_step(py, "experimental.dropout", &[input, output], move |device, ids| {
        random::dropout(device, ids[0], ids[1], program, split)
    })
}

/// Normal numbers.
#[pyfunction]
#[pyo3(signature = (output, **program))]
fn normal(py: Python<'_>, output: &Buffer, program: Option<&Program<'_>>) -> PyResult<()> {
    let NormalArguments { format, seed, cores, dst32 } = keywords(py, program)?;
    let (mode, split) = ((dst32, output.arch()), Split { seed, cores });
    run_step(py, "randn", &[output], move |device, ids| random::normal(device, ids[0], format, mode, split))
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    add_functions!(module: uniform, bernoulli, dropout, normal)
}
