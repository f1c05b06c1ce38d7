//! Time queries of the run.
//!
//! Cost of a call for its RISC, end of a transfer, cost of a tile operation. The figures are those of `tt-noc` and
//! `tt-perf`; nothing in this crate knows a number of cycles.

use tt_memory::chip::ChipSpec;
use tt_noc::{Noc, NocId, Node, Transfer};
use tt_perf::{ComputeCosts, CoreCosts, Costs, LaunchCosts, RiscCosts, SfpuCost};

use crate::error::FaultKind;

/// The target of NoC coordinates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The L1 bank of a worker core.
    Worker(usize),
    /// A DRAM bank.
    Dram(usize),
}

/// Cycles that a kernel may run ahead before it yields.
pub const QUANTUM: u64 = 500;

/// The networks and the costs of a run.
#[derive(Debug)]
pub struct Time {
    noc: Noc,
    costs: &'static Costs,
    /// Place of each L1 bank's core.
    workers: Vec<Node>,
    /// Place of each DRAM bank.
    banks: Vec<Node>,
}

/// The addressing of a command's other side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Naming {
    /// By its NoC address.
    Address,
    /// By a page of a buffer, whose address is computed first.
    Page,
}

impl Time {
    /// Idle networks.
    pub fn new(chip: &'static ChipSpec) -> Self {
        let noc = Noc::new(chip);
        let layout = noc.layout();
        let worker = |bank| chip.l1_bank_core(bank).and_then(|core| layout.worker(core));
        let workers = (0..chip.grid.cores()).map_while(worker).collect();
        let banks = (0..chip.dram_banks()).map_while(|bank| layout.bank(bank)).collect();
        Self { noc, costs: Costs::of(chip.arch), workers, banks }
    }

    /// Returns the costs of calls for their RISC.
    #[inline]
    pub fn risc(&self) -> &'static RiscCosts {
        &self.costs.risc
    }

    /// Returns the costs of instructions.
    pub fn core(&self) -> &'static CoreCosts {
        &self.costs.core
    }

    /// Returns the costs of tile operations for unpackers, FPU and packers.
    #[inline]
    pub fn compute(&self) -> &'static ComputeCosts {
        &self.costs.compute
    }

    /// Returns the costs of starting and ending kernels.
    pub fn launch(&self) -> &'static LaunchCosts {
        &self.costs.launch
    }

    fn node(&self, target: Target) -> Node {
        match target {
            Target::Worker(bank) => self.workers[bank],
            Target::Dram(bank) => self.banks[bank],
        }
    }

    /// Returns a command's cost for its RISC until the interface has it.
    #[inline]
    pub fn command(&self, naming: Naming) -> u64 {
        match naming {
            Naming::Address => self.costs.risc.noc_command,
            Naming::Page => self.costs.risc.noc_page_command,
        }
    }

    /// A read of `bytes` by L1 bank `reader`, issued at `at`.
    pub fn read(&mut self, noc: u8, reader: usize, owner: Target, bytes: u32, at: u64) -> Transfer {
        let (reader, owner) = (self.workers[reader], self.node(owner));
        self.noc.read(at, network(noc), reader, owner, bytes.into())
    }

    /// A write of `bytes` by the core of L1 bank `writer`.
    pub fn write(&mut self, noc: u8, writer: usize, to: Target, bytes: u32, at: u64) -> Transfer {
        let (writer, to) = (self.workers[writer], self.node(to));
        self.noc.write(at, network(noc), writer, to, bytes.into(), false)
    }

    /// A write of `bytes` by L1 bank `writer` to `receivers`.
    ///
    /// These are L1 banks, too.
    pub fn multicast(
        &mut self,
        noc: u8,
        writer: usize,
        receivers: &[usize],
        bytes: u32,
        linked: bool,
        at: u64,
    ) -> Transfer {
        let receivers: Vec<Node> = receivers.iter().map(|&bank| self.workers[bank]).collect();
        self.noc.multicast(at, network(noc), self.workers[writer], &receivers, bytes.into(), linked, false)
    }

    /// A word that the core of L1 bank `from` writes.
    pub fn inline_write(&mut self, noc: u8, from: usize, to: Target, at: u64) -> Transfer {
        let (from, to) = (self.workers[from], self.node(to));
        self.noc.inline_write(at, network(noc), from, to, false)
    }

    /// A word that the core of L1 bank `from` adds to.
    pub fn atomic(&mut self, noc: u8, from: usize, to: Target, at: u64) -> Transfer {
        let (from, to) = (self.workers[from], self.node(to));
        self.noc.atomic(at, network(noc), from, to, false)
    }

    /// An SFPU function of the listings on a tile.
    ///
    /// # Errors
    /// Nobody has counted its cycles.
    pub fn vector(&self, function: &str, approximate: bool, wide: bool) -> Result<u64, FaultKind> {
        let cost = self.costs.sfpu.tile(function, approximate, wide);
        cost.map(SfpuCost::cycles)
            .ok_or_else(|| FaultKind::Bug(format!("no cycles are known for SFPU function {function}")))
    }

    /// Bytes that each network has carried.
    pub fn noc_bytes(&self) -> [u64; 2] {
        NocId::ALL.map(|noc| self.noc.totals(noc).bytes)
    }

    /// Bytes that each DRAM bank has read and written.
    pub fn bank_bytes(&self) -> Vec<[u64; 2]> {
        let loads = (0..self.banks.len()).filter_map(|bank| self.noc.bank_load(bank));
        loads.map(|load| [load.read, load.written]).collect()
    }

    /// The networks, for reports.
    pub fn noc(&self) -> &Noc {
        &self.noc
    }
}

/// The network with this number; callers have checked that it is 0 or 1.
fn network(noc: u8) -> NocId {
    if noc == 0 { NocId::Noc0 } else { NocId::Noc1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tt_formats::Arch;
    use tt_memory::chip::CHIPS;
    use tt_sfpu::{binary_functions, functions, ternary_functions, tile};

    #[test]
    fn every_sfpu_function_has_cycles_and_an_unknown_one_is_an_error() {
        let all = [Arch::Wormhole, Arch::Blackhole].into_iter().flat_map(|arch| {
            let unary = functions(arch).map(|function| function.name);
            let binary = binary_functions(arch).map(|function| function.name);
            unary.chain(binary).chain(ternary_functions(arch).map(|function| function.name))
        });
        let all = all.chain(tile::all().map(|function| function.name));
        let time = Time::new(CHIPS[0]);
        let missing: Vec<&str> =
            all.chain(["fill", "copy"]).filter(|name| time.vector(name, false, false).is_err()).collect();
        assert!(missing.is_empty(), "no cycles: {missing:?}");
        assert!(matches!(time.vector("no such function", false, false), Err(FaultKind::Bug(_))));
    }
}
