//! One safe body, compiled once per CPU level.

/// Compiles a function for every CPU level and writes a module with the results.
///
/// `simd_kernel!(name, body, (a: &[u32], b: &mut [u32]))` makes the module `name` with
/// - `run(level, a, b)`: calls the version for the level, or for the best level that the host has;
/// - `at(level)`: that version as a function pointer, to be chosen once and called often.
///
/// `simd_kernel!(name<G: Rules>, body, ..)` has both for every type `G`, for which `body::<G>` is compiled.
///
/// The body must be `#[inline(always)]` as everything it calls, so that the compiler sees it inside each version. All
/// versions return the same bits, since the compiler neither reorders nor fuses floating-point steps.
#[macro_export]
macro_rules! simd_kernel {
    (
        $(#[$attribute:meta])* $name:ident $(<$generic:ident: $bound:path>)?, $body:path,
        ($($argument:ident: $type:ty),* $(,)?) $(-> $result:ty)?
    ) => {
        $(#[$attribute])*
        #[allow(unused_imports, dead_code, missing_docs, clippy::wildcard_imports, reason = "one shape for every kernel")]
        pub mod $name {
            use super::*;
            use $crate::level::Level;

            /// A version of the kernel.
            ///
            /// To be called only on a CPU that has its level.
            pub type Kernel = unsafe fn($($type),*) $(-> $result)?;

            fn scalar$(<$generic: $bound>)?($($argument: $type),*) $(-> $result)? {
                $body($($argument),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma,bmi1,bmi2,lzcnt")]
            fn avx2$(<$generic: $bound>)?($($argument: $type),*) $(-> $result)? {
                $body($($argument),*)
            }

            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx2,fma,bmi1,bmi2,lzcnt")]
            fn avx512$(<$generic: $bound>)?($($argument: $type),*) $(-> $result)? {
                $body($($argument),*)
            }

            #[cfg(target_arch = "aarch64")]
            #[target_feature(enable = "neon")]
            fn neon$(<$generic: $bound>)?($($argument: $type),*) $(-> $result)? {
                $body($($argument),*)
            }

            /// The version for a level.
            ///
            /// The best that the host has if it lacks the level.
            #[inline]
            pub fn at$(<$generic: $bound>)?(level: Level) -> Kernel {
                match level.available() {
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx512 => avx512$(::<$generic>)?,
                    #[cfg(target_arch = "x86_64")]
                    Level::Avx2 => avx2$(::<$generic>)?,
                    #[cfg(target_arch = "aarch64")]
                    Level::Neon => neon$(::<$generic>)?,
                    _ => scalar$(::<$generic>)?,
                }
            }

            /// Calls the version for a level.
            #[inline]
            pub fn run$(<$generic: $bound>)?(level: Level, $($argument: $type),*) $(-> $result)? {
                // SAFETY: `at` returns only versions of levels that were detected on this host.
                unsafe { at$(::<$generic>)?(level)($($argument),*) }
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use crate::level::Level;

    #[inline(always)]
    fn axpy_body(a: f32, x: &[f32], y: &mut [f32]) {
        for (x, y) in x.iter().zip(y) {
            *y += a * x;
        }
    }

    simd_kernel!(axpy, super::axpy_body, (a: f32, x: &[f32], y: &mut [f32]));

    #[inline(always)]
    fn sum_body(x: &[u32]) -> u32 {
        x.iter().fold(0, |sum, x| sum.wrapping_add(*x))
    }

    simd_kernel!(sum, super::sum_body, (x: &[u32]) -> u32);

    #[test]
    fn every_level_returns_the_same_bits() {
        // 1 + 2^-12 squared needs 25 bits: a fused multiply-add would keep the last one.
        let x: Vec<f32> = (0..1000).map(|i| 1.0 + f32::from(i as u16 + 1) / 4096.0).collect();
        let run = |level| {
            let mut y = vec![-1.0; x.len()];
            axpy::run(level, 1.0 + 1.0 / 4096.0, &x, &mut y);
            y
        };
        let expected = run(Level::Scalar);
        assert!(expected[0] == 2.0f32.powi(-11), "the product was rounded before the addition");
        for &level in Level::supported() {
            assert_eq!(run(level), expected, "{level}");
        }
    }

    #[test]
    fn results_pass_through_and_missing_levels_fall_back() {
        for level in Level::ALL {
            assert_eq!(sum::run(level, &[1, 2, 3]), 6);
        }
    }
}
