//! Calls of data-movement kernels, and those that all kernels share.
//!
//! Circular buffers, transfers, words of own L1.
use numpy::{PyArray1, PyReadonlyArray1};
use pyo3::prelude::*;
use tt_program::calls::cb::Interface;
use tt_program::calls::noc::{Barrier, Page};

use super::{Answer, Checked, ProgramRun, calls};

// Circular buffers.
calls! {
    local run {
        cb_wait_front(cb: u32, pages: u32) -> bool = run.cb_wait_front(cb, pages);
        cb_reserve_back(cb: u32, pages: u32) -> bool = run.cb_reserve_back(cb, pages);
        cb_push_back(cb: u32, pages: u32) = run.cb_push_back(cb, pages);
        cb_pop_front(cb: u32, pages: u32) = run.cb_pop_front(cb, pages);
        cb_pages_available_at_front(cb: u32, pages: u32) -> Option<bool> = run.cb_pages_available_at_front(cb, pages);
        cb_pages_reservable_at_back(cb: u32, pages: u32) -> Option<bool> = run.cb_pages_reservable_at_back(cb, pages);
        get_write_ptr(cb: u32) -> u32 = run.get_write_ptr(cb);
        get_read_ptr(cb: u32) -> u32 = run.get_read_ptr(cb);
        cb_interface(cb: u32) -> Interface = run.cb_interface(cb);
    }
    memory (run, device) {
        read_tile_value(cb: u32, tile: u32, word: u32) -> Option<u32> = run.read_tile_value(device, cb, tile, word);
    }
}

// Transfers.
calls! {
    memory (run, device) {
        #[pyo3(signature = (source, target, size, noc=Checked(-1)))]
        noc_async_read(source: u64, target: u32, size: u32, noc: i32) -> bool =
            run.noc_async_read(device, source, target, size, noc);

        #[pyo3(signature = (source, target, size, noc=Checked(-1)))]
        noc_async_write(source: u32, target: u64, size: u32, noc: i32) -> bool =
            run.noc_async_write(device, source, target, size, noc);

        noc_async_read_page(
            dram: bool, base: u64, bytes: u32, page: u64, offset: u32, target: u32, size: u32, noc: i32
        ) -> bool =
            run.noc_async_read_page(device, Page { dram, base, page, bytes, offset }, target, size, noc);

        noc_async_write_page(
            dram: bool, base: u64, bytes: u32, page: u64, offset: u32, source: u32, size: u32, noc: i32
        ) -> bool =
            run.noc_async_write_page(device, source, Page { dram, base, page, bytes, offset }, size, noc);

        noc_async_read_tile(
            dram: bool, base: u64, bytes: u32, page: u64, offset: u32, target: u32, size: u32, noc: i32
        ) -> bool =
            run.noc_async_read_tile(device, Page { dram, base, page, bytes, offset }, target, size, noc);

        noc_async_write_tile(
            dram: bool, base: u64, bytes: u32, page: u64, offset: u32, source: u32, size: u32, noc: i32
        ) -> bool =
            run.noc_async_write_tile(device, source, Page { dram, base, page, bytes, offset }, size, noc);

        page_address(dram: bool, base: u64, bytes: u32, page: u64, offset: u32) -> u64 =
            run.page_address(device, Page { dram, base, page, bytes, offset });

        noc_async_write_multicast(
            source: u32, target: u64, size: u32, destinations: u32, loopback: bool, linked: bool, noc: i32
        ) -> bool =
            run.noc_async_write_multicast(device, source, target, size, destinations, (loopback, linked), noc);

        #[pyo3(signature = (target, value, noc=Checked(-1), enabled=Checked(0xf)))]
        noc_inline_dw_write(target: u64, value: u32, noc: i32, enabled: u32) -> bool =
            run.noc_inline_dw_write(device, target, value, enabled, noc);

        #[pyo3(signature = (target, value, noc=Checked(-1)))]
        noc_semaphore_inc(target: u64, value: u32, noc: i32) -> bool =
            run.noc_semaphore_inc(device, target, value, noc);

        /// NoC address of a place in the first page of a shard.
        shard_address(dram: bool, base: u64, bytes: u32, shard: u64, offset: u32) -> u64 =
            run.shard_address(device, Page { dram, base, page: 0, bytes, offset }, shard);

        /// Pages of a buffer, pages side by side, rows and columns of pages in a shard, banks.
        buffer_cut(dram: bool, base: u64, bytes: u32) -> [u64; 5] =
            run.buffer_cut(device, Page { dram, base, page: 0, bytes, offset: 0 });
    }
    local run {
        /// Waits for reads (0), writes to leave (1), to be acknowledged (2), atomics (3) or everything (4); `trid` -1:
        /// of all ids.
        #[pyo3(signature = (kind, noc=Checked(-1), trid=Checked(-1)))]
        noc_barrier(kind: u32, noc: i32, trid: i32) =
            run.noc_barrier(Barrier::of(kind), noc, u8::try_from(trid).ok());

        set_trid(writes: bool, trid: u32, noc: i32) = run.set_trid(writes, trid, noc);
        reset_trids(ids: u32, noc: i32) = run.reset_trids(ids, noc);
    }
}

// Words of own L1.
calls! {
    local run {
        get_semaphore(id: u32) -> u32 = run.get_semaphore(id);

        /// Books the time of a runtime argument (0) or of address arithmetic (1).
        spend(what: u32) = run.spend(what);
    }
    memory (run, device) {
        noc_semaphore_wait(address: u32, value: u32, at_least: bool) -> bool =
            run.noc_semaphore_wait(device, address, value, at_least);

        noc_semaphore_set(address: u32, value: u32) = run.noc_semaphore_set(device, address, value);

        noc_semaphore_set_remote(source: u32, target: u64, noc: i32) -> bool =
            run.noc_semaphore_set_remote(device, source, target, noc);

        noc_semaphore_set_multicast(
            source: u32, target: u64, destinations: u32, loopback: bool, linked: bool, noc: i32
        ) -> bool =
            run.noc_semaphore_set_multicast(device, source, target, destinations, (loopback, linked), noc);

        store_word(address: u32, value: u32) = run.store_word(device, address, value);
        load_word(address: u32) -> Option<u32> = run.load_word(device, address);
    }
}

#[pymethods]
impl ProgramRun {
    fn load_bytes<'py>(&mut self, py: Python<'py>, address: u32, size: u32) -> PyResult<Bound<'py, PyArray1<u8>>> {
        let bytes = self.memory(py, |(run, device)| run.load_bytes(device, address, size).map(<[u8]>::to_vec))?;
        Ok(PyArray1::from_vec(py, bytes))
    }

    fn store_bytes(&mut self, py: Python<'_>, address: u32, data: PyReadonlyArray1<'_, u8>) -> PyResult<()> {
        let data = data.as_slice()?;
        self.memory(py, |(run, device)| run.store_bytes(device, address, data))
    }

    fn argument_address(&self, index: u32) -> u32 {
        self.run.argument_address(index)
    }
}
