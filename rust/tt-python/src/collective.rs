//! Operators of several chips.
//!
//! Groups are lists of places of chips in the mesh, each in the order of an axis; slices are pages before the sliced
//! dimension, and pages of a slice from it on.
use pyo3::prelude::*;
use tt_formats::DataFormat;
use tt_ops::collective::{
    self, CombineBuffers, DispatchBuffers, Groups, Order, Range, Ranges, Routes, ScoreBuffers, Slices, SumProgram,
};

use crate::arguments::{Given, add_functions};
use crate::buffer::{PyBuffer as Buffer, chips_at};
use crate::error::{EngineError, engine_bug};
use crate::ops::run_on_mesh;

/// Groups of chips, all of which have the contents of all buffers.
fn groups_of<const N: usize>(py: Python<'_>, groups: Vec<Vec<usize>>, buffers: [&Buffer; N]) -> PyResult<Groups> {
    for buffer in buffers {
        chips_at(py, &groups.concat(), buffer.chips())?;
    }
    Groups::new(groups).map_err(|error| error.into_exception(py))
}

fn slices_of((outer, inner): (usize, usize)) -> Slices {
    Slices { outer, inner: inner.max(1) }
}

/// Writes the slices of all chips of a group to each of them.
#[pyfunction]
#[pyo3(signature = (input, output, *, groups, slices))]
fn gather_slices(
    py: Python<'_>,
    input: &Buffer,
    output: &Buffer,
    groups: Vec<Vec<usize>>,
    slices: (usize, usize),
) -> PyResult<()> {
    let (groups, slices) = (groups_of(py, groups, [input, output])?, slices_of(slices));
    run_on_mesh(py, "gather_slices", &[input, output], 1, move |device, ids| {
        collective::gather(device, &groups, slices, ids[0], ids[1])
    })
}

/// Writes to each chip of a group its slice of its tensor.
#[pyfunction]
#[pyo3(signature = (input, output, *, groups, slices))]
fn take_slices(
    py: Python<'_>,
    input: &Buffer,
    output: &Buffer,
    groups: Vec<Vec<usize>>,
    slices: (usize, usize),
) -> PyResult<()> {
    let (groups, slices) = (groups_of(py, groups, [input, output])?, slices_of(slices));
    run_on_mesh(py, "take_slices", &[input, output], 0, move |device, ids| {
        collective::partition(device, &groups, slices, ids[0], ids[1])
    })
}

/// Writes the tensor of the chip at a position of each group to all chips of the group, or to all others.
#[pyfunction]
#[pyo3(signature = (input, output, *, groups, position, kept))]
fn send_pages(
    py: Python<'_>,
    input: &Buffer,
    output: &Buffer,
    groups: Vec<Vec<usize>>,
    position: usize,
    kept: bool,
) -> PyResult<()> {
    let groups = groups_of(py, groups, [input, output])?;
    run_on_mesh(py, "send_pages", &[input, output], 1, move |device, ids| {
        collective::copy(device, &groups, (position, kept), ids[0], ids[1])
    })
}

/// Writes ranges of the tensors of a group's chips: sender, its first page, first page written, pages.
#[pyfunction]
#[pyo3(signature = (input, output, *, groups, outer, sizes, ranges))]
fn move_ranges(
    py: Python<'_>,
    input: &Buffer,
    output: &Buffer,
    groups: Vec<Vec<usize>>,
    outer: usize,
    sizes: (usize, usize),
    ranges: Vec<Vec<(usize, usize, usize, usize)>>,
) -> PyResult<()> {
    let groups = groups_of(py, groups, [input, output])?;
    let range = |(from, first, to, pages)| Range { from, first, to, pages };
    let of_chips = ranges.into_iter().map(|chip| chip.into_iter().map(range).collect()).collect();
    let ranges = Ranges { outer, sizes, of_chips };
    run_on_mesh(py, "move_ranges", &[input, output], 1, move |device, ids| {
        collective::ranges(device, &groups, &ranges, ids[0], ids[1])
    })
}

/// Writes to each chip the sum of its group's tensors, or of its slice of them.
#[pyfunction]
#[pyo3(signature = (input, output, *, groups, format, dst32, order, chunk, slices, matrix))]
#[allow(clippy::too_many_arguments, reason = "what makes a sum over chips")]
fn sum_over_chips(
    py: Python<'_>,
    input: &Buffer,
    output: &Buffer,
    groups: Vec<Vec<usize>>,
    format: Given<DataFormat>,
    dst32: bool,
    order: &str,
    chunk: usize,
    slices: Option<(usize, usize)>,
    matrix: usize,
) -> PyResult<()> {
    let order = match order {
        "direct" => Order::Direct,
        "ring" => Order::Ring { chunk },
        "turn" => Order::Turn { chunk },
        "line" => Order::Line,
        "pairs" => Order::Pairs,
        "sequential" => Order::Sequential,
        other => return Err(engine_bug(py, &format!("no order of chips is named {other}"))),
    };
    let groups = groups_of(py, groups, [input, output])?;
    let slices = slices.map(slices_of);
    let program = SumProgram { format: format.0, dst32, order, slices, matrix, arch: output.arch() };
    run_on_mesh(py, "sum_over_chips", &[input, output], 1, move |device, ids| {
        collective::sum(device, &groups, &program, ids[0], ids[1])
    })
}

