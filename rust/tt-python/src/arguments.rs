//! Arguments as the engine takes them: codes become values of its types.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use tt_formats::{DataFormat, TileShape};
use tt_fpu::{Arch, MathFidelity};
use tt_ops::windows::{LeftOperand, Windows};
use tt_ops::{Chain, ChainStep};

use crate::error::{engine_bug, exception};

/// A value of the engine, given by what Python knows it by.
pub trait Argument<'py>: Sized {
    /// The value.
    ///
    /// # Errors
    /// There is none.
    fn argument(given: &Bound<'py, PyAny>) -> PyResult<Self>;
}

/// An argument of a function.
#[derive(Clone, Copy, Debug)]
pub struct Given<T>(pub T);

impl<'py, T: Argument<'py>> FromPyObject<'_, 'py> for Given<T> {
    type Error = PyErr;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> PyResult<Self> {
        T::argument(&given).map(Self)
    }
}

macro_rules! arguments {
    ($($(#[$doc:meta])* $type:ty = |$py:ident, $given:ident: $from:ty| $value:expr;)*) => { $(
        $(#[$doc])*
        impl<'py> Argument<'py> for $type {
            fn argument(given: &Bound<'py, PyAny>) -> PyResult<Self> {
                let ($py, $given) = (given.py(), given.extract::<$from>()?);
                $value
            }
        }
    )* };
    (as they are: $($type:ty),*) => { $(
        impl<'py> Argument<'py> for $type {
            fn argument(given: &Bound<'py, PyAny>) -> PyResult<Self> {
                given.extract()
            }
        }
    )* };
    (tuples: $(($($part:ident),*))*) => { $(
        impl<'py, $($part: Argument<'py>),*> Argument<'py> for ($($part,)*) {
            fn argument(given: &Bound<'py, PyAny>) -> PyResult<Self> {
                let mut parts = given.cast::<PyTuple>()?.iter();
                let missing = || PyTypeError::new_err("the tuple has too few items");
                Ok(($($part::argument(&parts.next().ok_or_else(missing)?)?,)*))
            }
        }
    )* };
}

arguments! {
    /// By its code.
    DataFormat = |py, code: u8|
        DataFormat::from_code(code).ok_or_else(|| engine_bug(py, &format!("no format has the code {code}")));

    /// By its number of phases.
    MathFidelity = |py, phases: u32|
        MathFidelity::from_phases(phases).ok_or_else(|| engine_bug(py, &format!("no fidelity has {phases} phases")));

    /// By its number.
    Arch = |py, number: u8| match number {
        0 => Ok(Arch::Wormhole),
        1 => Ok(Arch::Blackhole),
        _ => Err(engine_bug(py, &format!("no chip generation {number}"))),
    };

    /// "flushed", or windows: images, their sides, tiles of channels; then rows and columns of the window, of its steps,
    /// of padding, of the steps inside, and of its places.
    LeftOperand = |py, given: Bound<'py, PyAny>| {
        if given.extract::<String>().is_ok_and(|name| name == "flushed") {
            return Ok(LeftOperand::Flushed);
        }
        let (images, image, channels, of_window): (usize, _, usize, [(usize, usize); 5]) = given.extract()?;
        let [kernel, stride, padding, dilation, output] = of_window;
        if stride.0 == 0 || stride.1 == 0 {
            return Err(engine_bug(py, "a window that does not move"));
        }
        Ok(LeftOperand::Windows(Windows { images, image, channels, kernel, stride, padding, dilation, output }))
    };

    /// By height and width.
    TileShape = |py, sides: (usize, usize)| tile_shape(py, sides);
}
arguments!(as they are: bool, u32, usize, f32, f64, i64, String, Vec<f32>, Vec<i64>, Vec<usize>);
arguments!(as they are: [Vec<usize>; 3]);
arguments!(as they are: Vec<(usize, usize)>);
arguments!(tuples: (A, B) (A, B, C) (A, B, C, D) (A, B, C, D, E) (A, B, C, D, E, F));

