// What HIP hands from one of our threads to another: it orders the two, but ThreadSanitizer, which
// does not see into HIP, has to be told.
#pragma once

#if defined(__SANITIZE_THREAD__)
extern "C" {
void __tsan_acquire(void* address);  // sanitizer/tsan_interface.h
void __tsan_release(void* address);
}
#endif

namespace halyard::hip {

// Before HIP gets `object`.
inline void hand_over([[maybe_unused]] void* object) {
#if defined(__SANITIZE_THREAD__)
  __tsan_release(object);
#endif
}

// After HIP has given `object` back, before anything of it is touched.
inline void take_over([[maybe_unused]] void* object) {
#if defined(__SANITIZE_THREAD__)
  __tsan_acquire(object);
#endif
}

}  // namespace halyard::hip
