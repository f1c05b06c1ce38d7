//! `ttnn._engine`: the border between Python and the engine.
//!
//! Converts, releases the interpreter lock, maps errors.
#![allow(clippy::needless_pass_by_value, reason = "PyO3 hands arguments over by value")]

use pyo3::prelude::*;

mod arguments;
mod attention;
mod buffer;
mod buffer_changes;
mod chip;
mod chips;
mod collective;
mod device;
mod error;
mod host;
mod inside;
mod interrupt;
mod keywords;
mod launch;
mod ops;
mod pipeline;
mod pjrt;
mod plan;
mod program;
mod random;
mod ranks;
mod resolving;
mod shared;
mod slots;
mod tiles;
mod vector;

/// The module as Python imports it.
#[pymodule]
fn _engine(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    host::register(module)?;
    module.add_function(wrap_pyfunction!(inside::set_inside_kernels, module)?)?;
    module.add_function(wrap_pyfunction!(inside::refuse_inside_kernels, module)?)?;
    tiles::register(module)?;
    vector::register(module)?;
    device::register(module)?;
    buffer::register(module)?;
    chip::register(module)?;
    program::register(module)?;
    keywords::register(module)?;
    ops::register(module)?;
    collective::register(module)?;
    attention::register(module)?;
    random::register(module)?;
    pipeline::register(module)?;
    pjrt::register(module)?;
    resolving::register(module)?;
    launch::register(module)?;
    plan::register(module)?;
    buffer_changes::register(module)?;
    interrupt::prepare(module.py())
}
