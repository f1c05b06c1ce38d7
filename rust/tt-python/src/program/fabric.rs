//! Packets between chips.
//!
//! Calls of kernels, and delivery.
use std::collections::{BTreeMap, VecDeque};
use std::panic::{AssertUnwindSafe, catch_unwind};

use pyo3::prelude::*;
use pyo3::types::PyBytes;
use tt_program::fabric::{FabricSpec, Line, Node, Packet, decode, encode};

use super::{Answer, Checked, ProgramRun, calls, finish};
use crate::error::engine_bug;

calls! {
    local run {
        fabric_open(connection: u32) -> bool = run.fabric_open(connection);
        fabric_close(connection: u32) = run.fabric_close(connection);
        fabric_slots(connection: u32) -> u32 = run.fabric_slots(connection);
        fabric_direction(mesh: u32, device: u32) -> u32 = run.fabric_direction(mesh, device);
    }
    memory (run, device) {
        fabric_payload(connection: u32, source: u32, bytes: u32) =
            run.fabric_payload(device, connection, source, bytes);
    }
}

/// Mesh, device, place of the chip, distance, direction of the first hop.
type DeviceRow = (u32, u32, usize, u32, Option<u32>);

/// Direction of a connection, and the chips along it.
type LineRow = (u32, Vec<usize>);

#[pymethods]
impl ProgramRun {
    /// Sends a packet.
    fn fabric_send(
        &mut self,
        py: Python<'_>,
        connection: Checked<u32>,
        header: Checked<u32>,
        bytes: Checked<u32>,
    ) -> PyResult<bool> {
        let place = super::calling_place(py)?;
        let words = (connection.0, header.0, bytes.0);
        self.memory(py, |(run, device)| run.fabric_send(device, words, || Some(place)))
    }

    /// Connects the run to other chips: its first kernel's number, descriptions of all kernels, sizes of headers and
    /// payloads, connections, channels of mux cores with the connection that they forward to, devices, rows and columns
    /// of the system mesh, whether their ends are connected, and the place of the chip there.
    #[pyo3(signature = (first, kernels, sizes, connections, muxes, devices, grid, wraps, node))]
    #[allow(clippy::too_many_arguments, reason = "a specification, by name")]
    fn set_fabric(
        &mut self,
        first: usize,
        kernels: Vec<String>,
        sizes: (u32, u32),
        connections: BTreeMap<u32, LineRow>,
        muxes: BTreeMap<u32, u32>,
        devices: Vec<DeviceRow>,
        grid: (usize, usize),
        wraps: (bool, bool),
        node: (usize, usize),
    ) {
        let (header_bytes, max_payload) = sizes;
        let connections =
            connections.into_iter().map(|(number, (direction, chips))| (number, Line { direction, chips })).collect();
        let devices = devices
            .into_iter()
            .map(|(mesh, device, chip, hops, direction)| ((mesh, device), Node { chip, hops, direction }))
            .collect();
        let (chip, kernels) = (self.chip, kernels.into());
        self.run.set_fabric(FabricSpec {
            chip,
            node,
            header_bytes,
            max_payload,
            connections,
            muxes,
            devices,
            grid,
            wraps,
            first,
            kernels,
        });
    }

    /// Bytes of a packet header; 0 without a fabric.
    fn packet_header_bytes(&self) -> u32 {
        self.run.packet_header_bytes()
    }

    /// First L1 address of the room for packet headers.
    fn header_pool(&self) -> u32 {
        self.run.header_pool().start
    }
}

/// Packets on their way between the runs of a mesh.
///
/// Those of one kernel on one connection arrive in order; with a seed, others do not.
#[pyclass(module = "ttnn._engine")]
pub struct Mail {
    queues: BTreeMap<(usize, u32), VecDeque<Packet>>,
    random: Option<u64>,
}

impl Mail {
    /// The next packet to deliver, in the order of chips and kernels, or any with a seed.
    fn next(&mut self) -> Option<Packet> {
        let index = self.draw(self.queues.len());
        let key = *self.queues.keys().nth(index)?;
        let queue = self.queues.get_mut(&key)?;
        let packet = queue.pop_front();
        if queue.is_empty() {
            self.queues.remove(&key);
        }
        packet
    }

    fn add(&mut self, packets: Vec<Packet>) {
        for packet in packets {
            self.queues.entry((packet.sender.number, packet.sender.connection)).or_default().push_back(packet);
        }
    }

    /// A number below a limit; 0 without a seed.
    fn draw(&mut self, limit: usize) -> usize {
        let Some(state) = &mut self.random else { return 0 };
        *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*state >> 33) as usize % limit.max(1)
    }
}

#[pymethods]
impl Mail {
    #[new]
    #[pyo3(signature = (seed=None))]
    fn new(seed: Option<u64>) -> Self {
        Self { queues: BTreeMap::new(), random: seed }
    }

    /// Collects what the runs have sent.
    fn collect(&mut self, runs: Vec<PyRefMut<'_, ProgramRun>>) {
        for mut run in runs {
            self.add(run.run.take_packets());
        }
    }

    /// Returns what the runs have sent, for the mail of all processes.
    #[staticmethod]
    fn packed(py: Python<'_>, runs: Vec<PyRefMut<'_, ProgramRun>>) -> Py<PyBytes> {
        let packets: Vec<Packet> = runs.into_iter().flat_map(|mut run| run.run.take_packets()).collect();
        PyBytes::new(py, &encode(&packets)).unbind()
    }

    /// Adds what the runs of a process have sent.
    fn unpack(&mut self, py: Python<'_>, packets: &[u8]) -> PyResult<()> {
        self.add(decode(packets).ok_or_else(|| engine_bug(py, "another process sent no packets"))?);
        Ok(())
    }

    /// Delivers packets to these runs and drops those for the chips of other processes. With a seed, a part of the
    /// packets. Returns their number.
    ///
    /// An error has the sender's chip and kernel as `sender`.
    fn deliver(&mut self, py: Python<'_>, mut runs: Vec<PyRefMut<'_, ProgramRun>>) -> Answer<usize> {
        let waiting: usize = self.queues.values().map(VecDeque::len).sum();
        let count = if waiting == 0 || self.random.is_none() { waiting } else { 1 + self.draw(waiting) };
        for _ in 0..count {
            let Some(packet) = self.next() else { break };
            for arrival in &packet.arrivals {
                let Some(run) = runs.iter_mut().find(|run| run.chip == arrival.chip) else { continue };
                let run = &mut **run;
                let mut device = run.device.lock_on(py, run.chip)?;
                let done = catch_unwind(AssertUnwindSafe(|| run.run.deliver(&mut device, &packet, arrival)));
                drop(device);
                if let Err(error) = finish(py, done) {
                    error.value(py).setattr("sender", (packet.sender.chip, packet.sender.kernel))?;
                    return Err(error);
                }
            }
        }
        Ok(count)
    }
}
