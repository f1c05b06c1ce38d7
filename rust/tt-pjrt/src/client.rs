//! The client, its devices and their memories.
#![allow(clippy::unnecessary_wraps, clippy::wildcard_imports, reason = "functions of one form for many structures")]

use std::collections::HashMap;
use std::ffi::{c_char, c_int, c_void};
use std::mem::offset_of;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use crate::abi::*;
use crate::backend::Backend;
use crate::entry::clear_after;
use crate::failure::{Code, Failure};
use crate::raw;

/// Name of the platform in jax.
pub const PLATFORM: &str = "tt";
const VERSION: &str = concat!("ttnn-rs ", env!("CARGO_PKG_VERSION"), ", PJRT C API 0.114");
const MEMORY_KIND: &str = "device";
/// Environment variable with the number of devices.
const DEVICES: &str = "TTNN_JAX_DEVICES";
/// Most devices that may be asked for.
const MOST_DEVICES: usize = 32;

static BACKEND: OnceLock<&'static dyn Backend> = OnceLock::new();

/// Sets the compiler and device that clients use; the first one stays.
pub fn set_backend(backend: &'static dyn Backend) {
    let _ = BACKEND.set(backend);
}

/// `PJRT_Client`; also the handle of its topology.
#[derive(Debug)]
pub struct Client {
    /// Compiler and device.
    pub(crate) backend: &'static dyn Backend,
    devices: Vec<AtomicPtr<Device>>,
    memories: Vec<AtomicPtr<Memory>>,
    /// Devices are owned here; the lists above point to them.
    _owned: Box<[(Device, Memory)]>,
    process: u32,
    /// Sentence about a setting of the environment that cannot be used.
    fault: Option<String>,
}

/// `PJRT_Device`; also the handle of its description.
#[derive(Debug)]
pub struct Device {
    /// Number of the device.
    pub(crate) id: c_int,
    backend: &'static dyn Backend,
    kind: &'static str,
    debug: String,
    text: String,
    memory: AtomicPtr<Memory>,
}

impl Device {
    /// Returns the handle of the device's memory.
    pub(crate) fn memory(&self) -> *mut Memory {
        self.memory.load(Ordering::Relaxed)
    }
}

/// `PJRT_Memory`: its first word points to functions of the memory.
#[repr(C)]
#[derive(Debug)]
pub struct Memory {
    functions: &'static MemoryFunctions,
    id: c_int,
    text: String,
    /// The device that reads and writes this memory.
    pub(crate) device: AtomicPtr<Device>,
    user_data: Mutex<HashMap<usize, UserData>>,
}

#[derive(Debug)]
struct UserData {
    data: AtomicPtr<c_void>,
    destroy: Deleter,
}

impl Drop for UserData {
    fn drop(&mut self) {
        if let Some(destroy) = self.destroy {
            // SAFETY: the caller registered the function for this object.
            unsafe { destroy(self.data.load(Ordering::Relaxed)) };
        }
    }
}

#[repr(C)]
#[derive(Debug)]
struct MemoryFunctions {
    struct_size: usize,
    extension_start: AtomicPtr<c_void>,
    instance_size: usize,
    get_user_data: unsafe extern "C" fn(*const Memory, *const c_void) -> *mut c_void,
    set_user_data: unsafe extern "C" fn(*const Memory, *const c_void, *mut c_void, Deleter),
}

static MEMORY_FUNCTIONS: MemoryFunctions = MemoryFunctions {
    struct_size: size_of::<MemoryFunctions>(),
    extension_start: AtomicPtr::new(ptr::null_mut()),
    instance_size: size_of::<*const MemoryFunctions>(),
    get_user_data,
    set_user_data,
};

unsafe extern "C" fn get_user_data(memory: *const Memory, key: *const c_void) -> *mut c_void {
    let Ok(memory) = raw::handle(memory, "memory") else { return ptr::null_mut() };
    let table = memory.user_data.lock().unwrap_or_else(PoisonError::into_inner);
    table.get(&key.addr()).map_or(ptr::null_mut(), |entry| entry.data.load(Ordering::Relaxed))
}

unsafe extern "C" fn set_user_data(memory: *const Memory, key: *const c_void, data: *mut c_void, destroy: Deleter) {
    if let Ok(memory) = raw::handle(memory, "memory") {
        let entry = UserData { data: AtomicPtr::new(data), destroy };
        let before = memory.user_data.lock().unwrap_or_else(PoisonError::into_inner).insert(key.addr(), entry);
        drop(before);
    }
}

