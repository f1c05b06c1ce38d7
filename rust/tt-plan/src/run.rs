//! Runs a plan.

use tt_noc::NocParameters;
use tt_perf::Costs;

use crate::agent::{Agent, Cb, Ledger, Role, Shared};
use crate::bounds::Traffic;
use crate::error::PlanError;
use crate::mechanisms::Mechanisms;
use crate::plan::{CoreGroup, Plan, Step};

/// The limit of an operation's time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// DRAM banks.
    Dram,
    /// Banks of interleaved L1.
    L1,
    /// The compute kernel.
    Compute,
    /// The kernel that brings operands.
    Reader,
    /// The kernel that takes results away.
    Writer,
}

/// End of a group's kernels, in cycles after the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupTime {
    /// Cores.
    pub cores: u64,
    /// Reader, unpack, math, pack, writer.
    pub ends: [u64; 5],
    /// Cycles in which they did not wait for each other.
    pub busy: [u64; 5],
}

/// The time of a device operation.
#[derive(Debug, Clone, PartialEq)]
pub struct Timing {
    /// From the first core's start to the last one's end.
    pub cycles: u64,
    /// The limit.
    pub bound: Bound,
    /// Each group.
    pub groups: Vec<GroupTime>,
    /// Bytes read from DRAM.
    pub dram_read_bytes: u64,
    /// Bytes written to DRAM.
    pub dram_write_bytes: u64,
    /// Bytes moved between cores.
    pub l1_bytes: u64,
}

/// The time of a plan.
///
/// # Errors
/// A function without cycles, or kernels that wait for each other.
pub fn time(plan: &Plan) -> Result<Timing, PlanError> {
    time_with(plan, Mechanisms::of(plan.arch))
}

/// [`time`] with other figures, for fits.
///
/// # Errors
/// As [`time`].
pub fn time_with(plan: &Plan, mechanisms: &Mechanisms) -> Result<Timing, PlanError> {
    let costs = Costs::of(plan.arch);
    let semaphores = count(plan)?;
    let buffers: Vec<Cb> = plan.cbs.iter().map(|&pages| Cb { pages, ..Cb::default() }).collect();
    let mut shared = Shared {
        costs,
        noc: NocParameters::of(plan.arch),
        mechanisms,
        cbs: vec![buffers; plan.groups.len()],
        semaphores: vec![Ledger::default(); semaphores],
    };
    let mut agents = Vec::new();
    let mut cores = 0;
    for (number, group) in plan.groups.iter().enumerate() {
        cores += group.cores;
        let start = mechanisms.start + (mechanisms.skew * cores as f64) as u64;
        for (role, steps) in kernels(group) {
            agents.push(Agent::new(number, role, steps, start, plan.cbs.len(), semaphores));
        }
    }
    while agents.iter().any(|agent| !agent.finished()) {
        let mut moved = false;
        for agent in &mut agents {
            moved |= agent.advance(&mut shared)?;
        }
        if !moved && let Some(agent) = agents.iter().find(|agent| !agent.finished()) {
            return Err(PlanError::Stuck { group: agent.group });
        }
    }
    Ok(summary(plan, mechanisms, &agents))
}

fn kernels(group: &CoreGroup) -> [(Role, &[Step]); 3] {
    [(Role::Reader, &group.reader), (Role::Compute, &group.compute), (Role::Writer, &group.writer)]
}

/// Number of semaphores.
fn count(plan: &Plan) -> Result<usize, PlanError> {
    fn walk(steps: &[Step], buffers: usize, most: &mut usize) -> Result<(), PlanError> {
        for step in steps {
            match *step {
                Step::Loop(_, ref inner) => walk(inner, buffers, most)?,
                Step::Signal(number) | Step::Wait(number) => *most = (*most).max(number + 1),
                Step::Reserve(cb, _) | Step::Push(cb, _) | Step::Await(cb, _) | Step::Pop(cb, _) if cb >= buffers => {
                    return Err(PlanError::NoBuffer { cb });
                }
                _ => {}
            }
        }
        Ok(())
    }
    let mut most = 0;
    for group in &plan.groups {
        for (_, steps) in kernels(group) {
            walk(steps, plan.cbs.len(), &mut most)?;
        }
    }
    Ok(most)
}

fn summary(plan: &Plan, mechanisms: &Mechanisms, agents: &[Agent<'_>]) -> Timing {
    let traffic = Traffic::of(plan, mechanisms);
    let groups: Vec<GroupTime> = agents
        .chunks(3)
        .zip(&plan.groups)
        .map(|(agents, group)| {
            let [reader, compute, writer] = agents else { unreachable!("three kernels of each group") };
            let [unpack, math, pack] = compute.clocks;
            let busy = compute.busy;
            GroupTime {
                cores: group.cores,
                ends: [reader.clocks[0], unpack, math, pack, writer.clocks[0]],
                busy: [reader.busy[0], busy[0], busy[1], busy[2], writer.busy[0]],
            }
        })
        .collect();
    let alone = agents.iter().map(Agent::end).max().unwrap_or_default();
    let first = mechanisms.start + mechanisms.dram_read;
    let dram = if traffic.dram(plan) > 0 { first + traffic.dram(plan) } else { 0 };
    let l1 = if traffic.l1(plan) > 0 { mechanisms.start + mechanisms.l1_read + traffic.l1(plan) } else { 0 };
    let cycles = together([alone, dram, l1], mechanisms.queue) + Costs::of(plan.arch).launch.kernel_end;
    let bound = if dram >= alone && dram >= l1 {
        Bound::Dram
    } else if l1 >= alone {
        Bound::L1
    } else {
        slowest(&groups)
    };
    Timing {
        cycles,
        bound,
        groups,
        dram_read_bytes: traffic.dram_read,
        dram_write_bytes: traffic.dram_write,
        l1_bytes: traffic.l1,
    }
}

/// The time under several bounds. Where they meet queues form, so that it is not the maximum but a mean of them: 110
/// cores that each wait for one page at a time reach 86 % of what DRAM or their round trips allow.
fn together(bounds: [u64; 3], exponent: i32) -> u64 {
    let largest = bounds.into_iter().max().unwrap_or_default();
    if largest == 0 {
        return 0;
    }
    let share = |bound: u64| (bound as f64 / largest as f64).powi(exponent);
    (largest as f64 * bounds.into_iter().map(share).sum::<f64>().powf(1.0 / f64::from(exponent))).round() as u64
}

/// The kernel that waits least for others in the group that ends last.
fn slowest(groups: &[GroupTime]) -> Bound {
    let last = groups.iter().max_by_key(|group| group.ends.into_iter().max());
    let Some(group) = last else { return Bound::Reader };
    let compute = group.busy[1].max(group.busy[2]).max(group.busy[3]);
    let end = group.ends.into_iter().max().unwrap_or_default();
    if 2 * compute >= end {
        Bound::Compute
    } else if group.ends[0] >= group.busy[4].max(compute) && group.busy[0] >= group.busy[4] {
        Bound::Reader
    } else {
        Bound::Writer
    }
}
