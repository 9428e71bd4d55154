//! A host program in Rust: launches a kernel of kernels.hipfb through Halyard's C interface.
//!
//!     rustc --edition 2024 host.rs -L PREFIX/lib -l halyard
//!     host kernels.hipfb                    on the first AMD GPU
//!     host kernels.hipfb amdgpu gfx90a      on a virtual one
//!
//! The declarations are those of halyard/halyard.h that the program needs.

use std::env;
use std::ffi::{CStr, CString, c_char, c_void};
use std::process::ExitCode;
use std::ptr;

/// What the interface keeps behind its pointers.
#[repr(C)]
struct Opaque {
    _private: [u8; 0],
}
type Handle = *mut Opaque;

#[repr(C)]
#[derive(Clone, Copy)]
struct Range {
    buffer: Handle,
    offset: u64,
    length: u64,
    slot: u32,
}

const VALUE: u32 = 0;
const BUFFER: u32 = 1;

#[repr(C)]
struct Argument {
    kind: u32,
    size: u32,
    value: *const c_void,
    range: Range,
    address: u64,
    is_address: bool,
}

#[repr(C)]
struct Dispatch {
    struct_size: usize,
    function: Handle,
    grid: [u32; 3],
    workgroup: [u32; 3],
    dynamic_lds_bytes: u32,
    arguments: *const Argument,
    argument_count: usize,
}

#[repr(C)]
struct BufferOptions {
    struct_size: usize,
    memory: u32,
    alignment: u64,
}
const HOST_MEMORY: u32 = 1;

#[repr(C)]
struct Point {
    semaphore: Handle,
    value: u64,
}

#[repr(C)]
struct Sync {
    wait: *const Point,
    wait_count: usize,
    signal: *const Point,
    signal_count: usize,
}

unsafe extern "C" {
    fn halyard_error_code(error: *const Opaque) -> i32;
    fn halyard_error_message(error: *const Opaque) -> *const c_char;
    fn halyard_error_free(error: Handle);
    fn halyard_code_name(code: i32) -> *const c_char;
    fn halyard_load_virtual_gpu(profile: *const c_char, options: *const c_void) -> Handle;
    fn halyard_registry_default(registry: *mut Handle) -> Handle;
    fn halyard_registry_release(registry: Handle);
    fn halyard_registry_open_device(
        registry: Handle,
        uri: *const c_char,
        options: *const c_void,
        option_count: usize,
        device: *mut Handle,
    ) -> Handle;
    fn halyard_device_release(device: Handle);
    fn halyard_device_allocate(
        device: Handle,
        size: u64,
        options: *const BufferOptions,
        buffer: *mut Handle,
    ) -> Handle;
    fn halyard_buffer_map(
        buffer: Handle,
        offset: u64,
        length: u64,
        access: u32,
        pointer: *mut *mut c_void,
    ) -> Handle;
    fn halyard_buffer_release(buffer: Handle);
    fn halyard_module_open(path: *const c_char, options: *const c_void, module: *mut Handle)
    -> Handle;
    fn halyard_module_release(module: Handle);
    fn halyard_device_load_module(device: Handle, module: Handle, executable: *mut Handle)
    -> Handle;
    fn halyard_executable_find(
        executable: Handle,
        name: *const c_char,
        function: *mut Handle,
    ) -> Handle;
    fn halyard_executable_release(executable: Handle);
    fn halyard_device_create_queue(
        device: Handle,
        options: *const c_void,
        queue: *mut Handle,
    ) -> Handle;
    fn halyard_queue_release(queue: Handle);
    fn halyard_queue_dispatch(
        queue: Handle,
        dispatch: *const Dispatch,
        sync: *const Sync,
    ) -> Handle;
    fn halyard_device_create_semaphore(
        device: Handle,
        initial_value: u64,
        semaphore: *mut Handle,
    ) -> Handle;
    fn halyard_semaphore_wait(semaphore: Handle, value: u64, deadline_ns: u64) -> Handle;
    fn halyard_semaphore_release(semaphore: Handle);
}

/// A reference to one of the interface's objects.
struct Owned {
    handle: Handle,
    release: unsafe extern "C" fn(Handle),
}

impl Drop for Owned {
    fn drop(&mut self) {
        unsafe { (self.release)(self.handle) }
    }
}

/// The interface's error as text: "NOT_FOUND: There is no …".
fn check(error: Handle) -> Result<(), String> {
    if error.is_null() {
        return Ok(());
    }
    let text = |text: *const c_char| unsafe { CStr::from_ptr(text).to_string_lossy() };
    let (code, message) = unsafe {
        (halyard_code_name(halyard_error_code(error)), halyard_error_message(error))
    };
    let sentence = format!("{}: {}", text(code), text(message));
    unsafe { halyard_error_free(error) };
    Err(sentence)
}

