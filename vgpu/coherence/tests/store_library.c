// Stores for its caller. Built twice: as a library whose file has a name like the runtime's, and as
// one of the program's.
#include <string.h>

#define JOIN(a, b) a##b
#define NAME(who, what) JOIN(who, what)

int NAME(STORES_FOR, _copies)(void* to, const void* from, size_t bytes) {
  memcpy(to, from, bytes);
  return 0;  // behind the call, so that this function stays on the stack
}

void NAME(STORES_FOR, _stores)(unsigned* to, unsigned value) {
  *(volatile unsigned*)to = value;
}

// Has another library copy, and stores behind it.
int NAME(STORES_FOR, _stores_behind)(int (*copies)(void*, const void*, size_t), unsigned* to,
                                     const unsigned* from, size_t words, unsigned value) {
  const int result = copies(to, from, words * sizeof *to);
  ((volatile unsigned*)to)[words - 1] = value;
  return result;
}
