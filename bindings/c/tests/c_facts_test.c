/* What a program asks about devices, memory and time, from C11: facts of profiles, pools with a limit, allocations
 * by address, clocks, residency, the end of an import, semaphores of several processes.
 *
 *   c_facts_test DEVICE PROFILE KERNELS      such as: amdgpu gfx90a cts/kernels
 *
 * Prints each check that fails and exits with 1 if there is one. */
#include <halyard/halyard.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

/* ---- Profiles */

struct events {
  halyard_profile_event list[32];
  char names[32][32];
  size_t count;
};

static void keep_event(void* context, const halyard_profile_event* event) {
  struct events* events = context;
  if (events->count == 32) return;
  events->list[events->count] = *event;
  snprintf(events->names[events->count], 32, "%s", event->name);
  ++events->count;
}

/* The nth event of the kind. */
static const halyard_profile_event* event_of(const struct events* events, halyard_profile_kind kind,
                                             size_t n) {
  for (size_t i = 0; i < events->count; ++i) {
    if (events->list[i].kind == kind && n-- == 0) return &events->list[i];
  }
  return NULL;
}

static void test_profile_facts(void) {
  halyard_executable* executable = load("busy.hipfb");
  halyard_buffer* data = allocate(256, HALYARD_MEMORY_DEVICE);
  const uint32_t n = 64;
  const halyard_argument arguments[4] = {halyard_buffer_argument(halyard_whole(data)),
                                         halyard_value(&n, 4), halyard_value(&n, 4),
                                         halyard_value(&n, 4)};
  const halyard_dispatch dispatch = {.struct_size = sizeof dispatch,
                                     .function = find(executable, "affine"),
                                     .grid = {64, 1, 1},
                                     .workgroup = {32, 1, 1},
                                     .arguments = arguments,
                                     .argument_count = 4};
  halyard_command_buffer* commands = NULL;
  MUST(halyard_device_create_command_buffer(device, &commands));
  MUST(halyard_command_buffer_dispatch(commands, &dispatch));
  MUST(halyard_command_buffer_barrier(commands));
  MUST(halyard_command_buffer_dispatch(commands, &dispatch));
  MUST(halyard_command_buffer_finish(commands));

  MUST(halyard_device_begin_profile(device));
  MUST(halyard_queue_fill(queue, halyard_whole(data), &n, 4, NULL));
  MUST(halyard_queue_dispatch(queue, &dispatch, NULL));
  MUST(halyard_queue_execute(queue, commands, NULL, 0, NULL));
  static struct events events;
  events.count = 0;
  MUST(halyard_device_end_profile(device, &keep_event, &events));
  CHECK(halyard_queue_id(queue) != 0 && halyard_queue_id(NULL) == 0);
  for (size_t i = 0; i < events.count; ++i) {
    CHECK(events.list[i].queue == halyard_queue_id(queue));
    CHECK(events.list[i].begin_ns <= events.list[i].end_ns);
  }
  const halyard_profile_event* fill = event_of(&events, HALYARD_PROFILE_FILL, 0);
  if (CHECK(fill != NULL)) CHECK(fill->bytes == 256 && fill->execution == 0);
  const halyard_profile_event* single = event_of(&events, HALYARD_PROFILE_DISPATCH, 0);
  const halyard_profile_event* first = event_of(&events, HALYARD_PROFILE_DISPATCH, 1);
  const halyard_profile_event* second = event_of(&events, HALYARD_PROFILE_DISPATCH, 2);
  if (CHECK(single != NULL && first != NULL && second != NULL)) {
    CHECK(single->execution == 0 && single->command == 0);
    CHECK(single->grid.x == 64 && single->grid.y == 1 && single->workgroup.x == 32);
    CHECK(first->execution != 0 && first->execution == second->execution);
    CHECK(first->command == 0 && second->command == 1); /* a barrier is not counted */
  }

  /* Of one kind only. */
  MUST(halyard_device_begin_profile_of(device, UINT64_C(1) << HALYARD_PROFILE_FILL));
  MUST(halyard_queue_dispatch(queue, &dispatch, NULL));
  MUST(halyard_queue_fill(queue, halyard_whole(data), &n, 4, NULL));
  events.count = 0;
  MUST(halyard_device_end_profile(device, &keep_event, &events));
  CHECK(events.count == 1 && events.list[0].kind == HALYARD_PROFILE_FILL);
  CHECK(strcmp(events.names[0], "fill") == 0);
  REFUSED(halyard_device_begin_profile_of(device, UINT64_C(1) << 60), INVALID_ARGUMENT, "");

  CHECK(strcmp(halyard_profile_kind_name(HALYARD_PROFILE_HOST_CALL), "host_call") == 0);
  CHECK(strcmp(halyard_profile_kind_name((halyard_profile_kind)99), "unknown") == 0);
  finish();
  halyard_command_buffer_release(commands);
  halyard_buffer_release(data);
  halyard_executable_release(executable);
}