/// Chips that exchange tokens, all of which have the contents of all buffers.
fn routes_of<const N: usize>(
    py: Python<'_>,
    groups: Vec<Vec<usize>>,
    columns: Vec<usize>,
    buffers: [&Buffer; N],
) -> PyResult<Routes> {
    let groups = groups_of(py, groups, buffers)?;
    Routes::new(groups, columns).map_err(|error| error.into_exception(py))
}

/// Sends tokens to the chips of their group that have one of their experts.
#[pyfunction]
#[pyo3(signature = (tokens, experts, mapping, sent, metadata, *, groups, columns))]
#[allow(clippy::too_many_arguments, reason = "the tensors of the operator")]
fn send_tokens(
    py: Python<'_>,
    tokens: &Buffer,
    experts: &Buffer,
    mapping: &Buffer,
    sent: &Buffer,
    metadata: &Buffer,
    groups: Vec<Vec<usize>>,
    columns: Vec<usize>,
) -> PyResult<()> {
    let buffers = [tokens, experts, mapping, sent, metadata];
    let routes = routes_of(py, groups, columns, buffers)?;
    run_on_mesh(py, "send_tokens", &buffers, 3, move |device, ids| {
        let &[tokens, experts, mapping, sent, metadata] = ids else { return Ok(()) };
        collective::dispatch(device, &routes, DispatchBuffers { tokens, experts, mapping, sent, metadata })
    })
}

/// Sends what experts made of tokens back to the chips of the tokens.
#[pyfunction]
#[pyo3(signature = (results, metadata, mapping, combined, *, groups, columns, local, reduced))]
#[allow(clippy::too_many_arguments, reason = "the tensors of the operator")]
fn return_tokens(
    py: Python<'_>,
    results: &Buffer,
    metadata: &Buffer,
    mapping: &Buffer,
    combined: &Buffer,
    groups: Vec<Vec<usize>>,
    columns: Vec<usize>,
    local: usize,
    reduced: bool,
) -> PyResult<()> {
    let buffers = [results, metadata, mapping, combined];
    let routes = routes_of(py, groups, columns, buffers)?;
    run_on_mesh(py, "return_tokens", &buffers, 3, move |device, ids| {
        let &[results, metadata, mapping, combined] = ids else { return Ok(()) };
        let buffers = CombineBuffers { results, metadata, mapping, combined };
        collective::combine(device, &routes, local, reduced, buffers)
    })
}

/// Writes each chip's part of the scores of all experts.
#[pyfunction]
#[pyo3(signature = (scores, mapping, metadata, local, used, *, groups, columns, together))]
#[allow(clippy::too_many_arguments, reason = "the tensors of the operator")]
fn local_scores(
    py: Python<'_>,
    scores: &Buffer,
    mapping: &Buffer,
    metadata: &Buffer,
    local: &Buffer,
    used: &Buffer,
    groups: Vec<Vec<usize>>,
    columns: Vec<usize>,
    together: usize,
) -> PyResult<()> {
    let buffers = [scores, mapping, metadata, local, used];
    let routes = routes_of(py, groups, columns, buffers)?;
    run_on_mesh(py, "local_scores", &buffers, 0, move |device, ids| {
        let &[scores, mapping, metadata, local, used] = ids else { return Ok(()) };
        let buffers = ScoreBuffers { scores, mapping, metadata, local, used };
        collective::local_scores(device, &routes, together, buffers)
    })
}

/// Writes each chip's share of the weights that are not zero.
#[pyfunction]
#[pyo3(signature = (input, output, *, groups, element, count))]
fn share_weights(
    py: Python<'_>,
    input: &Buffer,
    output: &Buffer,
    groups: Vec<Vec<usize>>,
    element: usize,
    count: usize,
) -> PyResult<()> {
    let groups = groups_of(py, groups, [input, output])?;
    run_on_mesh(py, "share_weights", &[input, output], 0, move |device, ids| {
        collective::share_weights(device, &groups, (element, count), ids[0], ids[1])
    })
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    add_functions!(
        module: gather_slices, take_slices, send_pages, move_ranges, sum_over_chips, send_tokens, return_tokens, local_scores,
        share_weights
    )
}
