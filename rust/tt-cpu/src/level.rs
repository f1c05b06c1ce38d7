//! CPU levels: the widest vectors that kernels may use on this host.
//!
//! The level changes speed, never results. It is chosen once for the process and can be lowered, for tests and to
//! compare machines.
use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

/// A set of CPU features that kernels are compiled for.
///
/// Later ones on the same architecture contain earlier ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Level {
    /// What every CPU of the architecture has.
    Scalar,
    /// x86-64 with AVX2, FMA, BMI1, BMI2 and LZCNT.
    Avx2,
    /// x86-64 with AVX-512 F, CD, BW, DQ and VL besides.
    Avx512,
    /// 64-bit Arm with Advanced SIMD.
    Neon,
}

/// Error for a name of no level, or of an unavailable one.
///
/// Unavailable: this host does not have it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LevelError {
    /// No level has this name.
    #[error("'{0}' is not a CPU level; levels are scalar, avx2, avx512, neon")]
    Unknown(String),
    /// The host lacks the features.
    #[error("CPU level '{wanted}' is not available here; this CPU has {available}")]
    Unsupported {
        /// The level asked for.
        wanted: Level,
        /// Names of the levels that the host has.
        available: String,
    },
}

const UNSET: u8 = u8::MAX;
static CURRENT: AtomicU8 = AtomicU8::new(UNSET);

impl Level {
    /// Every level of every architecture.
    pub const ALL: [Self; 4] = [Self::Scalar, Self::Avx2, Self::Avx512, Self::Neon];

    /// The level's name in switches and reports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Scalar => "scalar",
            Self::Avx2 => "avx2",
            Self::Avx512 => "avx512",
            Self::Neon => "neon",
        }
    }

    /// The best level that this host has.
    #[inline]
    pub fn detected() -> Self {
        static DETECTED: OnceLock<Level> = OnceLock::new();
        *DETECTED.get_or_init(|| at_most(detect()))
    }

    /// The levels that this host has, narrowest first.
    pub fn supported() -> &'static [Self] {
        match Self::detected() {
            Self::Scalar => &[Self::Scalar],
            Self::Avx2 => &[Self::Scalar, Self::Avx2],
            Self::Avx512 => &[Self::Scalar, Self::Avx2, Self::Avx512],
            Self::Neon => &[Self::Scalar, Self::Neon],
        }
    }

    /// True if this host has the level.
    #[inline]
    pub fn is_supported(self) -> bool {
        match (self, Self::detected()) {
            (Self::Scalar, _) | (Self::Avx2, Self::Avx512) => true,
            (level, detected) => level == detected,
        }
    }

    /// This level, or the detected one if the host lacks it.
    ///
    /// The level of every kernel call passes through here.
    #[inline]
    #[must_use]
    pub fn available(self) -> Self {
        if self.is_supported() { self } else { Self::detected() }
    }

    /// The level that kernels use: the detected one unless [`Level::set_current`] chose another.
    #[inline]
    pub fn current() -> Self {
        match CURRENT.load(Ordering::Relaxed) {
            0 => Self::Scalar,
            1 => Self::Avx2,
            2 => Self::Avx512,
            3 => Self::Neon,
            _ => Self::detected(),
        }
    }

    /// Chooses the level for all kernels from now on.
    ///
    /// # Errors
    /// [`LevelError::Unsupported`] if the host does not have it.
    pub fn set_current(level: Self) -> Result<(), LevelError> {
        if !level.is_supported() {
            let available = Self::supported().iter().map(|level| level.name()).collect::<Vec<_>>().join(", ");
            return Err(LevelError::Unsupported { wanted: level, available });
        }
        CURRENT.store(level as u8, Ordering::Relaxed);
        Ok(())
    }
}

impl fmt::Display for Level {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl std::str::FromStr for Level {
    type Err = LevelError;

    fn from_str(name: &str) -> Result<Self, LevelError> {
        Self::ALL.into_iter().find(|level| level.name() == name).ok_or_else(|| LevelError::Unknown(name.to_owned()))
    }
}

/// In debug builds, `TT_CPU_AT_MOST` names the highest level that this host is said to have, so that tests can run as they
/// would on a smaller CPU.
fn at_most(detected: Level) -> Level {
    let wanted = if cfg!(debug_assertions) { std::env::var("TT_CPU_AT_MOST").ok() } else { None };
    match (wanted.map(|name| name.parse().expect("TT_CPU_AT_MOST is a CPU level")), detected) {
        (Some(Level::Scalar), _) => Level::Scalar,
        (Some(Level::Avx2), Level::Avx512) => Level::Avx2,
        _ => detected,
    }
}

#[cfg(target_arch = "x86_64")]
fn detect() -> Level {
    macro_rules! has_all {
        ($($feature:tt)*) => { $(std::arch::is_x86_feature_detected!($feature))&&* };
    }
    if !has_all!("avx2" "fma" "bmi1" "bmi2" "lzcnt") {
        Level::Scalar
    } else if has_all!("avx512f" "avx512cd" "avx512bw" "avx512dq" "avx512vl") {
        Level::Avx512
    } else {
        Level::Avx2
    }
}

#[cfg(target_arch = "aarch64")]
fn detect() -> Level {
    if std::arch::is_aarch64_feature_detected!("neon") { Level::Neon } else { Level::Scalar }
}

#[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
fn detect() -> Level {
    Level::Scalar
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_levels_are_inverse() {
        for level in Level::ALL {
            assert_eq!(level.name().parse(), Ok(level));
        }
        let error = "sse9".parse::<Level>().expect_err("no such level");
        assert_eq!(error.to_string(), "'sse9' is not a CPU level; levels are scalar, avx2, avx512, neon");
    }

    #[test]
    fn the_detected_level_is_the_last_supported_one() {
        assert_eq!(Level::supported().last(), Some(&Level::detected()));
        assert!(Level::Scalar.is_supported());
        assert!(Level::ALL.into_iter().all(|level| level.available().is_supported()));
    }

    #[test]
    fn a_level_of_another_architecture_is_refused() {
        let foreign = if cfg!(target_arch = "aarch64") { Level::Avx2 } else { Level::Neon };
        let error = Level::set_current(foreign).expect_err("not on this host");
        assert!(
            error.to_string().starts_with(&format!("CPU level '{foreign}' is not available here; this CPU has scalar"))
        );
    }
}
