// Accesses to memory that host and GPU share, hidden from ThreadSanitizer. The vendor runtime's
// doorbells and signals order them, which it cannot see; and each suppressed race would cost a
// symbolised stack, for every word of a copy.
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
  SharedMemoryAccess() { begin(); }
  ~SharedMemoryAccess() {
    --depth_;
    AnnotateIgnoreWritesEnd(__FILE__, __LINE__);
    AnnotateIgnoreReadsEnd(__FILE__, __LINE__);
  }

  // How many live on this thread.
  static int depth() { return depth_; }
  // After a jump out of a signal handler (host_guard.h) over some destructors, to the scope of
  // `depth`: the sanitizer ignores nothing in a handler, and stays in that state.
  static void jumped_to(int depth) {
    depth_ = 0;
    while (depth_ < depth) begin();
  }
#else
  SharedMemoryAccess() {}
  ~SharedMemoryAccess() {}
  static int depth() { return 0; }
  static void jumped_to(int /*depth*/) {}
#endif
  SharedMemoryAccess(const SharedMemoryAccess&) = delete;
  SharedMemoryAccess& operator=(const SharedMemoryAccess&) = delete;

#if defined(__SANITIZE_THREAD__)
 private:
  static void begin() {
    ++depth_;
    AnnotateIgnoreReadsBegin(__FILE__, __LINE__);
    AnnotateIgnoreWritesBegin(__FILE__, __LINE__);
  }
  static inline thread_local int depth_ = 0;
#endif
};

}  // namespace halyard::vgpu
