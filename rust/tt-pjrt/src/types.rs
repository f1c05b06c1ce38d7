//! Types of elements.

use std::ffi::c_int;

use crate::failure::Failure;

/// Type of a buffer's elements.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ElementType {
    /// Number in the C interface.
    pub code: c_int,
    /// Name as numpy and `ml_dtypes` spell it.
    pub name: &'static str,
    /// Bytes of an element in host memory, at least one.
    pub bytes: usize,
}

const fn element(code: c_int, name: &'static str, bytes: usize) -> ElementType {
    ElementType { code, name, bytes }
}

/// Every type whose elements have a form in host memory.
pub const TYPES: [ElementType; 28] = [
    element(1, "bool", 1),
    element(2, "int8", 1),
    element(3, "int16", 2),
    element(4, "int32", 4),
    element(5, "int64", 8),
    element(6, "uint8", 1),
    element(7, "uint16", 2),
    element(8, "uint32", 4),
    element(9, "uint64", 8),
    element(10, "float16", 2),
    element(11, "float32", 4),
    element(12, "float64", 8),
    element(13, "bfloat16", 2),
    element(14, "complex64", 8),
    element(15, "complex128", 16),
    element(16, "float8_e5m2", 1),
    element(17, "float8_e4m3fn", 1),
    element(18, "float8_e4m3b11fnuz", 1),
    element(19, "float8_e5m2fnuz", 1),
    element(20, "float8_e4m3fnuz", 1),
    element(21, "int4", 1),
    element(22, "uint4", 1),
    element(24, "int2", 1),
    element(25, "uint2", 1),
    element(26, "float8_e4m3", 1),
    element(27, "float8_e3m4", 1),
    element(28, "float8_e8m0fnu", 1),
    element(29, "float4_e2m1fn", 1),
];

impl ElementType {
    /// Returns the type of a number of the C interface.
    ///
    /// # Errors
    /// The number is unknown, or elements of the type have no host form (tokens).
    pub fn of(code: c_int) -> Result<Self, Failure> {
        let found = TYPES.iter().find(|element| element.code == code).copied();
        found.ok_or_else(|| Failure::unimplemented(format!("tt: element type {code} of PJRT is not supported")))
    }

    /// Returns the type of a name.
    ///
    /// # Errors
    /// No type has this name.
    pub fn named(name: &str) -> Result<Self, Failure> {
        let found = TYPES.iter().find(|element| element.name == name).copied();
        found.ok_or_else(|| Failure::internal(format!("tt: a compiled program returns the unknown type {name:?}")))
    }
}

/// Type and dimensions of a buffer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TensorType {
    /// Type of the elements.
    pub element: ElementType,
    /// Dimensions.
    pub dims: Vec<i64>,
}

impl TensorType {
    /// Returns a type whose dimensions and size are checked.
    ///
    /// # Errors
    /// A dimension is negative, or the size in bytes does not fit an address.
    pub fn new(element: ElementType, dims: Vec<i64>) -> Result<Self, Failure> {
        let refuse = || Failure::argument(format!("tt: a buffer of shape {dims:?} cannot be addressed"));
        let mut size = element.bytes;
        for &dim in &dims {
            let dim = usize::try_from(dim).map_err(|_| refuse())?;
            size = size.checked_mul(dim).filter(|size| isize::try_from(*size).is_ok()).ok_or_else(refuse)?;
        }
        Ok(Self { element, dims })
    }

    /// Returns the size of a dense array in bytes.
    pub fn bytes(&self) -> usize {
        self.dims.iter().map(|&dim| dim as usize).product::<usize>() * self.element.bytes
    }

    /// Returns the strides of a dense row-major array in bytes.
    pub fn dense_strides(&self) -> Vec<i64> {
        let mut strides = vec![0; self.dims.len()];
        let mut step = self.element.bytes as i64;
        for (stride, &dim) in strides.iter_mut().zip(&self.dims).rev() {
            *stride = step;
            step = step.saturating_mul(dim.max(1));
        }
        strides
    }

    /// Returns the strides of dimensions in this order, the fastest first.
    ///
    /// # Errors
    /// The order is no permutation of the dimensions.
    pub fn ordered_strides(&self, minor_to_major: &[i64]) -> Result<Vec<i64>, Failure> {
        let refuse = || {
            Failure::argument(format!("tt: layout {minor_to_major:?} is no order of the dimensions {:?}", self.dims))
        };
        if minor_to_major.len() != self.dims.len() {
            return Err(refuse());
        }
        let mut strides = vec![0; self.dims.len()];
        let mut step = self.element.bytes as i64;
        for &dim in minor_to_major {
            let dim = usize::try_from(dim).ok().filter(|&dim| dim < strides.len() && strides[dim] == 0);
            let dim = dim.ok_or_else(refuse)?;
            strides[dim] = step;
            step = step.saturating_mul(self.dims[dim].max(1));
        }
        Ok(strides)
    }
}