impl Client {
    fn new(backend: &'static dyn Backend) -> Self {
        let (count, fault) = match device_count(std::env::var_os(DEVICES).map(|text| text.to_string_lossy().into())) {
            Ok(count) => (count, None),
            Err(fault) => (1, Some(fault)),
        };
        let owned: Box<[(Device, Memory)]> = (0..count).map(|id| new_device(backend, id as c_int)).collect();
        for pair in &*owned {
            pair.0.memory.store(ptr::from_ref(&pair.1).cast_mut(), Ordering::Relaxed);
            pair.1.device.store(ptr::from_ref(&pair.0).cast_mut(), Ordering::Relaxed);
        }
        let devices = owned.iter().map(|pair| AtomicPtr::new(ptr::from_ref(&pair.0).cast_mut())).collect();
        let memories = owned.iter().map(|pair| AtomicPtr::new(ptr::from_ref(&pair.1).cast_mut())).collect();
        Self { backend, devices, memories, _owned: owned, process: std::process::id(), fault }
    }

    /// Returns the device with this number.
    pub(crate) fn device(&self, id: i64) -> Result<*mut Device, Failure> {
        let found = usize::try_from(id).ok().and_then(|id| self.devices.get(id));
        let found = found.map(|device| device.load(Ordering::Relaxed));
        found.ok_or_else(|| {
            let (asked, present) = (id.saturating_add(1), self.devices.len());
            Failure::argument(format!("{asked} devices asked, {present} present ({DEVICES})"))
        })
    }

    /// Checks that the process can use the device.
    ///
    /// # Errors
    /// The process is a fork of the one that made the client.
    pub(crate) fn check_process(&self) -> Result<(), Failure> {
        if std::process::id() == self.process {
            return Ok(());
        }
        let (parent, child) = (self.process, std::process::id());
        let sentence = format!(
            "tt: process {child} was forked from process {parent}, which opened the device; a fork cannot use it. \
             Start processes with multiprocessing's \"spawn\", or fork before jax is used"
        );
        Err(Failure::new(Code::FailedPrecondition, sentence))
    }

    /// Checks that the process can use the device, and the settings of the environment.
    pub(crate) fn check(&self) -> Result<(), Failure> {
        self.check_process()?;
        self.fault.as_ref().map_or(Ok(()), |fault| Err(Failure::argument(fault.as_str())))
    }
}

/// Returns the number of devices that the environment asks for.
fn device_count(setting: Option<String>) -> Result<usize, String> {
    let Some(setting) = setting else { return Ok(1) };
    let count = setting.trim().parse().ok().filter(|count| (1..=MOST_DEVICES).contains(count));
    count.ok_or_else(|| format!("tt: {DEVICES} is {setting:?}; expected a number from 1 to {MOST_DEVICES}"))
}

fn new_device(backend: &'static dyn Backend, id: c_int) -> (Device, Memory) {
    let device = Device {
        id,
        backend,
        kind: backend.device_kind(),
        debug: format!("{PLATFORM}:{id}"),
        text: format!("TtDevice(id={id})"),
        memory: AtomicPtr::new(ptr::null_mut()),
    };
    let memory = Memory {
        functions: &MEMORY_FUNCTIONS,
        id,
        text: format!("TtMemory(id={id})"),
        device: AtomicPtr::new(ptr::null_mut()),
        user_data: Mutex::default(),
    };
    (device, memory)
}

/// Returns the device that a call names, directly or by its memory.
pub(crate) fn place(client: &Client, device: *mut Device, memory: *mut Memory) -> Result<*mut Device, Failure> {
    if !device.is_null() {
        return Ok(device);
    }
    if memory.is_null() {
        return client.device(0);
    }
    Ok(raw::handle(memory, "memory")?.device.load(Ordering::Relaxed))
}

fn text(text: &str) -> (*const c_char, usize) {
    (text.as_ptr().cast(), text.len())
}

/// Versions of `StableHLO` that are read.
static VERSIONS: [(&str, [i64; 3]); 2] =
    [("stablehlo_current_version", [1, 17, 0]), ("stablehlo_minimum_version", [0, 9, 0])];

pub(crate) fn initialize(_: &mut Plugin_Initialize_Args) -> Result<(), Failure> {
    Ok(())
}

