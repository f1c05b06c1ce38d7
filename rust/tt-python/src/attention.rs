//! Attention on device buffers; see `tt_ops::attention`.

use pyo3::prelude::*;
use pyo3::types::PyDict;
use tt_memory::BufferId;
use tt_ops::attention::decode::{DecodeProgram, decode};
use tt_ops::attention::fast;
use tt_ops::attention::prefill::{Buffers, Joint, PrefillProgram, prefill};
use tt_ops::attention::{Cache, Mask, Numerics, PageTable, Sizes};

use crate::arguments::{add_functions, keywords};
use crate::buffer::PyBuffer as Buffer;
use crate::ops::run_step;

type Program<'py> = Bound<'py, PyDict>;
/// Batches or blocks, heads, rows and columns of tiles.
type CacheArgument = (usize, usize, usize, usize);
/// Numbers of blocks, and how many a batch has.
type TableArgument = Option<(Vec<u32>, usize)>;

fn cache((count, heads, rows, columns): CacheArgument, table: &TableArgument) -> Cache {
    let table = table.clone().map(|(blocks, per_batch)| PageTable { blocks, per_batch });
    Cache { count, heads, rows, columns, table }
}

/// Queries, keys, values and output as the program knows them, and behind these the mask, or a second sequence.
fn buffers(ids: &[BufferId]) -> Buffers {
    let (mask, joint) = match ids[4..] {
        [mask] => (Some(mask), None),
        [keys, values] => (None, Some((keys, values))),
        _ => (None, None),
    };
    Buffers { queries: ids[0], keys: ids[1], values: ids[2], output: ids[3], mask, joint }
}

/// Attention of many queries; see `tt_ops::attention::prefill`. `joint` has keys and values of a second sequence.
#[pyfunction]
#[pyo3(signature = (tensors, mask, output, joint = None, **program))]
fn attention_prefill(
    py: Python<'_>,
    tensors: (PyRef<'_, Buffer>, PyRef<'_, Buffer>, PyRef<'_, Buffer>),
    mask: Option<&Buffer>,
    output: &Buffer,
    joint: Option<(PyRef<'_, Buffer>, PyRef<'_, Buffer>)>,
    program: Option<&Program<'_>>,
) -> PyResult<()> {
    keywords!(py, program; formats, sizes, rows, positions, first_row, chunks, causal, window: Option<usize>,
        mask_shape = None, keys, values, table: TableArgument, sinks: Vec<f32>, fidelity, dst32, scale: f32, approximate,
        arch = output.arch(), fast: bool, joint_shapes: Option<(CacheArgument, CacheArgument)> = None, joint_positions: usize = 0);
    let (batch, heads, kv_heads, width, value_width) = sizes;
    let program = PrefillProgram {
        numerics: Numerics { formats, fidelity, dst32, scale: scale.to_bits(), approximate, arch },
        sizes: Sizes { batch, heads, kv_heads, width, value_width },
        rows,
        positions,
        first_row,
        chunks,
        causal,
        window,
        mask: mask_shape.map(|(format, batch, heads, rows, columns)| Mask { format, batch, heads, rows, columns }),
        keys: cache(keys, &table),
        values: cache(values, &table),
        sinks: sinks.into_iter().map(f32::to_bits).collect(),
        joint: joint_shapes.map(|(keys, values)| Joint {
            keys: cache(keys, &None),
            values: cache(values, &None),
            positions: joint_positions,
        }),
    };
    let (queries, keys, values) = (&*tensors.0, &*tensors.1, &*tensors.2);
    let joint = joint.as_ref().map(|(keys, values)| [&**keys, &**values]).into_iter().flatten();
    let all: Vec<&Buffer> = [queries, keys, values, output].into_iter().chain(mask).chain(joint).collect();
    let run = if fast { fast::prefill } else { prefill };
    run_step(py, "attention", &all, move |device, ids| run(device, &buffers(ids), &program))
}

/// Attention of one query per user; see `tt_ops::attention::decode`. A position of -1 leaves a user out.
#[pyfunction]
#[pyo3(signature = (tensors, mask, output, **program))]
fn attention_decode(
    py: Python<'_>,
    tensors: (PyRef<'_, Buffer>, PyRef<'_, Buffer>, PyRef<'_, Buffer>),
    mask: Option<&Buffer>,
    output: &Buffer,
    program: Option<&Program<'_>>,
) -> PyResult<()> {
    keywords!(py, program; formats, sizes, positions: Vec<i64>, causal, window: Option<usize>, chunks: Vec<usize>,
        cores, mask_shape = None, keys, values, table: TableArgument, sinks: Vec<f32>, fidelity, dst32, scale: f32,
        approximate, arch = output.arch());
    let (batch, heads, kv_heads, width, value_width) = sizes;
    let program = DecodeProgram {
        numerics: Numerics { formats, fidelity, dst32, scale: scale.to_bits(), approximate, arch },
        sizes: Sizes { batch, heads, kv_heads, width, value_width },
        positions: positions.into_iter().map(|count| usize::try_from(count).ok()).collect(),
        causal,
        window,
        chunks,
        cores,
        mask: mask_shape.map(|(format, batch, heads, rows, columns)| Mask { format, batch, heads, rows, columns }),
        keys: cache(keys, &table),
        values: cache(values, &table),
        sinks: sinks.into_iter().map(f32::to_bits).collect(),
    };
    let (queries, keys, values) = (&*tensors.0, &*tensors.1, &*tensors.2);
    let all: Vec<&Buffer> =
        [Some(queries), Some(keys), Some(values), Some(output), mask].into_iter().flatten().collect();
    run_step(py, "attention", &all, move |device, ids| decode(device, &buffers(ids), &program))
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    add_functions!(module: attention_prefill, attention_decode)
}
