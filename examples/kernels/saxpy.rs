// y = a * x + y in Rust, with core's intrinsics for the place in the grid. A panic (an index past
// the end of a slice) traps.
#![no_std]
#![feature(abi_gpu_kernel, core_intrinsics, gpu_intrinsics, stdarch_amdgpu)]
#![allow(internal_features)]

use core::arch::amdgpu::{workgroup_id_x, workitem_id_x};
use core::intrinsics::gpu::amdgpu_dispatch_ptr;
use core::slice;

/// # Safety
/// `x` and `y` have `count` elements, and nothing else writes `y`.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn saxpy(x: *const f32, y: *mut f32, a: f32, count: u32) {
    // The dispatch packet has workgroup_size_x behind its header and setup.
    let size = unsafe { *amdgpu_dispatch_ptr().cast::<u16>().add(2) };
    let i = (workgroup_id_x() * u32::from(size) + workitem_id_x()) as usize;
    if i < count as usize {
        let x = unsafe { slice::from_raw_parts(x, count as usize) };
        let y = unsafe { &mut *y.add(i) };
        *y += a * x[i];
    }
}
