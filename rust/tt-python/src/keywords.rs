//! Keyword arguments of the functions, one struct for each set.
//!
//! `_engine.pyi` has a type with the same fields for each,
//! which `cargo xtask stubs` writes from [`hints`].

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use tt_formats::{DataFormat, TileShape};
use tt_fpu::MathFidelity;
use tt_ops::windows::LeftOperand;

use crate::arguments::{Argument, Functions};
use crate::slots;

/// Keyword arguments as Python passes them.
pub type Program<'py> = Bound<'py, PyDict>;
/// Batches or blocks, heads, rows and columns of tiles.
pub type CacheArgument = (usize, usize, usize, usize);
/// Numbers of blocks, and how many a batch has.
pub type TableArgument = Option<(Vec<u32>, usize)>;
/// Format, batches, heads, and rows and columns of tiles.
pub type MaskArgument = Option<(DataFormat, usize, usize, usize, usize)>;

/// A set of keyword arguments.
pub trait Keywords: Sized {
    /// Extracts every field.
    ///
    /// # Errors
    /// A required argument is missing, or an argument has another type.
    fn extract(values: &mut Values<'_, '_>) -> PyResult<Self>;
}

/// Keyword arguments of a call, and how many are extracted.
pub struct Values<'a, 'py> {
    py: Python<'py>,
    program: Option<&'a Program<'py>>,
    extracted: usize,
}

impl<'py> Values<'_, 'py> {
    /// Extracts an argument, or makes its default.
    fn field<T: Argument<'py>>(
        &mut self,
        name: &Bound<'py, PyString>,
        default: Option<impl FnOnce() -> T>,
    ) -> PyResult<T> {
        match self.program.map(|program| program.get_item(name)).transpose()?.flatten() {
            Some(value) => {
                self.extracted += 1;
                T::argument(&value)
            }
            None => default
                .map(|default| default())
                .ok_or_else(|| PyTypeError::new_err(format!("missing a required keyword argument: {name}"))),
        }
    }
}

/// Extracts the keyword arguments of a call.
///
/// While the call is resolved, its step keeps them.
///
/// # Errors
/// A required argument is missing, an argument is unexpected or has another type.
pub fn keywords<T: Keywords>(py: Python<'_>, program: Option<&Program<'_>>) -> PyResult<T> {
    slots::given(program);
    let mut values = Values { py, program, extracted: 0 };
    let arguments = T::extract(&mut values)?;
    match program.map_or(0, PyDictMethods::len) - values.extracted {
        0 => Ok(arguments),
        left => Err(PyTypeError::new_err(format!("{left} unexpected keyword arguments"))),
    }
}

/// Declares sets of keyword arguments. Those with a default may be left out.
macro_rules! keyword_arguments {
    (@default) => { None::<fn() -> _> };
    (@default $default:expr) => { Some(|| $default) };
    (@required) => { true };
    (@required $default:expr) => { false };
    ($($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty $(= $default:expr)?),+ $(,)? })+) => {
        $(
            $(#[$doc])*
            pub struct $name {
                $(pub $field: $type),+
            }

            impl Keywords for $name {
                fn extract(values: &mut Values<'_, '_>) -> PyResult<Self> {
                    let py = values.py;
                    Ok(Self {
                        $($field: values.field(
                            intern!(py, stringify!($field)),
                            keyword_arguments!(@default $($default)?),
                        )?),+
                    })
                }
            }
        )+

        /// The fields of every set: name, Python type, and True if it is required.
        #[pyfunction]
        #[pyo3(name = "keyword_arguments")]
        fn hints() -> Vec<(&'static str, Vec<(&'static str, String, bool)>)> {
            vec![$((stringify!($name), vec![$((
                stringify!($field),
                <$type as Argument>::hint(),
                keyword_arguments!(@required $($default)?),
            )),+])),+]
        }
    };
}

