//! A unary function, its entry and how it is applied to `Dst`.
//!
//! An entry is data: the names, what the parameters are, the definition compiled for each width and CPU level, and one
//! field for each faster way. In a 16-bit `Dst` a word can only be one of 65,536, so there the definition is run once
//! over all of them and looked up afterwards.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tt_cpu::Level;
use tt_cpu::table::HalfTable;
use tt_formats::Arch;

use super::bf16::Bf16Step;
use super::kernels::{Kernel, Speculative};

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

type Table = Arc<HalfTable>;

/// A listing's function on each generation that has it: on Wormhole, on Blackhole.
pub(crate) type Row<F> = [Option<F>; 2];

/// A unary function of the SFPU.
#[derive(Clone, Copy)]
pub struct Function {
    /// Operation, as in the specification's listings.
    pub name: &'static str,
    /// Variant, as there; `default` if the listings' variants differ only by parameters.
    pub variant: &'static str,
    /// The generation whose primitives it has.
    pub generation: Arch,
    /// Generations whose kernel has these steps.
    ///
    /// Each runs them with its own primitives.
    pub generations: &'static [Arch],
    /// The names of the parameters, each a raw word.
    ///
    /// FP32 bits or an integer.
    pub parameters: &'static [&'static str],
    /// The definition in a 16-bit and in a 32-bit `Dst`, at every CPU level.
    pub(crate) bits16: Kernel<0>,
    pub(crate) bits32: Kernel<0>,
    /// The speculative program in a 32-bit `Dst`.
    pub(crate) speculative: Option<Speculative<0>>,
    /// The same program on lanes that check its bounds.
    #[cfg(all(feature = "checked", target_arch = "x86_64"))]
    pub checked: Option<super::speculative::CheckedProgram>,
    /// Where the results of a 16-bit `Dst` are kept, if they are halves of words.
    pub(crate) table: Option<&'static OnceLock<Table>>,
    /// The step on BF16 lanes that the function is with some parameters.
    pub(crate) bf16: fn(&[u32]) -> Option<Bf16Step>,
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.name, self.variant)
    }
}

/// Parameters do not fit the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WrongParameters {
    /// The expected parameters.
    pub expected: &'static [&'static str],
    /// The number of parameters that were passed.
    pub given: usize,
}

impl fmt::Display for WrongParameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} parameters given, {} expected: {:?}", self.given, self.expected.len(), self.expected)
    }
}

impl std::error::Error for WrongParameters {}

/// A function with its parameters.
///
/// What is applied to every tile of a call.
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

    /// [`Call::run`] without the table.
    pub fn run_program(&self, dst: &mut [u32], width: DstWidth, level: Level) {
        let parameters = &self.parameters[..self.function.parameters.len()];
        let Function { bits16, bits32, speculative, .. } = self.function;
        match (width, speculative) {
            (DstWidth::Bits16, _) => bits16(dst, [], parameters, level),
            (DstWidth::Bits32, None) => bits32(dst, [], parameters, level),
            (DstWidth::Bits32, Some(program)) => program(dst, [], parameters, level, bits32),
        }
    }

    /// The generation whose function it is.
    pub fn arch(&self) -> Arch {
        self.function.generation
    }

    /// The call's BF16 lane step, if it is one.
    pub fn bf16(&self) -> Option<Bf16Step> {
        (self.function.bf16)(&self.parameters[..self.function.parameters.len()])
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
        type Key = (Arch, &'static str, &'static str, [u32; MAX_PARAMETERS]);
        static CACHE: Mutex<VecDeque<(Key, Table)>> = Mutex::new(VecDeque::new());
        let key = (self.function.generation, self.function.name, self.function.variant, self.parameters);
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

/// Lists a file's functions: name, variant, parameters, definition in 16-bit and in 32-bit `Dst`; then `speculative =
/// program` where the speculative lanes have a program of their own for the latter, and `bf16 = step`. `for Wormhole` or
/// `for Blackhole` behind the variant: the other generation's kernel has other steps, and an entry of its own.
macro_rules! functions {
    ($($list:tt)+) => {
        $crate::exec::list_of_unary! { [speculated, halves] $($list)+ }
    };
}

/// Lists a file's functions of integers and conversions: as `functions!`, with words that are no halves in a 16-bit
/// `Dst`, and for which speculation does not pay.
macro_rules! integer_functions {
    ($($list:tt)+) => {
        $crate::exec::list_of_unary! { [plain, words] $($list)+ }
    };
}

macro_rules! list_of_unary {
    ([$how:ident, $kept:ident]
     $($name:literal, $variant:literal $(for $only:ident)? $([$($parameter:ident),+])?: $bits16:expr, $bits32:expr
       $(, speculative = $program:expr)? $(, bf16 = $bf16:expr)?;)+) => {
        /// The functions of this file.
        pub(crate) static FUNCTIONS: &[$crate::exec::Row<$crate::exec::Function>] = &[$(
            $crate::exec::row! { [$($only)?]
                $crate::exec::unary! {
                    Wormhole, $how, $kept, $name, $variant, [$($only)?], [$($($parameter),+)?], $bits16, $bits32,
                    ($($program)?), ($($bf16)?)
                },
                $crate::exec::unary! {
                    Blackhole, plain, $kept, $name, $variant, [$($only)?], [$($($parameter),+)?], $bits16, $bits32,
                    (), ($($bf16)?)
                }
            }
        ),+];
    };
}

macro_rules! unary {
    ($generation:ident, $how:ident, $kept:ident, $name:literal, $variant:literal, [$($only:ident)?], $parameters:tt,
     $bits16:expr, $bits32:expr, ($($program:expr)?), ($($bf16:expr)?)) => {
        $crate::exec::Function {
            name: $name,
            variant: $variant,
            generation: tt_formats::Arch::$generation,
            generations: $crate::exec::generations!($($only)?),
            parameters: $crate::exec::parameter_names!($parameters),
            bits16: $crate::exec::kernels::exact!(tt_formats::$generation, [], $parameters, $bits16),
            bits32: $crate::exec::kernels::exact!(tt_formats::$generation, [], $parameters, $bits32),
            speculative: $crate::exec::kernels::speculative!($how, [], $parameters, ($($program)?) $bits32),
            #[cfg(all(feature = "checked", target_arch = "x86_64"))]
            checked: $crate::exec::kernels::checked!($how, [], $parameters, ($($program)?) $bits32),
            table: $crate::exec::table_of!($kept),
            bf16: $crate::exec::or_none!($($bf16)?),
        }
    };
}

/// The names of parameters.
macro_rules! parameter_names {
    ([$($parameter:ident),*]) => {
        &[$(stringify!($parameter)),*]
    };
}

/// The functions of a listing, on the generations that it is for.
macro_rules! row {
    ([] $wormhole:expr, $blackhole:expr) => {
        [Some($wormhole), Some($blackhole)]
    };
    ([Wormhole] $wormhole:expr, $blackhole:expr) => {
        [Some($wormhole), None]
    };
    ([Blackhole] $wormhole:expr, $blackhole:expr) => {
        [None, Some($blackhole)]
    };
}

/// The generations of a listing: both, or the one that its entry names.
macro_rules! generations {
    () => {
        &[tt_formats::Arch::Wormhole, tt_formats::Arch::Blackhole]
    };
    ($only:ident) => {
        &[tt_formats::Arch::$only]
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

/// The step on BF16 lanes of an entry.
macro_rules! or_none {
    () => {
        |_| None
    };
    ($step:expr) => {
        $step
    };
}

pub(crate) use {
    functions, generations, integer_functions, list_of_unary, or_none, parameter_names, row, table_of, unary,
};