/// An object that `make` puts into its argument.
fn owned(
    release: unsafe extern "C" fn(Handle),
    make: impl FnOnce(*mut Handle) -> Handle,
) -> Result<Owned, String> {
    let mut handle = ptr::null_mut();
    check(make(&mut handle))?;
    Ok(Owned { handle, release })
}

/// `count` words that the host and the device both see.
fn words(device: &Owned, count: usize) -> Result<(Owned, &mut [u32]), String> {
    let options = BufferOptions {
        struct_size: size_of::<BufferOptions>(),
        memory: HOST_MEMORY,
        alignment: 0,
    };
    let bytes = (count * size_of::<u32>()) as u64;
    let buffer = owned(halyard_buffer_release, |b| unsafe {
        halyard_device_allocate(device.handle, bytes, &options, b)
    })?;
    let mut pointer = ptr::null_mut();
    check(unsafe { halyard_buffer_map(buffer.handle, 0, bytes, 3, &mut pointer) })?;
    let words = unsafe { std::slice::from_raw_parts_mut(pointer.cast::<u32>(), count) };
    Ok((buffer, words))
}

fn buffer_argument(buffer: &Owned) -> Argument {
    let range = Range { buffer: buffer.handle, offset: 0, length: u64::MAX, slot: 0 };
    Argument { kind: BUFFER, size: 0, value: ptr::null(), range, address: 0, is_address: false }
}

fn value_argument(value: &u32) -> Argument {
    let range = Range { buffer: ptr::null_mut(), offset: 0, length: u64::MAX, slot: 0 };
    let value = ptr::from_ref(value).cast();
    Argument { kind: VALUE, size: 4, value, range, address: 0, is_address: false }
}

fn run(arguments: &[String]) -> Result<(), String> {
    let file = arguments.get(1).ok_or("Give the file with the kernels.")?;
    let uri = arguments.get(2).map_or("amdgpu", String::as_str);
    let text = |text: &str| CString::new(text).map_err(|e| e.to_string());
    if let Some(profile) = arguments.get(3) {
        let profile = text(profile)?;
        check(unsafe { halyard_load_virtual_gpu(profile.as_ptr(), ptr::null()) })?;
    }
    let registry = owned(halyard_registry_release, |r| unsafe { halyard_registry_default(r) })?;
    let uri = text(uri)?;
    let device = owned(halyard_device_release, |d| unsafe {
        halyard_registry_open_device(registry.handle, uri.as_ptr(), ptr::null(), 0, d)
    })?;
    let path = text(file)?;
    let module = owned(halyard_module_release, |m| unsafe {
        halyard_module_open(path.as_ptr(), ptr::null(), m)
    })?;
    let executable = owned(halyard_executable_release, |e| unsafe {
        halyard_device_load_module(device.handle, module.handle, e)
    })?;
    let mut function = ptr::null_mut();
    let name = c"histogram";
    check(unsafe { halyard_executable_find(executable.handle, name.as_ptr(), &mut function) })?;
    let queue = owned(halyard_queue_release, |q| unsafe {
        halyard_device_create_queue(device.handle, ptr::null(), q)
    })?;
    let done = owned(halyard_semaphore_release, |s| unsafe {
        halyard_device_create_semaphore(device.handle, 0, s)
    })?;

    // How many of 0, 1, 4, 9, … have each of the remainders by 16.
    let count = 1000_u32;
    let (values_buffer, values) = words(&device, count as usize)?;
    let (totals_buffer, totals) = words(&device, 16)?;
    for (i, value) in values.iter_mut().enumerate() {
        *value = (i * i) as u32;
    }
    totals.fill(0);
    let list = [
        buffer_argument(&values_buffer),
        buffer_argument(&totals_buffer),
        value_argument(&count),
    ];
    let dispatch = Dispatch {
        struct_size: size_of::<Dispatch>(),
        function,
        grid: [1024, 1, 1],
        workgroup: [256, 1, 1],
        dynamic_lds_bytes: 0,
        arguments: list.as_ptr(),
        argument_count: list.len(),
    };
    let signal = Point { semaphore: done.handle, value: 1 };
    let sync = Sync { wait: ptr::null(), wait_count: 0, signal: &signal, signal_count: 1 };
    check(unsafe { halyard_queue_dispatch(queue.handle, &dispatch, &sync) })?;
    check(unsafe { halyard_semaphore_wait(done.handle, 1, u64::MAX) })?;

    let mut expected = [0_u32; 16];
    for value in values.iter() {
        expected[*value as usize % 16] += 1;
    }
    println!("{totals:?}");
    if totals[..] == expected[..] { Ok(()) } else { Err(format!("{expected:?} is expected.")) }
}

fn main() -> ExitCode {
    match run(&env::args().collect::<Vec<_>>()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("{message}");
            ExitCode::FAILURE
        }
    }
}
