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
    ++depth_;
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  ~SharedMemoryAccess() { end(); }

  // How many live on this thread.
  static int depth() { return depth_; }
  // Ends those above `depth` whose destructors were jumped over (host_guard.h).
  static void end_above(int depth) {
    while (depth_ > depth) end();
  }
#else
  SharedMemoryAccess() {}
  ~SharedMemoryAccess() {}
  static int depth() { return 0; }
  static void end_above(int /*depth*/) {}
#endif
  SharedMemoryAccess(const SharedMemoryAccess&) = delete;
  SharedMemoryAccess& operator=(const SharedMemoryAccess&) = delete;

#if defined(__SANITIZE_THREAD__)
 private:
  static void end() {
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
    --depth_;
  }
  static inline thread_local int depth_ = 0;
#endif
};

}  // namespace halyard::vgpu
