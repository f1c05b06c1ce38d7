//! Resources shared by all cores.
//!
//! DRAM banks and the banks of interleaved L1.

use crate::mechanisms::Mechanisms;
use crate::plan::{Place, Plan, Step, Transfer};

/// Bytes that an operation moves.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(crate) struct Traffic {
    pub(crate) dram_read: u64,
    pub(crate) dram_write: u64,
    pub(crate) l1: u64,
    /// Cycles of all DRAM banks together.
    dram_cycles: f64,
    l1_cycles: f64,
}

impl Traffic {
    pub(crate) fn of(plan: &Plan, mechanisms: &Mechanisms) -> Self {
        let mut traffic = Self::default();
        let (mut read, mut write) = (0.0, 0.0);
        for group in &plan.groups {
            for steps in [&group.reader, &group.writer] {
                each(steps, group.cores, &mut |transfer, count, writes| {
                    let bytes = count * transfer.pages * transfer.page_bytes;
                    let pages = (count * transfer.pages) as f64;
                    match (transfer.place, writes) {
                        (Place::Dram, false) => {
                            traffic.dram_read += bytes;
                            let slow = transfer.in_step as f64 / 100.0;
                            read +=
                                service(bytes, pages, mechanisms.bank_read, mechanisms.bank_page_read) * slow.max(1.0);
                        }
                        (Place::Dram | Place::DramOwn, true) => {
                            traffic.dram_write += bytes;
                            write += service(bytes, pages, mechanisms.bank_write, mechanisms.bank_page_write);
                        }
                        (Place::DramOwn, false) => {
                            traffic.dram_read += bytes;
                            read += service(bytes, pages, mechanisms.bank_read_own, mechanisms.bank_page_read);
                        }
                        (Place::DramOther, false) => {
                            traffic.dram_read += bytes;
                            read += service(bytes, pages, mechanisms.bank_read_other, mechanisms.bank_page_read);
                        }
                        (Place::DramOther, true) => {
                            traffic.dram_write += bytes;
                            write += service(bytes, pages, mechanisms.bank_write_other, mechanisms.bank_page_write);
                        }
                        (Place::L1, _) => {
                            traffic.l1 += bytes;
                            traffic.l1_cycles += bytes as f64 / mechanisms.l1_bank;
                        }
                        (Place::Local, _) => {}
                    }
                });
            }
        }
        let mixed = if read > 0.0 && write > 0.0 { mechanisms.turn } else { 1.0 };
        traffic.dram_cycles = (read + write) * mixed;
        traffic
    }

    /// Cycles of the busiest DRAM bank.
    pub(crate) fn dram(&self, plan: &Plan) -> u64 {
        (self.dram_cycles / plan.banks.max(1) as f64).ceil() as u64
    }

    /// Cycles of the busiest bank of interleaved L1.
    pub(crate) fn l1(&self, plan: &Plan) -> u64 {
        (self.l1_cycles / plan.l1_banks.max(1) as f64).ceil() as u64
    }
}

/// Cycles that banks need for pages.
fn service(bytes: u64, pages: f64, rate: f64, least: f64) -> f64 {
    (bytes as f64 / rate).max(pages * least)
}

/// Calls `visit` with every transfer, how often all cores make it, and whether it writes.
fn each(steps: &[Step], count: u64, visit: &mut impl FnMut(&Transfer, u64, bool)) {
    for step in steps {
        match step {
            Step::Loop(times, inner) => each(inner, count * times, visit),
            Step::Read(transfer) => visit(transfer, count, false),
            Step::Write(transfer) => visit(transfer, count, true),
            _ => {}
        }
    }
}
