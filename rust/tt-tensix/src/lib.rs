//! The compute engine of one Tensix core: unpacker, registers, matrix unit, vector unit, packer.

pub mod fpu;
pub mod regs;
pub mod sfpu;
