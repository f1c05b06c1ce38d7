//! Operators as the device programs execute them.
//!
//! Each module is one family: it takes the blocking and the formats that the program states, reads pages of the input
//! buffers, runs the tile steps of `tt-tensix` in the program's order and claims pages of the output buffer. Work is
//! split over output pages, never inside a sum, so the number of threads cannot change a bit.

mod activation;
pub mod argmax;
pub mod attention;

pub mod binary;
mod broadcast;
mod chain;
pub mod collective;
pub mod embedding_backward;
mod error;
pub mod experts;
pub mod fill;
pub mod group_norm;
mod half_table;
pub mod indexed;
mod lanes;
pub mod matmul;
pub mod matmul_fast;
mod moments;
pub mod movement;
mod operand;
mod pages;
pub mod pipeline;
pub mod random;
pub mod reduce;
pub mod rotate;
pub mod row_gather;
pub mod row_writes;
pub mod sort;
pub mod sticks;
pub mod ternary;
pub mod unary;
pub mod windows;

pub use chain::{Chain, ChainStep};
pub use error::OpError;

use pages::for_each_page;
