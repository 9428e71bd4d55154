//! Kernels in Rust: a `no_std` crate for amdgcn-amd-amdhsa. Each function shows one part of the
//! language on a GPU. In this folder,
//!
//!     halyard compile kernels.rs lds.c --target=gfx900,gfx90a,gfx9-4-generic -o kernels.hipfb
//!
//! makes kernels.hipfb, which is checked in.
#![no_std]
#![feature(
    abi_gpu_kernel,
    core_float_math,
    core_intrinsics,
    gpu_intrinsics,
    stdarch_amdgpu
)]
#![allow(internal_features)]

extern crate alloc;

mod gpu;

use alloc::boxed::Box;
use alloc::collections::BTreeMap;
use alloc::format;
use alloc::vec::Vec;
use core::f32::math;
use core::slice;
use core::sync::atomic::{AtomicU32, Ordering};

use gpu::{HEAP, barrier, global_id, group_size, launch_lds, lds_bins, local_id};

/// Slices: `sums[i]` is the sum of the i-th chunk of `chunk` values.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn chunk_sums(
    values: *const f32,
    sums: *mut f32,
    count: u32,
    chunk: u32,
) {
    let values = unsafe { slice::from_raw_parts(values, count as usize) };
    if let Some(mine) = values.chunks(chunk as usize).nth(global_id()) {
        unsafe { *sums.add(global_id()) = mine.iter().sum() };
    }
}

/// `values[index]`, which panics if there is no such element.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn element(
    values: *const f32,
    out: *mut f32,
    count: u32,
    index: u32,
) {
    let values = unsafe { slice::from_raw_parts(values, count as usize) };
    unsafe { *out = values[index as usize] };
}

/// Floats of `core`: eight results for each value.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn floats(values: *const f32, out: *mut [f32; 8], count: u32) {
    let i = global_id();
    if i >= count as usize {
        return;
    }
    let x = unsafe { *values.add(i) };
    let wide = f64::from(x);
    let results = [
        math::floor(x),
        math::sqrt(x.abs()),
        math::mul_add(x, x, 1.0),
        x.clamp(-1.0, 1.0),
        x.max(0.5),
        (wide / 3.0) as f32,
        f32::from_bits(x.to_bits() ^ 0x8000_0000),
        x as i32 as f32,
    ];
    unsafe { *out.add(i) = results };
}

/// Integers of `core`: eight results for each value.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn integers(values: *const u32, out: *mut [u64; 8], count: u32) {
    let i = global_id();
    if i >= count as usize {
        return;
    }
    let x = unsafe { *values.add(i) };
    let wide = u128::from(x) * 0x1_0000_0001_0000_0001;
    let results = [
        u64::from(x.leading_zeros()),
        u64::from(x.isqrt()),
        u64::from(x.rotate_left(5).swap_bytes()),
        1_000_000_007_u64
            .checked_rem(u64::from(x))
            .unwrap_or(u64::MAX),
        (wide >> 64) as u64,
        (wide / 1_000_000_007) as u64,
        u64::from(x.saturating_sub(10)),
        u64::from(x.wrapping_pow(3)),
    ];
    unsafe { *out.add(i) = results };
}

/// `alloc` over the buffer `heap`: of each word (up to a blank or the end) in `text`, how often it
/// is there, as "word=count " in the order of the words. One work-item; `length` is that of `text`,
/// then that of `out`.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn count_words(
    heap: *mut u8,
    heap_size: u64,
    text: *const u8,
    length: *mut u32,
    out: *mut u8,
) {
    unsafe { HEAP.set(heap, heap_size) };
    let text = unsafe { slice::from_raw_parts(text, *length as usize) };
    let mut counts = BTreeMap::new();
    for word in text.split(|&c| c == b' ').filter(|word| !word.is_empty()) {
        *counts.entry(word).or_insert(0_u32) += 1;
    }
    let mut lines = Vec::new();
    for (word, count) in &counts {
        let word = core::str::from_utf8(word).unwrap();
        lines.push(format!("{word}={count} "));
    }
    let all = lines.concat();
    unsafe {
        out.copy_from_nonoverlapping(all.as_ptr(), all.len());
        *length = all.len() as u32;
    }
}

/// `alloc` in many work-items at once: each sorts a list of its own, and keeps its median in a box
/// that it calls through a trait.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn medians(
    heap: *mut u8,
    heap_size: u64,
    out: *mut u32,
    count: u32,
) {
    unsafe { HEAP.set(heap, heap_size) };
    let i = global_id() as u32;
    if i >= count {
        return;
    }
    let mut list: Vec<u32> = (0..9).map(|k| (i * 7 + k * 5) % 11).collect();
    list.sort();
    let median = list[4];
    let result: Box<dyn Fn(u32) -> u32> = if i % 2 == 0 {
        Box::new(move |x| x + median)
    } else {
        Box::new(move |x| x * median)
    };
    unsafe { *out.add(i as usize) = result(3) };
}

/// LDS that the launch sizes: each work-group reverses its part of `values`. The grid has as many
/// work-items as there are values.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn reverse(values: *mut u32) {
    let tile = launch_lds::<u32>();
    unsafe {
        *tile.add(local_id()) = *values.add(global_id());
        barrier();
        *values.add(global_id()) = *tile.add(group_size() - 1 - local_id());
    }
}

/// Atomics in LDS and in memory: how many of the values have each of the remainders by 16.
#[unsafe(no_mangle)]
pub unsafe extern "gpu-kernel" fn histogram(values: *const u32, totals: *mut u32, count: u32) {
    let bins = lds_bins();
    if let Some(bin) = bins.get(local_id()) {
        bin.store(0, Ordering::Relaxed);
    }
    barrier();
    if global_id() < count as usize {
        let value = unsafe { *values.add(global_id()) };
        bins[value as usize % 16].fetch_add(1, Ordering::Relaxed);
    }
    barrier();
    if let Some(bin) = bins.get(local_id()) {
        let total = unsafe { AtomicU32::from_ptr(totals.add(local_id())) };
        total.fetch_add(bin.load(Ordering::Relaxed), Ordering::Relaxed);
    }
}