pub(crate) fn attributes(args: &mut Plugin_Attributes_Args) -> Result<(), Failure> {
    static MADE: OnceLock<AtomicPtr<NamedValue>> = OnceLock::new();
    let made = MADE.get_or_init(|| {
        let values: Vec<NamedValue> = VERSIONS
            .iter()
            .map(|(name, numbers)| NamedValue {
                struct_size: size_of::<NamedValue>(),
                extension_start: ptr::null_mut(),
                name: name.as_ptr().cast(),
                name_size: name.len(),
                kind: VALUE_INTEGERS,
                value: numbers.as_ptr().cast(),
                value_size: numbers.len(),
            })
            .collect();
        AtomicPtr::new(Vec::leak(values).as_mut_ptr())
    });
    (args.attributes, args.num_attributes) = (made.load(Ordering::Relaxed), VERSIONS.len());
    Ok(())
}

/// Makes a client; opens no device.
pub(crate) fn create(args: &mut Client_Create_Args) -> Result<(), Failure> {
    let backend = BACKEND.get().ok_or_else(|| Failure::internal("tt: the plugin has no compiler"))?;
    args.client = Arc::into_raw(Arc::new(Client::new(*backend))).cast_mut();
    Ok(())
}

pub(crate) fn destroy(args: &mut Client_Destroy_Args) -> Result<(), Failure> {
    raw::release(args.client);
    Ok(())
}

pub(crate) fn platform_name(args: &mut Client_PlatformName_Args) -> Result<(), Failure> {
    (args.platform_name, args.platform_name_size) = text(PLATFORM);
    Ok(())
}

pub(crate) fn platform_version(args: &mut Client_PlatformVersion_Args) -> Result<(), Failure> {
    (args.platform_version, args.platform_version_size) = text(VERSION);
    Ok(())
}

pub(crate) fn process_index(args: &mut Client_ProcessIndex_Args) -> Result<(), Failure> {
    args.process_index = 0;
    Ok(())
}

pub(crate) fn devices(args: &mut Client_Devices_Args) -> Result<(), Failure> {
    let devices = &raw::handle(args.client, "client")?.devices;
    (args.devices, args.num_devices) = (devices.as_ptr(), devices.len());
    Ok(())
}

pub(crate) fn lookup_device(args: &mut Client_LookupDevice_Args) -> Result<(), Failure> {
    args.device = raw::handle(args.client, "client")?.device(args.id.into())?;
    Ok(())
}

pub(crate) fn memories(args: &mut Client_AddressableMemories_Args) -> Result<(), Failure> {
    let memories = &raw::handle(args.client, "client")?.memories;
    (args.addressable_memories, args.num_addressable_memories) = (memories.as_ptr(), memories.len());
    Ok(())
}

pub(crate) fn topology(args: &mut Client_TopologyDescription_Args) -> Result<(), Failure> {
    raw::handle(args.client, "client")?;
    args.topology = args.client;
    Ok(())
}

pub(crate) fn default_assignment(args: &mut Client_DefaultDeviceAssignment_Args) -> Result<(), Failure> {
    let client = raw::handle(args.client, "client")?;
    let count = i64::from(args.num_replicas).saturating_mul(args.num_partitions.into());
    let room = args.default_assignment_size;
    let count = usize::try_from(count).ok().filter(|&count| count <= room);
    let count = count.ok_or_else(|| Failure::argument(format!("tt: a device assignment has {room} places only")))?;
    if count > 0 {
        client.device(count as i64 - 1)?;
    }
    for index in 0..count {
        raw::store_at(args.default_assignment, index, index as c_int);
    }
    Ok(())
}

pub(crate) fn device_id(args: &mut DeviceDescription_Id_Args) -> Result<(), Failure> {
    args.id = raw::handle(args.device_description, "device")?.id;
    Ok(())
}

/// There is one process, with the number 0.
pub(crate) fn device_process(args: &mut DeviceDescription_Id_Args) -> Result<(), Failure> {
    raw::handle(args.device_description, "device")?;
    args.id = 0;
    Ok(())
}

pub(crate) fn description_attributes(args: &mut DeviceDescription_Attributes_Args) -> Result<(), Failure> {
    (args.attributes, args.num_attributes) = (ptr::null(), 0);
    Ok(())
}

pub(crate) fn device_kind(args: &mut DeviceDescription_Kind_Args) -> Result<(), Failure> {
    (args.device_kind, args.device_kind_size) = text(raw::handle(args.device_description, "device")?.kind);
    Ok(())
}

pub(crate) fn device_debug(args: &mut DeviceDescription_Kind_Args) -> Result<(), Failure> {
    (args.device_kind, args.device_kind_size) = text(&raw::handle(args.device_description, "device")?.debug);
    Ok(())
}

