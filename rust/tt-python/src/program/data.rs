//! Calls of data-movement kernels, and those that all kernels share: circular buffers, transfers, words of own L1.
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use tt_program::calls::cb::Interface;
use tt_program::calls::noc::{Barrier, Page};

use super::ProgramRun;

#[pymethods]
impl ProgramRun {
    // Circular buffers.

    fn cb_wait_front(&mut self, py: Python<'_>, cb: u32, pages: u32) -> PyResult<bool> {
        self.local(py, |run| run.cb_wait_front(cb, pages))
    }

    fn cb_reserve_back(&mut self, py: Python<'_>, cb: u32, pages: u32) -> PyResult<bool> {
        self.local(py, |run| run.cb_reserve_back(cb, pages))
    }

    fn cb_push_back(&mut self, py: Python<'_>, cb: u32, pages: u32) -> PyResult<()> {
        self.local(py, |run| run.cb_push_back(cb, pages))
    }

    fn cb_pop_front(&mut self, py: Python<'_>, cb: u32, pages: u32) -> PyResult<()> {
        self.local(py, |run| run.cb_pop_front(cb, pages))
    }

    fn cb_pages_available_at_front(&mut self, py: Python<'_>, cb: u32, pages: u32) -> PyResult<Option<bool>> {
        self.local(py, |run| run.cb_pages_available_at_front(cb, pages))
    }

    fn cb_pages_reservable_at_back(&mut self, py: Python<'_>, cb: u32, pages: u32) -> PyResult<Option<bool>> {
        self.local(py, |run| run.cb_pages_reservable_at_back(cb, pages))
    }

    fn get_write_ptr(&mut self, py: Python<'_>, cb: u32) -> PyResult<u32> {
        self.local(py, |run| run.get_write_ptr(cb))
    }

    fn get_read_ptr(&mut self, py: Python<'_>, cb: u32) -> PyResult<u32> {
        self.local(py, |run| run.get_read_ptr(cb))
    }

    fn cb_interface(&mut self, py: Python<'_>, cb: u32) -> PyResult<Interface> {
        self.local(py, |run| run.cb_interface(cb))
    }

    fn read_tile_value(&mut self, py: Python<'_>, cb: u32, tile: u32, word: u32) -> PyResult<u32> {
        self.memory(py, |run, device| run.read_tile_value(device, cb, tile, word))
    }

    // Transfers.

    #[pyo3(signature = (source, target, size, noc=-1))]
    fn noc_async_read(&mut self, py: Python<'_>, source: u64, target: u32, size: u32, noc: i32) -> PyResult<bool> {
        self.memory(py, |run, device| run.noc_async_read(device, source, target, size, noc))
    }

    #[pyo3(signature = (source, target, size, noc=-1))]
    fn noc_async_write(&mut self, py: Python<'_>, source: u32, target: u64, size: u32, noc: i32) -> PyResult<bool> {
        self.memory(py, |run, device| run.noc_async_write(device, source, target, size, noc))
    }

    #[allow(clippy::too_many_arguments, reason = "a page of a buffer and a place")]
    fn noc_async_read_page(
        &mut self,
        py: Python<'_>,
        dram: bool,
        base: u64,
        bytes: u32,
        page: u64,
        offset: u32,
        target: u32,
        size: u32,
        noc: i32,
    ) -> PyResult<bool> {
        let page = Page { dram, base, page, bytes, offset };
        self.memory(py, |run, device| run.noc_async_read_page(device, page, target, size, noc))
    }

    #[allow(clippy::too_many_arguments, reason = "a page of a buffer and a place")]
    fn noc_async_write_page(
        &mut self,
        py: Python<'_>,
        dram: bool,
        base: u64,
        bytes: u32,
        page: u64,
        offset: u32,
        source: u32,
        size: u32,
        noc: i32,
    ) -> PyResult<bool> {
        let page = Page { dram, base, page, bytes, offset };
        self.memory(py, |run, device| run.noc_async_write_page(device, source, page, size, noc))
    }

    fn page_address(
        &mut self,
        py: Python<'_>,
        dram: bool,
        base: u64,
        bytes: u32,
        page: u64,
        offset: u32,
    ) -> PyResult<u64> {
        let page = Page { dram, base, page, bytes, offset };
        self.memory(py, |run, device| run.page_address(device, page))
    }

