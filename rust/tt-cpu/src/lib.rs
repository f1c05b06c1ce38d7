//! Host services of the engine.
//!
//! CPU levels, vector dispatch, a worker pool, reserved memory.
#![allow(unsafe_code, reason = "vector dispatch and reserved memory; each block carries its proof")]
#![allow(clippy::macro_metavars_in_unsafe, reason = "bodies that `lanes!` wraps are expressions of this workspace")]

pub mod arena;
pub mod bits;
pub mod convert;
pub mod level;
pub mod pool;
pub mod scratch;
pub mod simd;
pub mod stream;
pub mod table;
pub mod vector;

pub use level::Level;
