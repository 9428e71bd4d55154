//! What the kernels need of the GPU: their place in the grid, memory that a work-group shares, and
//! an allocator over a buffer.

use core::alloc::{GlobalAlloc, Layout};
use core::arch::amdgpu::{s_barrier, workgroup_id_x, workitem_id_x};
use core::intrinsics::gpu::amdgpu_dispatch_ptr;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering, fence};

/// The beginning of the packet that started the kernel (hsa_kernel_dispatch_packet_t).
#[repr(C)]
struct DispatchPacket {
    header: u16,
    setup: u16,
    workgroup_size: [u16; 3],
    reserved: u16,
    grid_size: [u32; 3],
}

/// Work-items of a full work-group, in its first dimension.
pub fn group_size() -> usize {
    let packet = amdgpu_dispatch_ptr().cast::<DispatchPacket>();
    usize::from(unsafe { (*packet).workgroup_size[0] })
}

/// The work-item's place in its work-group.
pub fn local_id() -> usize {
    workitem_id_x() as usize
}

/// The work-item's place in the grid.
pub fn global_id() -> usize {
    workgroup_id_x() as usize * group_size() + local_id()
}

/// Waits for the work-group's other items, which then see what this one has written to LDS and
/// memory.
pub fn barrier() {
    fence(Ordering::Release);
    s_barrier();
    fence(Ordering::Acquire);
}

mod lds {
    unsafe extern "C" {
        pub fn launch_lds() -> *mut u8;
        pub fn lds_bins() -> *mut u32;
    }
}

/// The LDS that the launch has sized, as an array that the work-group shares.
pub fn launch_lds<T>() -> *mut T {
    unsafe { lds::launch_lds().cast() }
}

/// Sixteen counters of the work-group, in LDS. Their first values are arbitrary.
pub fn lds_bins() -> &'static [AtomicU32; 16] {
    unsafe { &*lds::lds_bins().cast() }
}

/// An allocator over a buffer, which all work-items share. It frees nothing before the buffer's
/// next use.
pub struct Heap {
    begin: AtomicPtr<u8>,
    size: AtomicU64,
}

/// How the buffer begins. The host fills it with zeros.
#[repr(C)]
struct HeapHeader {
    used: AtomicU64, // bytes behind the header
}

impl Heap {
    /// Every work-item calls this before it allocates, all of a launch with the same buffer.
    ///
    /// # Safety
    /// `buffer` has `size` bytes, begins with eight zeros, and belongs to the launch.
    pub unsafe fn set(&self, buffer: *mut u8, size: u64) {
        self.begin.store(buffer, Ordering::Relaxed);
        self.size.store(size, Ordering::Relaxed);
    }
}

unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let header = self.begin.load(Ordering::Relaxed);
        let size = self.size.load(Ordering::Relaxed);
        // Room for the alignment too, so that one atomic operation suffices.
        let wanted = (layout.size() + layout.align()) as u64;
        let used = unsafe { &(*header.cast::<HeapHeader>()).used };
        let begin = size_of::<HeapHeader>() as u64 + used.fetch_add(wanted, Ordering::Relaxed);
        if begin + wanted > size {
            return null_mut();
        }
        let place = header.wrapping_add(begin as usize);
        place.wrapping_add(place.align_offset(layout.align()))
    }

    unsafe fn dealloc(&self, _place: *mut u8, _layout: Layout) {}
}

#[global_allocator]
pub static HEAP: Heap = Heap {
    begin: AtomicPtr::new(null_mut()),
    size: AtomicU64::new(0),
};
