//! Arguments as the engine takes them: codes become values of its types, keywords the fields of a struct.

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use tt_formats::{DataFormat, TileShape};
use tt_ops::{Chain, ChainStep};
use tt_tensix::fpu::{Arch, MathFidelity};

use crate::error::{engine_bug, exception};

/// An argument of an engine type, given by what Python knows it by.
macro_rules! argument {
    ($(#[$doc:meta])* $name:ident($type:ty), |$py:ident, $given:ident: $from:ty| $value:expr) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug)]
        pub struct $name(pub $type);

        impl<'a, 'py> FromPyObject<'a, 'py> for $name {
            type Error = PyErr;

            fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
                let ($py, $given) = (given.py(), given.extract::<$from>()?);
                $value.map(Self)
            }
        }
    };
}

argument!(
    /// A format by its code.
    Format(DataFormat),
    |py, code: u8| DataFormat::from_code(code)
        .ok_or_else(|| engine_bug(py, &format!("no format has the code {code}")))
);
argument!(
    /// A fidelity by its number of phases.
    Fidelity(MathFidelity),
    |py, phases: u32| MathFidelity::from_phases(phases)
        .ok_or_else(|| engine_bug(py, &format!("no fidelity has {phases} phases")))
);
argument!(
    /// A chip generation by its number.
    Generation(Arch),
    |py, number: u8| match number {
        0 => Ok(Arch::Wormhole),
        1 => Ok(Arch::Blackhole),
        _ => Err(engine_bug(py, &format!("no chip generation {number}"))),
    }
);
argument!(
    /// A tile shape by height and width.
    Tile(TileShape),
    |py, sides: (usize, usize)| tile_shape(py, sides)
);

/// The tile of a height and a width.
///
/// # Errors
/// `ShapeError`: the hardware has no such tile.
pub fn tile_shape(py: Python<'_>, (height, width): (usize, usize)) -> PyResult<TileShape> {
    let invalid = || format!("no tile of {height}x{width}\ninfo:\nTile size is not valid for our hardware");
    TileShape::new(height, width).ok_or_else(|| exception(py, "ShapeError", (invalid(),)))
}

/// A chain of SFPU functions: tuples of name, variant, and parameters as raw words if there are any.
#[derive(Default)]
pub struct Functions(pub Chain);

impl<'a, 'py> FromPyObject<'a, 'py> for Functions {
    type Error = PyErr;

    fn extract(given: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if given.len()? == 0 {
            return Ok(Self::default());
        }
        let steps: Vec<Bound<'py, PyTuple>> = given.extract()?;
        let step = |step: Bound<'py, PyTuple>| -> PyResult<ChainStep> {
            let parameters = if step.len() > 2 { step.get_item(2)?.extract()? } else { Vec::new() };
            Ok(ChainStep { name: step.get_item(0)?.extract()?, variant: step.get_item(1)?.extract()?, parameters })
        };
        let steps = steps.into_iter().map(step).collect::<PyResult<Vec<_>>>()?;
        Chain::resolve(&steps).map(Self).map_err(|error| engine_bug(given.py(), &error.to_string()))
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
    pub fn take<T: for<'b> FromPyObject<'b, 'py>>(
        &mut self,
        name: &Bound<'py, PyString>,
        default: Option<fn() -> T>,
    ) -> PyResult<T> {
        match self.given.map(|given| given.get_item(name)).transpose()?.flatten() {
            Some(value) => {
                self.taken += 1;
                value.extract().map_err(Into::into)
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

/// A struct of keyword arguments. Those with a default may be left out.
macro_rules! keywords {
    ($(#[$doc:meta])* $name:ident { $($field:ident: $type:ty $(= $default:expr)?,)* }) => {
        $(#[$doc])*
        struct $name { $($field: $type,)* }

        impl $name {
            fn of<'py>(py: Python<'py>, given: Option<&Bound<'py, PyDict>>) -> PyResult<Self> {
                let mut keywords = $crate::arguments::Keywords::new(given);
                $(let $field: $type = keywords.take(
                    pyo3::intern!(py, stringify!($field)),
                    $crate::arguments::keywords!(@default $($default)?),
                )?;)*
                keywords.finish()?;
                Ok(Self { $($field,)* })
            }
        }
    };
    (@default) => { None };
    (@default $default:expr) => { Some(|| $default) };
}

/// Adds functions to a module.
macro_rules! add_functions {
    ($module:ident: $($name:ident),* $(,)?) => {{
        $($module.add_function(wrap_pyfunction!($name, $module)?)?;)*
        Ok(())
    }};
}

pub(crate) use {add_functions, keywords};
