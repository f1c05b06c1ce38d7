//! How a vector function is applied to `Dst`: one lane program for each width, compiled once per CPU level.
//!
//! In a 16-bit `Dst` a word can only be one of 65,536, so there the program is run once over all of them and looked up
//! afterwards; the table holds the same bits by construction.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tt_cpu::Level;
use tt_cpu::table::HalfTable;

/// Width of the `Dst` words that a vector function loads and stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DstWidth {
    /// BF16 in the upper half of each word.
    Bits16,
    /// FP32 or integers.
    Bits32,
}

/// Most parameters that a function takes.
pub const MAX_PARAMETERS: usize = 4;
/// Tables of parameterised functions that are kept; 128 KiB each.
const CACHED_TABLES: usize = 64;

pub(crate) type Kernel = fn(&mut [u32], &[u32], Level);
type Table = Arc<HalfTable>;

/// A unary function of the vector unit.
#[derive(Clone, Copy)]
pub struct Function {
    /// Operation, as in the specification's listings.
    pub name: &'static str,
    /// Variant, as there; `default` if the listings' variants differ only by parameters.
    pub variant: &'static str,
    /// What the parameters are, each a raw word: FP32 bits or an integer.
    pub parameters: &'static [&'static str],
    pub(crate) bits16: Kernel,
    pub(crate) bits32: Kernel,
    /// Where the results of a 16-bit `Dst` are kept, if they are halves of words.
    pub(crate) table: Option<&'static OnceLock<Table>>,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.name, self.variant)
    }
}

/// Parameters do not fit the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongParameters {
    /// What the function takes.
    pub expected: &'static [&'static str],
    /// How many were given.
    pub given: usize,
}

impl fmt::Display for WrongParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} parameters given, {} expected: {:?}", self.given, self.expected.len(), self.expected)
    }
}

impl std::error::Error for WrongParameters {}

/// A function with its parameters: what is applied to every tile of a call.
#[derive(Clone, Debug)]
pub struct Call {
    function: Function,
    parameters: [u32; MAX_PARAMETERS],
    /// Looked up when a 16-bit `Dst` first asks for it.
    table: OnceLock<Table>,
}

impl Call {
    /// Replaces every word of `dst`.
    pub fn run(&self, dst: &mut [u32], width: DstWidth, level: Level) {
        match (width == DstWidth::Bits16).then(|| self.table()).flatten() {
            Some(table) => table.look_up_upper_halves(level, dst),
            None => self.run_program(dst, width, level),
        }
    }

    /// [`Call::run`] without the table: the lane program itself.
    pub fn run_program(&self, dst: &mut [u32], width: DstWidth, level: Level) {
        let parameters = &self.parameters[..self.function.parameters.len()];
        match width {
            DstWidth::Bits32 => (self.function.bits32)(dst, parameters, level),
            DstWidth::Bits16 => (self.function.bits16)(dst, parameters, level),
        }
    }

    /// The results for all 65,536 words of a 16-bit `Dst`, in the upper half's order. `None` for functions of integers
    /// and conversions to them, whose words are not halves.
    fn table(&self) -> Option<&HalfTable> {
        let of_function = self.function.table?;
        Some(self.table.get_or_init(|| {
            if self.function.parameters.is_empty() {
                of_function.get_or_init(|| self.make_table()).clone()
            } else {
                self.cached_table()
            }
        }))
    }

    fn make_table(&self) -> Table {
        let mut words: Vec<u32> = (0..=0xffff).map(|word: u32| word << 16).collect();
        self.run_program(&mut words, DstWidth::Bits16, Level::current());
        Arc::new(words.iter().map(|&word| (word >> 16) as u16).collect())
    }

    /// Tables of parameterised functions are shared between calls while they are among the latest.
    fn cached_table(&self) -> Table {
        type Key = (&'static str, &'static str, [u32; MAX_PARAMETERS]);
        static CACHE: Mutex<VecDeque<(Key, Table)>> = Mutex::new(VecDeque::new());
        let key = (self.function.name, self.function.variant, self.parameters);
        let find = |cache: &VecDeque<(Key, Table)>| cache.iter().find(|(of, _)| *of == key).map(|(_, t)| t.clone());
        // The cache is whole at every moment, so that a panic elsewhere leaves it usable.
        let lock = || CACHE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(table) = find(&lock()) {
            return table;
        }
        let table = self.make_table();
        let mut cache = lock();
        if cache.len() == CACHED_TABLES {
            cache.pop_front();
        }
        cache.push_back((key, table.clone()));
        table
    }
}

impl Function {
    /// The function with its parameters.
    ///
    /// # Errors
    /// [`WrongParameters`] if their number is not that of [`Function::parameters`].
    pub fn with(&self, parameters: &[u32]) -> Result<Call, WrongParameters> {
        if parameters.len() != self.parameters.len() {
            return Err(WrongParameters { expected: self.parameters, given: parameters.len() });
        }
        let mut words = [0; MAX_PARAMETERS];
        words[..parameters.len()].copy_from_slice(parameters);
        Ok(Call { function: *self, parameters: words, table: OnceLock::new() })
    }

    /// Replaces every word of `dst`. For functions without parameters.
    ///
    /// # Panics
    /// If the function takes parameters.
    pub fn run(&self, dst: &mut [u32], width: DstWidth, level: Level) {
        self.with(&[]).unwrap_or_else(|error| panic!("{self:?}: {error}")).run(dst, width, level);
    }
}

/// Lists a file's functions: name, variant, parameters, lane program in 16-bit and in 32-bit `Dst`.
macro_rules! functions {
    ($($list:tt)+) => {
        $crate::sfpu::run::list_of_unary! { guessed, halves, $($list)+ }
    };
}

/// Lists a file's functions of integers and conversions: as `functions!`, with words that are no halves in a 16-bit
/// `Dst`.
macro_rules! integer_functions {
    ($($list:tt)+) => {
        $crate::sfpu::run::list_of_unary! { exactly, words, $($list)+ }
    };
}

macro_rules! list_of_unary {
    ($how:ident, $kept:ident,
     $($name:literal, $variant:literal $([$($parameter:ident),+])?: $bits16:expr, $bits32:expr;)+) => {
        /// The functions of this file.
        pub(crate) static FUNCTIONS: &[$crate::sfpu::run::Function] = &[$(
            $crate::sfpu::run::Function {
                name: $name,
                variant: $variant,
                parameters: &[$($(stringify!($parameter)),+)?],
                bits16: |dst, parameters, level| {
                    $crate::sfpu::lanes::each_lane!(exactly, level, dst, [], parameters, [$($($parameter),+)?], $bits16);
                },
                bits32: |dst, parameters, level| {
                    $crate::sfpu::lanes::each_lane!($how, level, dst, [], parameters, [$($($parameter),+)?], $bits32);
                },
                table: $crate::sfpu::run::table_of!($kept),
            }
        ),+];
    };
}

/// Where a function's table is kept, if its results in a 16-bit `Dst` are halves of words.
macro_rules! table_of {
    (halves) => {{
        static TABLE: std::sync::OnceLock<std::sync::Arc<tt_cpu::table::HalfTable>> = std::sync::OnceLock::new();
        Some(&TABLE)
    }};
    (words) => {
        None
    };
}

pub(crate) use {functions, integer_functions, list_of_unary, table_of};