keyword_arguments! {
    /// Formats of a, b, bias and output; sizes in tiles, `k` in datums.
    MatmulArguments {
        formats: (DataFormat, DataFormat, DataFormat, DataFormat),
        batch: (usize, usize, usize),
        mt: usize,
        kt: usize,
        nt: usize,
        k: usize,
        kb: usize,
        ring: Option<(usize, usize)>,
        fidelity: MathFidelity,
        dst32: bool,
        l1_acc: bool,
        reload_direct: bool = true,
        relu: bool,
        activation: Functions,
        transpose_a: bool,
        transpose_b: bool,
        left: LeftOperand = LeftOperand::Tiles,
        bias_tile_rows: Option<usize> = None,
    }
    /// Formats of input and output.
    UnaryArguments {
        formats: (DataFormat, DataFormat),
        chain: Functions,
        dst32: bool,
        tiled: bool,
        packer_relu: bool = false,
        precise: bool = false,
    }
    /// Formats of input and output.
    RotateArguments {
        formats: (DataFormat, DataFormat),
        dst32: bool,
        tiled: bool,
    }
    /// `engine` is "fpu" or "sfpu"; the chains `pre_a`, `pre_b` and `post` are the activations of operands and result.
    BinaryArguments {
        formats: (DataFormat, DataFormat, DataFormat),
        op: String,
        engine: String,
        scalar: Option<f64>,
        scalar_is_lhs: bool,
        shape_a: Vec<usize>,
        shape_b: Vec<usize>,
        shape_out: Vec<usize>,
        tiled: bool,
        fidelity: MathFidelity,
        dst32: bool,
        pre_a: Functions = Functions::default(),
        pre_b: Functions = Functions::default(),
        post: Functions = Functions::default(),
        packer_relu: bool = false,
        variant: String = "default".to_owned(),
        parameters: Vec<u32> = Vec::new(),
    }
    /// Formats of the operands and of the output.
    TernaryArguments {
        formats: (DataFormat, DataFormat, DataFormat, DataFormat),
        op: String,
        parameters: Vec<u32>,
        shapes: [Vec<usize>; 3],
        shape_out: Vec<usize>,
        dst32: bool,
        tiled: bool = true,
    }
    /// What all passes share; `axis` is -1 for rows of tiles, -2 for columns, a leading dimension, or -3 less the first
    /// of the dimensions that form matrices.
    PipelineSettings {
        domain: Vec<usize>,
        axis: i64,
        format: DataFormat,
        dst32: bool,
        direct: bool,
        fidelity: MathFidelity,
    }
    /// `axis` is "w", "h", "tile", or "leading" or "transposed" (with `length`); `scaler` is the FPU's, `scale` the
    /// SFPU's; the padding `fill` is height, width, and a value that the format holds.
    ReduceArguments {
        formats: (DataFormat, DataFormat),
        outer: usize,
        rows: usize,
        columns: usize,
        axis: String,
        join: String,
        length: usize = 1,
        scaler: f32 = 1.0,
        scale: f32 = 1.0,
        fill: Option<(usize, usize, f64)> = None,
        fidelity: MathFidelity = MathFidelity::HiFi3,
        dst32: bool = true,
    }
    /// `leading` is the length of a dimension and the tiles inside it, `lines` the matrices, their height and width,
    /// whether columns are multiplied, and whether datums are flushed first, `matrix` the height and width of row-major
    /// matrices that are a tile each; all tiles without.
    ProductArguments {
        format: DataFormat,
        leading: Option<(usize, usize)> = None,
        lines: Option<(usize, usize, usize, usize, bool, bool)> = None,
        matrix: Option<(usize, usize)> = None,
        fidelity: MathFidelity = MathFidelity::HiFi4,
    }
    /// Formats of indices and rows.
    EmbeddingBackwardArguments {
        formats: (DataFormat, DataFormat),
        row_length: usize,
        rows: usize,
        tiles_wide: usize,
    }
    /// `packed` is the format of the block floats that are made of bfloat16, and whether that skips the step to 7 bits.
    MoveArguments {
        formats: (DataFormat, DataFormat),
        in_shape: Vec<usize>,
        out_shape: Vec<usize>,
        strides: Vec<i64>,
        offset: i64,
        in_tile: Option<TileShape>,
        out_tile: Option<TileShape>,
        window: Option<Vec<(usize, usize)>> = None,
        pad_value: f64 = 0.0,
        through_dst: bool = false,
        packed: Option<(DataFormat, bool)> = None,
    }
    /// A window of rows, and where it goes.
    WindowArguments {
        element_bytes: usize,
        width: usize,
        shape: Vec<usize>,
        window: Vec<(usize, usize)>,
        offset: i64,
        strides: Vec<i64>,
    }
    /// `sizes` are the rows of the index tensor and their length.
    GatherArguments {
        format: DataFormat,
        sizes: (usize, usize),
        tiled: Option<usize>,
    }
    /// Attention of many queries; formats of queries, keys, values and output.
    PrefillArguments {
        formats: (DataFormat, DataFormat, DataFormat, DataFormat),
        sizes: (usize, usize, usize, usize, usize),
        rows: usize,
        positions: usize,
        first_row: usize,
        chunks: (usize, usize),
        causal: bool,
        window: Option<usize>,
        mask_shape: MaskArgument = None,
        keys: CacheArgument,
        values: CacheArgument,
        table: TableArgument,
        sinks: Vec<f32>,
        fidelity: MathFidelity,
        dst32: bool,
        scale: f32,
        approximate: bool,
        polynomial: bool,
        streaming: bool,
        reciprocal: Functions,
        fast: bool,
        joint_shapes: Option<(CacheArgument, CacheArgument)> = None,
        joint_positions: usize = 0,
    }
    /// Attention of one query per user; formats of queries, keys, values and output.
    DecodeArguments {
        formats: (DataFormat, DataFormat, DataFormat, DataFormat),
        sizes: (usize, usize, usize, usize, usize),
        positions: Vec<i64>,
        causal: bool,
        window: Option<usize>,
        chunks: Vec<usize>,
        cores: usize,
        mask_shape: MaskArgument = None,
        keys: CacheArgument,
        values: CacheArgument,
        table: TableArgument,
        sinks: Vec<f32>,
        fidelity: MathFidelity,
        dst32: bool,
        scale: f32,
        approximate: bool,
        polynomial: bool,
        streaming: bool,
        reciprocal: Functions,
    }
    /// Formats of input and output, and of the factors and of what is added if there are any.
    GroupNormArguments {
        formats: (DataFormat, DataFormat),
        parameter_formats: (Option<DataFormat>, Option<DataFormat>),
        batch: usize,
        rows: usize,
        used_rows: usize,
        channels: usize,
        group: usize,
        blocks: Vec<(usize, usize)>,
        adds_tiles: bool,
        welford: bool,
        local: f32,
        across: Option<f32>,
        epsilon: f32,
        rsqrt: Functions,
        fidelity: MathFidelity,
        dst32: bool,
    }
    /// Windows of sticks, their weights, and rows.
    StickArguments {
        format: DataFormat,
        channels: usize,
        window: usize,
        sticks: Vec<i32>,
        weights: Vec<f32>,
        rows: Vec<u32>,
        dst32: bool,
        fidelity: MathFidelity,
    }
    /// Sticks to copy, and their bytes.
    CopyArguments {
        sticks: Vec<i32>,
        bytes: usize,
    }
    /// Windows of sticks in the order in which equal elements win, and their indices.
    LargestArguments {
        channels: usize,
        window: usize,
        sticks: Vec<i32>,
        pixels: Vec<u32>,
        dst32: bool,
    }
    /// Images, and points of a grid.
    GridArguments {
        formats: (DataFormat, DataFormat),
        channels: usize,
        image: (usize, usize),
        points: usize,
        align_corners: bool,
        dst32: bool,
        fidelity: MathFidelity,
    }
    /// Formats of values and indices; `first` is the number of tiles if only the first elements are wanted.
    SortArguments {
        formats: (DataFormat, DataFormat),
        rows: usize,
        width: usize,
        ascending: bool,
        stable: bool,
        first: Option<usize>,
    }
    /// Formats of elements and indices.
    IndexArguments {
        formats: (DataFormat, DataFormat),
        width: usize,
        count: usize,
        rows: Vec<i32>,
    }
    /// As [`IndexArguments`]; `combine`: 0 the last stays, 1 sum, 2 product.
    ScatterArguments {
        formats: (DataFormat, DataFormat),
        width: usize,
        count: usize,
        rows: Vec<i32>,
        combine: u32,
    }
    /// `low` and `scale` are FP32 bits.
    UniformArguments {
        format: DataFormat,
        low: u32,
        scale: u32,
        seed: u32,
        cores: usize,
        dst32: bool,
    }
    /// Formats of input and output.
    BernoulliArguments {
        formats: (DataFormat, DataFormat),
        seed: u32,
        cores: usize,
        dst32: bool,
    }
    /// `scale` is FP32 bits.
    DropoutArguments {
        format: DataFormat,
        limit: u32,
        scale: u32,
        seed: u32,
        cores: usize,
    }
    /// Format of the numbers.
    NormalArguments {
        format: DataFormat,
        seed: u32,
        cores: usize,
        dst32: bool,
    }
}

/// Adds this file's names to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(hints, module)?)
}
