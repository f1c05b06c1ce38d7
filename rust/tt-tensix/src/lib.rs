//! The compute engine of one Tensix core: unpacker, registers, FPU (the matrix unit), SFPU (the
//! vector unit), packer.
#![allow(unsafe_code, reason = "calls of kernels compiled for a CPU level")]

pub mod fpu;
pub mod pack;
pub mod regs;
pub mod sfpu;
pub mod tile_io;
pub mod unpack;
mod vector;