/* ---- Memory */

static void test_memory_pools(void) {
  const uint64_t limit = UINT64_C(8) << 20;
  const halyard_memory_pool_info info = {.struct_size = sizeof info, .limit_bytes = limit};
  halyard_memory_pool* pool = NULL;
  MUST(halyard_device_create_memory_pool(device, &info, &pool));
  CHECK(halyard_memory_pool_device(pool) == device && halyard_memory_pool_device(NULL) == NULL);
  halyard_memory_pool_info got = {.struct_size = sizeof got};
  MUST(halyard_memory_pool_get_info(pool, &got));
  CHECK(got.type == HALYARD_MEMORY_DEVICE && got.limit_bytes == limit && got.keep_bytes == 0);

  const halyard_buffer_options options = {.struct_size = sizeof options, .pool = pool};
  halyard_buffer *small = NULL, *large = NULL;
  MUST(halyard_queue_alloca(queue, 4096, &options, NULL, &small));
  REFUSED(halyard_queue_alloca(queue, limit * 2, &options, NULL, &large), RESOURCE_EXHAUSTED, "");
  CHECK(large == NULL);
  halyard_pool_statistics statistics = {.struct_size = sizeof statistics};
  MUST(halyard_memory_pool_statistics(pool, &statistics));
  CHECK(statistics.allocations == 1 && statistics.used_bytes >= 4096);
  MUST(halyard_queue_dealloca(queue, small, NULL));
  finish();
  halyard_buffer_release(small);
  MUST(halyard_memory_pool_trim(pool, 0));
  MUST(halyard_memory_pool_statistics(pool, &statistics));
  CHECK(statistics.used_bytes == 0 && statistics.reserved_bytes == 0);

  REFUSED(halyard_device_allocate(device, 64, &options, &large), INVALID_ARGUMENT,
          "Pools are for halyard_queue_alloca");
  const halyard_buffer_options wrong = {.struct_size = sizeof wrong,
                                        .pool = (halyard_memory_pool*)(void*)queue};
  REFUSED(halyard_queue_alloca(queue, 64, &wrong, NULL, &large), INVALID_ARGUMENT,
          "is not the handle of a memory pool");
  halyard_memory_pool_retain(pool);
  halyard_memory_pool_release(pool);
  halyard_memory_pool_release(pool);

  /* It keeps nothing. */
  const halyard_memory_pool_info none = {
      .struct_size = sizeof none, .type = HALYARD_MEMORY_HOST, .keep_bytes = HALYARD_KEEP_NONE};
  MUST(halyard_device_create_memory_pool(device, &none, &pool));
  got.struct_size = sizeof got;
  MUST(halyard_memory_pool_get_info(pool, &got));
  CHECK(got.type == HALYARD_MEMORY_HOST && got.keep_bytes == HALYARD_KEEP_NONE);
  halyard_memory_pool_release(pool);
  const halyard_memory_pool_info bad = {.struct_size = sizeof bad, .type = (halyard_memory_type)9};
  REFUSED(halyard_device_create_memory_pool(device, &bad, &pool), INVALID_ARGUMENT, "(9)");
  REFUSED(halyard_memory_pool_trim(NULL, 0), INVALID_ARGUMENT, "no memory pool (null)");
}

static void test_find_allocation(void) {
  halyard_buffer* buffer = allocate(4096, HALYARD_MEMORY_HOST);
  const uint32_t* const words = words_of(buffer);
  halyard_allocation_info info = {.struct_size = sizeof info};
  MUST(halyard_device_find_allocation(device, words + 3, &info));
  CHECK(info.type == HALYARD_MEMORY_HOST && info.owner == HALYARD_OWNER_DEVICE);
  CHECK(info.size == 4096 && info.host_pointer == (const void*)words);
  CHECK(info.device_address == halyard_buffer_device_address(buffer));
  const uintptr_t address = (uintptr_t)halyard_buffer_device_address(buffer);
  MUST(halyard_device_find_allocation(device, (const void*)(address + 4095), &info));
  CHECK(info.device_address == address);
  int on_stack = 0;
  REFUSED(halyard_device_find_allocation(device, &on_stack, &info), NOT_FOUND, "");
  MUST(halyard_buffer_unmap(buffer, (void*)(uintptr_t)words));
  halyard_buffer_release(buffer);
}

static uint32_t host_memory[1024];
static atomic_int releases;

static void count_release(void* context) {
  if (context == host_memory) atomic_fetch_add(&releases, 1);
}

