/* Semaphores, of one process and of two, and functions of the host in queue order. */
#include <halyard/halyard.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "tests.h"

void test_semaphores(void) {
  halyard_semaphore *a, *b;
  MUST(halyard_device_create_semaphore(device, 3, &a));
  MUST(halyard_device_create_semaphore(device, 0, &b));
  uint64_t value = 0;
  MUST(halyard_semaphore_query(a, &value));
  CHECK(value == 3);
  REFUSED(halyard_semaphore_signal(a, 3), INVALID_ARGUMENT, "is not above the current one (3)");
  REFUSED(halyard_semaphore_wait(a, 4, HALYARD_POLL), DEADLINE_EXCEEDED,
          "the value (4) before the deadline");
  REFUSED(halyard_semaphore_wait(a, 4, halyard_deadline_after(1000000)), DEADLINE_EXCEEDED,
          "the value (4) before the deadline");
  MUST(halyard_semaphore_signal(a, 5));
  MUST(halyard_semaphore_wait(a, 4, HALYARD_FOREVER));

  const halyard_point points[2] = {{b, 1}, {a, 5}};
  size_t index = 99;
  MUST(halyard_device_wait(device, points, 2, HALYARD_WAIT_ANY, HALYARD_FOREVER, &index));
  CHECK(index == 1);
  REFUSED(halyard_device_wait(device, points, 2, HALYARD_WAIT_ALL, HALYARD_POLL, NULL),
          DEADLINE_EXCEEDED, "Of 2 semaphore points");
  REFUSED(halyard_device_wait(device, NULL, 1, HALYARD_WAIT_ALL, HALYARD_POLL, NULL),
          INVALID_ARGUMENT, "1 points at no address");
  REFUSED(halyard_device_wait(device, points, 2, (halyard_wait_mode)5, HALYARD_POLL, NULL),
          INVALID_ARGUMENT, "mode (5)");
  REFUSED(halyard_semaphore_fail(b, HALYARD_OK, "x"), INVALID_ARGUMENT, "code (0)");
  MUST(halyard_semaphore_fail(b, HALYARD_ABORTED, "The host gives it up."));
  REFUSED(halyard_semaphore_wait(b, 1, HALYARD_FOREVER), ABORTED, "The host gives it up.");
  REFUSED(halyard_device_wait(device, points, 2, HALYARD_WAIT_ALL, HALYARD_FOREVER, NULL), ABORTED,
          "gives it up");

  /* Work that waits for the host. */
  halyard_semaphore* gate;
  MUST(halyard_device_create_semaphore(device, 0, &gate));
  const halyard_point wait = {gate, 1}, signal = {a, 6};
  const halyard_sync sync = {&wait, 1, &signal, 1};
  MUST(halyard_queue_barrier(queue, &sync));
  REFUSED(halyard_semaphore_wait(a, 6, HALYARD_POLL), DEADLINE_EXCEEDED,
          "the value (6) before the deadline");
  MUST(halyard_semaphore_signal(gate, 1));
  MUST(halyard_semaphore_wait(a, 6, HALYARD_FOREVER));
  halyard_semaphore_retain(a);
  halyard_semaphore_release(a);
  halyard_semaphore_release(a);
  halyard_semaphore_release(b);
  halyard_semaphore_release(gate);
}

static halyard_error* count_call(void* context) {
  ++*(int*)context;
  return NULL;
}

static halyard_error* failing_call(void* context) {
  (void)context;
  return halyard_error_create(HALYARD_DATA_LOSS, "The host's file is torn.");
}

static void complete_at_once(void* context, halyard_completion* completion) {
  halyard_completion_complete(
      completion, context != NULL ? halyard_error_create(HALYARD_ABORTED, context) : NULL);
}

static void* complete_later(void* completion) {
  halyard_completion_complete(completion, NULL);
  return NULL;
}

static void hand_over(void* context, halyard_completion* completion) {
  if (pthread_create(context, NULL, &complete_later, completion) != 0) abort();
}

