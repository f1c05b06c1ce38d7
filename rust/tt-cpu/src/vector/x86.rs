//! Shared code of the x86 levels.
//!
//! Operations that are one instruction, loads and stores.

/// Wraps intrinsics that are defined for all operands and touch no memory.
#[macro_export]
macro_rules! lanes {
    ($($(#[$doc:meta])* $visibility:vis $name:ident($($argument:ident: $type:ty),*) -> $result:ty = $body:expr;)*) => {$(
        $(#[$doc])*
        #[inline(always)]
        $visibility fn $name($($argument: $type),*) -> $result {
            // SAFETY: callers are compiled for this level, hence the CPU has the instruction.
            #[allow(unused_unsafe, reason = "plain expressions are among them")]
            unsafe {
                $body
            }
        }
    )*};
}

/// The implementation of [`super::Vector`] for a level: its types, its intrinsics for memory, its intrinsics of two
/// vectors and shifts by the names that they have here, and everything else as `lanes!` takes it.
macro_rules! x86_vector {
    (
        $name:ident: $lanes:literal, $int:ident, $float:ident, $mask:ident, rounds down: $down:literal;
        memory { $load:ident, $store:ident, $load_float:ident }
        integers { $($integer:ident = $of_integers:ident;)* }
        floats { $($number:ident = $of_floats:ident;)* }
        shifts { $($shift:ident = $by_count:ident;)* }
        others { $($others:tt)* }
        $(functions { $($functions:tt)* })?
    ) => {
        impl Vector for $name {
            type Int = $int;
            type Float = $float;
            type Mask = $mask;
            const LANES: usize = $lanes;
            const ROUNDS_DOWN: bool = $down;

            #[inline(always)]
            fn load(words: &[u32]) -> $int {
                let words: &[u32; $lanes] = words.first_chunk().expect("a vector's worth of words");
                // SAFETY: the array is as long as the vector; the CPU has the level, as in `lanes!`.
                unsafe { $load(words.as_ptr().cast()) }
            }
            #[inline(always)]
            fn store(vector: $int, words: &mut [u32]) {
                let words: &mut [u32; $lanes] = words.first_chunk_mut().expect("a vector's worth of words");
                // SAFETY: as for `load`.
                unsafe { $store(words.as_mut_ptr().cast(), vector) }
            }
            #[inline(always)]
            fn load_i32(words: &[i32]) -> $int {
                let words: &[i32; $lanes] = words.first_chunk().expect("a vector's worth of words");
                // SAFETY: as for `load`.
                unsafe { $load(words.as_ptr().cast()) }
            }
            #[inline(always)]
            fn load_float(words: &[f32]) -> $float {
                let words: &[f32; $lanes] = words.first_chunk().expect("a vector's worth of words");
                // SAFETY: as for `load`.
                unsafe { $load_float(words.as_ptr()) }
            }

            $crate::vector::x86::lanes! {
                $($integer(a: $int, b: $int) -> $int = $of_integers(a, b);)*
                $($number(a: $float, b: $float) -> $float = $of_floats(a, b);)*
                $($others)*
            }

            $($($functions)*)?

            $(
                #[inline(always)]
                fn $shift<const COUNT: u32>(a: $int) -> $int {
                    // SAFETY: as in `lanes!`.
                    unsafe { $by_count(a, _mm_cvtsi32_si128(COUNT as i32)) }
                }
            )*
        }
    };
}

pub use crate::lanes;
pub(crate) use x86_vector;