macro_rules! numbers {
    ($($type:ty),*) => { $(
        /// A list; or an array, which is copied as one piece.
        impl<'py> Argument<'py> for Vec<$type> {
            fn argument(given: &Bound<'py, PyAny>) -> PyResult<Self> {
                if let Ok(array) = given.extract::<PyReadonlyArray1<'_, $type>>()
                    && let Ok(numbers) = array.as_slice()
                {
                    return Ok(numbers.to_vec());
                }
                given.extract()
            }
        }
    )* };
}
numbers!(u32, i32);

impl<'py, T: Argument<'py>> Argument<'py> for Option<T> {
    fn argument(given: &Bound<'py, PyAny>) -> PyResult<Self> {
        if given.is_none() { Ok(None) } else { T::argument(given).map(Some) }
    }
}

/// The tile of a height and a width.
///
/// # Errors
/// `ShapeError`: the hardware has no such tile.
pub fn tile_shape(py: Python<'_>, (height, width): (usize, usize)) -> PyResult<TileShape> {
    let invalid = || format!("no tile of {height}x{width}\ninfo:\nTile size is not valid for our hardware");
    TileShape::new(height, width).ok_or_else(|| exception(py, "ShapeError", (invalid(),)))
}

/// Tuples of name, variant, and parameters as raw words if there are any.
impl<'py> Argument<'py> for Chain {
    fn argument(given: &Bound<'py, PyAny>) -> PyResult<Self> {
        if given.len()? == 0 {
            return Ok(Self::default());
        }
        let steps: Vec<Bound<'py, PyTuple>> = given.extract()?;
        let step = |step: Bound<'py, PyTuple>| -> PyResult<ChainStep> {
            let parameters = if step.len() > 2 { step.get_item(2)?.extract()? } else { Vec::new() };
            Ok(ChainStep { name: step.get_item(0)?.extract()?, variant: step.get_item(1)?.extract()?, parameters })
        };
        let steps = steps.into_iter().map(step).collect::<PyResult<Vec<_>>>()?;
        Self::resolve(&steps).map_err(|error| engine_bug(given.py(), &error.to_string()))
    }
}

/// The keyword arguments of a call while they are taken apart.
pub struct Keywords<'a, 'py> {
    given: Option<&'a Bound<'py, PyDict>>,
    taken: usize,
}

impl<'a, 'py> Keywords<'a, 'py> {
    /// Nothing is taken yet.
    pub fn new(given: Option<&'a Bound<'py, PyDict>>) -> Self {
        Self { given, taken: 0 }
    }

    /// The argument of a name, or its default.
    ///
    /// # Errors
    /// It is neither given nor has a default, or has another type.
    pub fn take<T: Argument<'py>>(
        &mut self,
        name: &Bound<'py, PyString>,
        default: Option<impl FnOnce() -> T>,
    ) -> PyResult<T> {
        match self.given.map(|given| given.get_item(name)).transpose()?.flatten() {
            Some(value) => {
                self.taken += 1;
                T::argument(&value)
            }
            None => default
                .map(|default| default())
                .ok_or_else(|| PyTypeError::new_err(format!("missing a required keyword argument: {name}"))),
        }
    }

    /// Nothing may be left.
    ///
    /// # Errors
    /// An unexpected keyword argument.
    pub fn finish(self) -> PyResult<()> {
        match self.given.map_or(0, PyDictMethods::len) - self.taken {
            0 => Ok(()),
            left => Err(PyTypeError::new_err(format!("{left} unexpected keyword arguments"))),
        }
    }
}

/// Takes the keyword arguments of a call. Those with a default may be left out.
macro_rules! keywords {
    (@default) => { None::<fn() -> _> };
    (@default $default:expr) => { Some(|| $default) };
    ($py:ident, $given:expr; $($name:ident $(: $type:ty)? $(= $default:expr)?),* $(,)?) => {
        $crate::slots::given($given);
        let mut keywords = $crate::arguments::Keywords::new($given);
        $(let $name $(: $type)? = keywords.take(
            pyo3::intern!($py, stringify!($name)),
            $crate::arguments::keywords!(@default $($default)?),
        )?;)*
        keywords.finish()?;
    };
}

/// Adds functions to a module.
macro_rules! add_functions {
    ($module:ident: $($name:ident),* $(,)?) => {{
        $($module.add_function(wrap_pyfunction!($name, $module)?)?;)*
        Ok(())
    }};
}

pub(crate) use {add_functions, keywords};