pub(crate) fn device_text(args: &mut DeviceDescription_Kind_Args) -> Result<(), Failure> {
    (args.device_kind, args.device_kind_size) = text(&raw::handle(args.device_description, "device")?.text);
    Ok(())
}

pub(crate) fn device_description(args: &mut Device_GetDescription_Args) -> Result<(), Failure> {
    raw::handle(args.device, "device")?;
    args.device_description = args.device;
    Ok(())
}

pub(crate) fn device_addressable(args: &mut Device_IsAddressable_Args) -> Result<(), Failure> {
    args.is_addressable = 1;
    Ok(())
}

pub(crate) fn device_memories(args: &mut Device_AddressableMemories_Args) -> Result<(), Failure> {
    (args.memories, args.num_memories) = (&raw const raw::handle(args.device, "device")?.memory, 1);
    Ok(())
}

pub(crate) fn device_memory(args: &mut Device_DefaultMemory_Args) -> Result<(), Failure> {
    args.memory = raw::handle(args.device, "device")?.memory();
    Ok(())
}

pub(crate) fn memory_stats(args: &mut Device_MemoryStats_Args) -> Result<(), Failure> {
    let (in_use, limit) = raw::handle(args.device, "device")?.backend.memory();
    clear_after(args, offset_of!(Device_MemoryStats_Args, bytes_in_use));
    args.bytes_in_use = in_use;
    (args.bytes_limit, args.bytes_limit_is_set) = (limit, u8::from(limit > 0));
    Ok(())
}

unsafe extern "C" fn keep(_: *mut c_void) {}

/// A function that destroys nothing, for objects that live as long as their owner.
pub(crate) const KEEP: Deleter = Some(keep);

/// An error here would end the process of the caller.
pub(crate) fn device_attributes(args: &mut Device_GetAttributes_Args) -> Result<(), Failure> {
    (args.attributes, args.num_attributes) = (ptr::null(), 0);
    (args.device_attributes, args.attributes_deleter) = (args.device.cast(), KEEP);
    Ok(())
}

pub(crate) fn memory_id(args: &mut Memory_Id_Args) -> Result<(), Failure> {
    args.id = raw::handle(args.memory, "memory")?.id;
    Ok(())
}

pub(crate) fn memory_kind(args: &mut Memory_Kind_Args) -> Result<(), Failure> {
    (args.kind, args.kind_size) = text(MEMORY_KIND);
    Ok(())
}

/// There is one kind of memory, with the number 0.
pub(crate) fn memory_kind_id(args: &mut Memory_Id_Args) -> Result<(), Failure> {
    args.id = 0;
    Ok(())
}

pub(crate) fn memory_text(args: &mut Memory_Kind_Args) -> Result<(), Failure> {
    (args.kind, args.kind_size) = text(&raw::handle(args.memory, "memory")?.text);
    Ok(())
}

pub(crate) fn memory_devices(args: &mut Memory_AddressableByDevices_Args) -> Result<(), Failure> {
    (args.devices, args.num_devices) = (&raw const raw::handle(args.memory, "memory")?.device, 1);
    Ok(())
}

pub(crate) fn topology_name(args: &mut Topology_Text_Args) -> Result<(), Failure> {
    (args.text, args.text_size) = text(PLATFORM);
    Ok(())
}

pub(crate) fn topology_version(args: &mut Topology_Text_Args) -> Result<(), Failure> {
    (args.text, args.text_size) = text(VERSION);
    Ok(())
}

pub(crate) fn topology_devices(args: &mut TopologyDescription_GetDeviceDescriptions_Args) -> Result<(), Failure> {
    let devices = &raw::handle(args.topology, "topology")?.devices;
    (args.descriptions, args.num_descriptions) = (devices.as_ptr(), devices.len());
    Ok(())
}

pub(crate) fn topology_attributes(args: &mut TopologyDescription_Attributes_Args) -> Result<(), Failure> {
    (args.attributes, args.num_attributes) = (ptr::null(), 0);
    Ok(())
}

/// The topology belongs to its client.
pub(crate) fn topology_destroy(_: &mut Topology_Args) -> Result<(), Failure> {
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_counts_of_the_environment() {
        assert_eq!(device_count(None), Ok(1));
        assert_eq!(device_count(Some(" 2 ".into())), Ok(2));
        for wrong in ["0", "-1", "two", "", "33"] {
            let sentence = device_count(Some(wrong.into())).expect_err("wrong settings are refused");
            assert!(sentence.contains(&format!("TTNN_JAX_DEVICES is {wrong:?}")), "{sentence}");
        }
    }
}
