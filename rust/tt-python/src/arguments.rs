//! Arguments as the engine takes them: codes become values of its types.

use numpy::PyReadonlyArray1;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use tt_formats::{DataFormat, TileShape};
use tt_fpu::{Arch, MathFidelity};
use tt_ops::windows::{LeftOperand, Order, Windows};
use tt_ops::{Chain, ChainStep};

use crate::error::{engine_bug, exception};

/// Windows as Python gives them.
type GivenWindows = (usize, (usize, usize), usize, [(usize, usize); 5], (usize, Vec<usize>, bool));

/// A value of the engine, given by what Python knows it by.
pub trait Argument<'py>: Sized {
    /// The value.
    ///
    /// # Errors
    /// There is none.
    fn argument(given: &Bound<'py, PyAny>) -> PyResult<Self>;

    /// Its type in `_engine.pyi`.
    fn hint() -> String;
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
    ($($(#[$doc:meta])* $type:ty as $hint:literal = |$py:ident, $given:ident: $from:ty| $value:expr;)*) => { $(
        $(#[$doc])*
        impl<'py> Argument<'py> for $type {
            fn argument(given: &Bound<'py, PyAny>) -> PyResult<Self> {
                let ($py, $given) = (given.py(), given.extract::<$from>()?);
                $value
            }

            fn hint() -> String {
                $hint.to_owned()
            }
        }
    )* };
    (as they are: $($hint:literal: $($type:ty),+;)*) => { $($(
        impl<'py> Argument<'py> for $type {
            fn argument(given: &Bound<'py, PyAny>) -> PyResult<Self> {
                given.extract()
            }

            fn hint() -> String {
                $hint.to_owned()
            }
        }
    )+)* };
    (tuples: $(($($part:ident),*))*) => { $(
        impl<'py, $($part: Argument<'py>),*> Argument<'py> for ($($part,)*) {
            fn argument(given: &Bound<'py, PyAny>) -> PyResult<Self> {
                let mut parts = given.cast::<PyTuple>()?.iter();
                let missing = || PyTypeError::new_err("the tuple has too few items");
                Ok(($($part::argument(&parts.next().ok_or_else(missing)?)?,)*))
            }

            fn hint() -> String {
                format!("tuple[{}]", [$($part::hint()),*].join(", "))
            }
        }
    )* };
}

arguments! {
    /// By its code.
    DataFormat as "int" = |py, code: u8|
        DataFormat::from_code(code).ok_or_else(|| engine_bug(py, &format!("no format has the code {code}")));

    /// By its number of phases.
    MathFidelity as "int" = |py, phases: u32|
        MathFidelity::from_phases(phases).ok_or_else(|| engine_bug(py, &format!("no fidelity has {phases} phases")));

    /// By its number.
    Arch as "int" = |py, number: u8| match number {
        0 => Ok(Arch::Wormhole),
        1 => Ok(Arch::Blackhole),
        _ => Err(engine_bug(py, &format!("no chip generation {number}"))),
    };

    /// "flushed", or windows: images, their sides, channels; then rows and columns of the window, of its steps, of
    /// padding, of the steps inside, and of its places; then channels and first channels of blocks, and whether a block
    /// has the whole window.
    LeftOperand as "_Windows | Literal[\"flushed\"]" = |py, given: Bound<'py, PyAny>| {
        if given.extract::<String>().is_ok_and(|name| name == "flushed") {
            return Ok(LeftOperand::Flushed);
        }
        let (images, image, channels, of_window, order) = given.extract::<GivenWindows>()?;
        let (of_block, firsts, whole) = order;
        let [kernel, stride, padding, dilation, output] = of_window;
        if stride.0 == 0 || stride.1 == 0 || firsts.is_empty() {
            return Err(engine_bug(py, "a window that does not move, or without channels"));
        }
        let order = Order { channels: of_block, firsts, whole };
        Ok(LeftOperand::Windows(Windows { images, image, channels, order, kernel, stride, padding, dilation, output }))
    };

    /// By height and width.
    TileShape as "tuple[int, int]" = |py, sides: (usize, usize)| tile_shape(py, sides);
}
arguments! {
    as they are:
    "bool": bool;
    "int": u32, usize, i64;
    "float": f32, f64;
    "str": String;
    "Sequence[float]": Vec<f32>;
    "Sequence[int]": Vec<i64>, Vec<usize>;
    "Sequence[Sequence[int]]": [Vec<usize>; 3];
    "Sequence[tuple[int, int]]": Vec<(usize, usize)>;
}
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

            fn hint() -> String {
                "Sequence[int] | _Numbers".to_owned()
            }
        }
    )* };
}
numbers!(u32, i32);

impl<'py, T: Argument<'py>> Argument<'py> for Option<T> {
    fn argument(given: &Bound<'py, PyAny>) -> PyResult<Self> {
        if given.is_none() { Ok(None) } else { T::argument(given).map(Some) }
    }

    fn hint() -> String {
        format!("{} | None", T::hint())
    }
}

/// The tile of a height and a width.
///
/// # Errors
/// `ShapeError`: neither the hardware nor a host tensor has such a tile.
pub fn tile_shape(py: Python<'_>, (height, width): (usize, usize)) -> PyResult<TileShape> {
    let invalid = || format!("no tile of {height}x{width}\ninfo:\nTile size is not valid for our hardware");
    TileShape::of_tensor(height, width).ok_or_else(|| exception(py, "ShapeError", (invalid(),)))
}

/// A chain of SFPU functions before the chip is known.
///
/// Tuples of name, variant, and parameters as raw words if there are any.
#[derive(Clone, Default)]
pub struct Functions(Vec<ChainStep>);

impl Functions {
    /// The functions of a generation.
    ///
    /// # Errors
    /// `EngineError`: it does not have one of them, or not with these parameters.
    pub fn on(&self, py: Python<'_>, arch: Arch) -> PyResult<Chain> {
        Chain::resolve(arch, &self.0).map_err(|error| engine_bug(py, &error.to_string()))
    }
}

impl<'py> Argument<'py> for Functions {
    fn argument(given: &Bound<'py, PyAny>) -> PyResult<Self> {
        if given.len()? == 0 {
            return Ok(Self::default());
        }
        let steps: Vec<Bound<'py, PyTuple>> = given.extract()?;
        let step = |step: Bound<'py, PyTuple>| -> PyResult<ChainStep> {
            let parameters = if step.len() > 2 { step.get_item(2)?.extract()? } else { Vec::new() };
            Ok(ChainStep { name: step.get_item(0)?.extract()?, variant: step.get_item(1)?.extract()?, parameters })
        };
        steps.into_iter().map(step).collect::<PyResult<_>>().map(Self)
    }

    fn hint() -> String {
        "Sequence[_Step]".to_owned()
    }
}

/// Adds functions to a module.
macro_rules! add_functions {
    ($module:ident: $($name:ident),* $(,)?) => {{
        $($module.add_function(wrap_pyfunction!($name, $module)?)?;)*
        Ok(())
    }};
}

pub(crate) use add_functions;
