// Accesses to memory that host and GPU share, as ThreadSanitizer is to see them: not at all. What
// orders them are the vendor runtime's doorbells and signals, which it cannot see; and each race
// that a suppression then hides costs it a symbolised stack, for every word of a copy.
#pragma once

#if defined(__SANITIZE_THREAD__)
extern "C" {
void AnnotateIgnoreReadsBegin(const char* file, int line);
void AnnotateIgnoreReadsEnd(const char* file, int line);
void AnnotateIgnoreWritesBegin(const char* file, int line);
void AnnotateIgnoreWritesEnd(const char* file, int line);
}
#endif

namespace halyard::vgpu {

// While one lives, its thread's plain accesses are the GPU's. Atomic ones order as ever.
class SharedMemoryAccess {
 public:
#if defined(__SANITIZE_THREAD__)
  SharedMemoryAccess() {
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~SharedMemoryAccess() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }
#else
  SharedMemoryAccess() {}
  ~SharedMemoryAccess() {}
#endif
  SharedMemoryAccess(const SharedMemoryAccess&) = delete;
  SharedMemoryAccess& operator=(const SharedMemoryAccess&) = delete;
};

}  // namespace halyard::vgpu
