/* A child of fork(), which has none of its parent's devices and can open none. */
#include <halyard/halyard.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "tests.h"

static void uses(halyard_buffer* buffer, halyard_executable* busy) {
#define FAILS(call) REFUSED(call, FAILED_PRECONDITION, "or posix_spawn instead")
  halyard_buffer* other = NULL;
  halyard_queue* made = NULL;
  halyard_registry* registry_of_child = NULL;
  halyard_device* opened = NULL;
  size_t count = 0;
  uint64_t value = 0;
  FAILS(halyard_device_allocate(device, 4096, NULL, &other));
  FAILS(halyard_device_create_queue(device, NULL, &made));
  FAILS(halyard_device_fault(device));
  FAILS(halyard_queue_fill(queue, halyard_whole(buffer), "x", 1, NULL));
  FAILS(halyard_queue_barrier(queue, NULL));
  FAILS(halyard_queue_abandon(queue));
  struct affine affine;
  prepare_affine(&affine, busy, halyard_whole(buffer), 1, 1, 1);
  FAILS(halyard_queue_dispatch(queue, &affine.dispatch, NULL));
  FAILS(halyard_semaphore_wait(done, reached + 1, halyard_deadline_after(1000000000)));
  FAILS(halyard_semaphore_query(done, &value));
  FAILS(halyard_semaphore_signal(done, reached + 1));
  FAILS(halyard_semaphore_fail(done, HALYARD_ABORTED, "given up"));
  FAILS(halyard_registry_open_device(registry, device_uri, NULL, 0, &opened));
  MUST(halyard_registry_default(&registry_of_child));
  FAILS(halyard_registry_open_device(registry_of_child, device_uri, NULL, 0, &opened));
  OK(halyard_registry_driver_count(registry, &count));
  CHECK(!halyard_device_can_access(device, NULL));
#undef FAILS
}

void test_fork(void) {
  halyard_executable* busy = load("busy.hipfb");
  halyard_buffer* buffer = allocate(4096, HALYARD_MEMORY_HOST);
  finish();
  for (int drops = 0; drops < 2; ++drops) {
    fflush(NULL);
    const pid_t child = fork();
    if (child == 0) {
      alarm(60);
      failures = 0;
      uses(buffer, busy);
      if (drops) {
        halyard_buffer_release(buffer);
        halyard_executable_release(busy);
        halyard_semaphore_release(done);
        halyard_queue_release(queue);
        halyard_device_release(device);
      }
      exit(failures == 0 ? 17 : 1); /* with the handlers of exit() */
    }
    int status = 0;
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 17);
  }
  /* The parent has it all. */
  const uint32_t five = 5;
  OK(halyard_queue_fill(queue, halyard_whole(buffer), &five, 4, NULL));
  finish();
  CHECK(words_of(buffer)[7] == 5);
  halyard_buffer_release(buffer);
  halyard_executable_release(busy);
}
