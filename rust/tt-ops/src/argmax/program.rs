//! Settings of `argmax`.

use tt_formats::DataFormat;

/// The searched dimension and tensors. The output is row-major, 32-bit unsigned.
#[derive(Clone, Debug)]
pub struct ArgmaxProgram {
    /// Format of the input.
    ///
    /// Bfloat16, float32 or an integer of 16 or 32 bits.
    pub format: DataFormat,
    /// Pages are tiles; otherwise rows.
    pub tiled: bool,
    /// Logical shape of the input.
    pub shape: Vec<usize>,
    /// The dimension that is searched.
    ///
    /// `None` searches the whole tensor in row-major order.
    pub dim: Option<usize>,
}