static void test_import_release(void) {
  const halyard_import_options options = {.struct_size = sizeof options,
                                          .kind = HALYARD_IMPORT_HOST_MEMORY,
                                          .pointer = host_memory,
                                          .size = sizeof host_memory,
                                          .release = &count_release,
                                          .release_context = host_memory};
  halyard_buffer* buffer = NULL;
  MUST(halyard_device_import_buffer(device, &options, &buffer));
  halyard_allocation_info info = {.struct_size = sizeof info};
  MUST(halyard_device_find_allocation(device, &host_memory[5], &info));
  CHECK(info.owner == HALYARD_OWNER_HOST_MEMORY);
  const uint32_t seven = 7;
  MUST(halyard_queue_fill(queue, halyard_whole(buffer), &seven, 4, signal_next()));
  CHECK(atomic_load(&releases) == 0);
  halyard_buffer_release(buffer);
  MUST(halyard_semaphore_wait(done, reached, HALYARD_FOREVER));
  CHECK(host_memory[1023] == 7);
  const struct timespec pause = {0, 1000000};
  for (int i = 0; i < 60000 && atomic_load(&releases) == 0; ++i) nanosleep(&pause, NULL);
  CHECK(atomic_load(&releases) == 1);
  /* An import that fails leaves the memory to the caller. */
  halyard_import_options bad = options;
  bad.size = 0;
  REFUSED(halyard_device_import_buffer(device, &bad, &buffer), INVALID_ARGUMENT, "");
  CHECK(atomic_load(&releases) == 1);
}

/* ---- The device */

static void test_clocks(void) {
  halyard_clock_reading one = {.struct_size = sizeof one}, two = {.struct_size = sizeof two};
  struct timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  MUST(halyard_device_read_clocks(device, &one));
  MUST(halyard_device_read_clocks(device, &two));
  clock_gettime(CLOCK_MONOTONIC, &after);
  const uint64_t second = 1000000000;
  CHECK(one.host_ns >= (uint64_t)before.tv_sec * second + (uint64_t)before.tv_nsec);
  CHECK(two.host_ns <= (uint64_t)after.tv_sec * second + (uint64_t)after.tv_nsec);
  CHECK(one.host_ns <= two.host_ns && one.device_ticks <= two.device_ticks);
  CHECK(one.device_hz > 1000000 && two.device_hz > 1000000);
}

static void test_residency(void) {
  halyard_executable* executable = load("vadd_c_v5.hipfb");
  halyard_function* vadd = find(executable, "vadd");
  halyard_device_info device_info = {.struct_size = sizeof device_info};
  MUST(halyard_device_get_info(device, &device_info));
  halyard_residency residency = {.struct_size = sizeof residency};
  MUST(halyard_function_residency(vadd, 256, 0, &residency));
  CHECK(residency.workgroup_size == 256 && residency.groups_per_compute_unit > 0);
  CHECK(residency.groups ==
        (uint64_t)residency.groups_per_compute_unit * device_info.compute_units);
  CHECK(residency.waves_per_simd <= residency.max_waves_per_simd);
  halyard_residency with_lds = {.struct_size = sizeof with_lds};
  MUST(halyard_function_residency(vadd, 256, device_info.lds_bytes, &with_lds));
  CHECK(with_lds.groups_per_compute_unit == 1);
  MUST(halyard_function_suggest_workgroup_size(vadd, 0, &residency));
  CHECK(residency.workgroup_size >= 64 && residency.workgroup_size % 64 == 0);
  REFUSED(halyard_function_residency(vadd, 0, 0, &residency), INVALID_ARGUMENT, "");
  halyard_executable_release(executable);
}

/* ---- Semaphores of two processes */

/* The other process: waits for 1 and has work reach 2. */
static void be_the_other(const char* file) {
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

static void test_shared_semaphores(char** arguments) {
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
  REFUSED(halyard_device_import_semaphore(device, NULL, &imported), INVALID_ARGUMENT, "(null)");
  REFUSED(halyard_device_export_semaphore(device, NULL, &exported), INVALID_ARGUMENT, "(null)");
}

int main(int argc, char** argv) {
  if (argc != 4 && argc != 5) {
    fprintf(stderr, "usage: %s DEVICE PROFILE KERNELS\n", argv[0]);
    return 2;
  }
  device_uri = argv[1];
  kernels = argv[3];
  MUST(halyard_load_virtual_gpu(argv[2], NULL));
  MUST(halyard_registry_default(&registry));
  MUST(halyard_registry_open_device(registry, device_uri, NULL, 0, &device));
  MUST(halyard_device_create_queue(device, NULL, &queue));
  MUST(halyard_device_create_semaphore(device, 0, &done));
  if (argc == 5) {
    be_the_other(argv[4]);
  } else {
    test_profile_facts();
    test_memory_pools();
    test_find_allocation();
    test_import_release();
    test_clocks();
    test_residency();
    test_shared_semaphores(argv);
  }
  halyard_semaphore_release(done);
  halyard_queue_release(queue);
  halyard_device_release(device);
  halyard_registry_release(registry);
  if (failures == 0 && argc == 4) printf("all checks hold\n");
  return failures == 0 ? 0 : 1;
}