    #[allow(clippy::too_many_arguments, reason = "the arguments of the kernel API")]
    fn noc_async_write_multicast(
        &mut self,
        py: Python<'_>,
        source: u32,
        target: u64,
        size: u32,
        destinations: u32,
        loopback: bool,
        linked: bool,
        noc: i32,
    ) -> PyResult<bool> {
        self.memory(py, |run, device| {
            run.noc_async_write_multicast(device, source, target, size, destinations, (loopback, linked), noc)
        })
    }

    #[pyo3(signature = (target, value, noc=-1, enabled=0xf))]
    fn noc_inline_dw_write(
        &mut self,
        py: Python<'_>,
        target: u64,
        value: u32,
        noc: i32,
        enabled: u32,
    ) -> PyResult<bool> {
        self.memory(py, |run, device| run.noc_inline_dw_write(device, target, value, enabled, noc))
    }

    #[pyo3(signature = (target, value, noc=-1))]
    fn noc_semaphore_inc(&mut self, py: Python<'_>, target: u64, value: u32, noc: i32) -> PyResult<bool> {
        self.memory(py, |run, device| run.noc_semaphore_inc(device, target, value, noc))
    }

    /// Waits for reads (0), writes to leave (1), to be acknowledged (2), atomics (3) or everything (4); `trid` -1: of
    /// all ids.
    #[pyo3(signature = (kind, noc=-1, trid=-1))]
    fn noc_barrier(&mut self, py: Python<'_>, kind: u32, noc: i32, trid: i32) -> PyResult<()> {
        let barriers = [Barrier::Reads, Barrier::WritesFlushed, Barrier::Writes, Barrier::Atomics, Barrier::Full];
        let trid = u8::try_from(trid).ok();
        self.local(py, |run| run.noc_barrier(barriers[kind.min(4) as usize], noc, trid))
    }

    fn set_trid(&mut self, py: Python<'_>, writes: bool, trid: u32, noc: i32) -> PyResult<()> {
        self.local(py, |run| run.set_trid(writes, trid, noc))
    }

    fn reset_trids(&mut self, py: Python<'_>, ids: u32, noc: i32) -> PyResult<()> {
        self.local(py, |run| run.reset_trids(ids, noc))
    }

    /// NoC address of a place in the first page of a shard.
    fn shard_address(
        &mut self,
        py: Python<'_>,
        dram: bool,
        base: u64,
        bytes: u32,
        shard: u64,
        offset: u32,
    ) -> PyResult<u64> {
        let first = Page { dram, base, page: 0, bytes, offset };
        self.memory(py, |run, device| run.shard_address(device, first, shard))
    }

    /// Pages of a buffer, pages side by side, rows and columns of pages in a shard, banks.
    fn buffer_cut(&mut self, py: Python<'_>, dram: bool, base: u64, bytes: u32) -> PyResult<[u64; 5]> {
        let first = Page { dram, base, page: 0, bytes, offset: 0 };
        self.memory(py, |run, device| run.buffer_cut(device, first))
    }

    // Words of own L1.

    fn get_semaphore(&mut self, py: Python<'_>, id: u32) -> PyResult<u32> {
        self.local(py, |run| run.get_semaphore(id))
    }

    fn noc_semaphore_wait(&mut self, py: Python<'_>, address: u32, value: u32, at_least: bool) -> PyResult<bool> {
        self.memory(py, |run, device| run.noc_semaphore_wait(device, address, value, at_least))
    }

    fn store_word(&mut self, py: Python<'_>, address: u32, value: u32) -> PyResult<()> {
        self.memory(py, |run, device| run.store_word(device, address, value))
    }

    fn load_word(&mut self, py: Python<'_>, address: u32) -> PyResult<Option<u32>> {
        self.memory(py, |run, device| run.load_word(device, address))
    }

    fn load_bytes<'py>(&mut self, py: Python<'py>, address: u32, size: u32) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let bytes = self.memory(py, |run, device| run.load_bytes(device, address, size).map(<[u8]>::to_vec))?;
        Ok(PyArray1::from_vec(py, bytes))
    }

    fn store_bytes(&mut self, py: Python<'_>, address: u32, data: PyReadonlyArray1<'_, u8>) -> PyResult<()> {
        let data = data.as_slice()?;
        self.memory(py, |run, device| run.store_bytes(device, address, data))
    }

    /// Books the time of a runtime argument (0) or of address arithmetic (1).
    fn spend(&mut self, py: Python<'_>, what: u32) -> PyResult<()> {
        self.local(py, |run| run.spend(what))
    }

    fn argument_address(&self, index: u32) -> u32 {
        self.run.argument_address(index)
    }
}