void test_host_calls(void) {
  int calls = 0;
  MUST(halyard_queue_host_call(queue, &count_call, &calls, NULL));
  MUST(halyard_queue_host_call(queue, &count_call, &calls, NULL));
  finish();
  CHECK(calls == 2);
  REFUSED(halyard_queue_host_call(queue, NULL, NULL, NULL), INVALID_ARGUMENT, "no function (null)");
  REFUSED(halyard_queue_host_call_deferred(queue, NULL, NULL, NULL), INVALID_ARGUMENT,
          "no function (null)");
  halyard_semaphore* semaphore;
  MUST(halyard_device_create_semaphore(device, 0, &semaphore));
  const halyard_point point = {semaphore, 1};
  const halyard_sync signal = {.signal = &point, .signal_count = 1};
  MUST(halyard_queue_host_call(queue, &failing_call, NULL, &signal));
  REFUSED(halyard_semaphore_wait(semaphore, 1, HALYARD_FOREVER), DATA_LOSS,
          "The host function of halyard_queue_host_call fails: The host's file is torn.");
  /* A call whose wait has failed is not made, and nothing of it is left behind. */
  const halyard_sync wait = {.wait = &point, .wait_count = 1};
  OK(halyard_queue_host_call(queue, &count_call, &calls, &wait));
  finish();
  CHECK(calls == 2);
  halyard_semaphore_release(semaphore);

  MUST(halyard_queue_host_call_deferred(queue, &complete_at_once, NULL, NULL));
  pthread_t thread;
  MUST(halyard_queue_host_call_deferred(queue, &hand_over, &thread, NULL));
  finish();
  pthread_join(thread, NULL);
  MUST(halyard_device_create_semaphore(device, 0, &semaphore));
  const halyard_point failed = {semaphore, 1};
  const halyard_sync sync = {.signal = &failed, .signal_count = 1};
  char words[] = "The thread gives up.";
  MUST(halyard_queue_host_call_deferred(queue, &complete_at_once, words, &sync));
  REFUSED(halyard_semaphore_wait(semaphore, 1, HALYARD_FOREVER), ABORTED, words);
  halyard_semaphore_release(semaphore);
  halyard_completion_complete(NULL, halyard_error_create(HALYARD_ABORTED, "")); /* freed */
}

/* The other process: waits for 1 and has work reach 2. */
void be_the_other(const char* file) {
  halyard_exported_semaphore exported = {.struct_size = sizeof exported};
  FILE* const stream = fopen(file, "rb");
  if (stream == NULL || fread(exported.ipc, sizeof exported.ipc, 1, stream) != 1) exit(3);
  fclose(stream);
  halyard_semaphore* shared = NULL;
  MUST(halyard_device_import_semaphore(device, &exported, &shared));
  MUST(halyard_semaphore_wait(shared, 1, HALYARD_FOREVER));
  const halyard_point two = {shared, 2};
  const halyard_sync sync = {.signal = &two, .signal_count = 1};
  MUST(halyard_queue_barrier(queue, &sync));
  MUST(halyard_semaphore_wait(shared, 3, HALYARD_FOREVER));
  halyard_semaphore_release(shared);
}

void test_shared_semaphores(char** arguments) {
  halyard_semaphore* shared = NULL;
  MUST(halyard_device_create_semaphore(device, 0, &shared));
  halyard_exported_semaphore exported = {.struct_size = sizeof exported};
  MUST(halyard_device_export_semaphore(device, shared, &exported));
  char file[] = "/tmp/halyard_c_facts_XXXXXX";
  const int descriptor = mkstemp(file);
  if (!CHECK(descriptor >= 0 && write(descriptor, exported.ipc, sizeof exported.ipc) ==
                                    (ssize_t)sizeof exported.ipc)) {
    return;
  }
  close(descriptor);
  const pid_t other = fork();
  if (other == 0) {
    execl("/proc/self/exe", arguments[0], arguments[1], arguments[2], arguments[3], file,
          (char*)NULL);
    _exit(4);
  }
  MUST(halyard_semaphore_signal(shared, 1));
  OK(halyard_semaphore_wait(shared, 2, halyard_deadline_after(UINT64_C(120000000000))));
  OK(halyard_semaphore_signal(shared, 3));
  int status = 0;
  CHECK(waitpid(other, &status, 0) == other && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  unlink(file);
  halyard_semaphore_release(shared);

  /* What nobody has exported. */
  const halyard_exported_semaphore nothing = {.struct_size = sizeof nothing};
  halyard_semaphore* imported = NULL;
  halyard_error* const error = halyard_device_import_semaphore(device, &nothing, &imported);
  CHECK(error != NULL && imported == NULL);
  halyard_error_free(error);
  REFUSED(halyard_device_import_semaphore(device, NULL, &imported), INVALID_ARGUMENT,
          "no exported semaphore (null)");
  REFUSED(halyard_device_export_semaphore(device, NULL, &exported), INVALID_ARGUMENT,
          "no semaphore (null)");
}
