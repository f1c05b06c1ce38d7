//! The compute engine of one Tensix core: unpacker, registers, matrix unit, vector unit, packer.

pub mod regs;
