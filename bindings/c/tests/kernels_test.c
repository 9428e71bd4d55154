/* Modules, executables, functions and launches. */
#include <halyard/halyard.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "tests.h"

void test_modules(void) {
  char path[4096];
  snprintf(path, sizeof path, "%s/vadd_c_v6.hipfb", kernels);
  halyard_module* module = NULL;
  REFUSED(halyard_module_open("/nosuch/file", NULL, &module), NOT_FOUND, "/nosuch/file");
  REFUSED(halyard_module_read("nonsense", 8, NULL, &module), INVALID_ARGUMENT, "6e 6f 6e 73");
  MUST(halyard_module_open(path, NULL, &module));
  CHECK(halyard_module_get_format(module) == HALYARD_FORMAT_OFFLOAD_BUNDLE);
  const size_t count = halyard_module_variant_count(module);
  CHECK(count > 2);
  halyard_device_info info = {.struct_size = sizeof info};
  MUST(halyard_device_get_info(device, &info));
  size_t chosen = 0;
  size_t number = 0;
  MUST(halyard_module_choose(module, info.target, &chosen, 1, &number));
  CHECK(number == 1 && chosen < count);
  halyard_module_variant variant = {.struct_size = sizeof variant};
  MUST(halyard_module_get_variant(module, chosen, &variant));
  CHECK(strncmp(variant.target, "gfx9", 4) == 0 && variant.problem[0] == '\0');
  CHECK(variant.code_object_version == 6 && memcmp(variant.data, "\177ELF", 4) == 0);
  REFUSED(halyard_module_choose(module, "gfx700", &chosen, 1, &number), FAILED_PRECONDITION,
          "no variant for the device (gfx700)");
  REFUSED(halyard_module_get_variant(module, count, &variant), OUT_OF_RANGE, "variant");
  CHECK(halyard_module_ignored_count(module) == 0);
  const char *file, *reason;
  REFUSED(halyard_module_ignored(module, 0, &file, &reason), OUT_OF_RANGE, "ignored file 0");

  /* One variant is a code object, which a device loads as it is. */
  MUST(halyard_module_get_variant(module, chosen < count ? chosen : 0, &variant));
  halyard_executable* executable = NULL;
  MUST(halyard_device_load_executable(device, variant.data, variant.size, &executable));
  halyard_module_retain(module);
  halyard_module_release(module);
  halyard_module_release(module);
  CHECK(halyard_executable_device(executable) == device);
  halyard_executable_info facts = {.struct_size = sizeof facts};
  MUST(halyard_executable_get_info(executable, &facts));
  CHECK(strncmp(facts.target, "gfx9", 4) == 0 && facts.code_object_version == 6);
  CHECK(halyard_executable_function_count(executable) == 1);

  halyard_function* function = NULL;
  MUST(halyard_executable_function(executable, 0, &function));
  CHECK(function == find(executable, "vadd"));
  CHECK(halyard_function_executable(function) == executable);
  REFUSED(halyard_executable_find(executable, "vad", &function), NOT_FOUND,
          "Did you mean \"vadd\"?");
  REFUSED(halyard_executable_function(executable, 1, &function), OUT_OF_RANGE, "function 1");
  halyard_function_info shape = {.struct_size = sizeof shape};
  MUST(halyard_function_get_info(function, &shape));
  CHECK(strcmp(shape.name, "vadd") == 0 && shape.argument_count == 4 && shape.vgpr_count > 0);
  CHECK(shape.kernarg_size >= 28 && shape.wavefront_size == 64);
  halyard_argument_info argument = {.struct_size = sizeof argument};
  MUST(halyard_function_argument(function, 0, &argument));
  CHECK(argument.kind == HALYARD_ARGUMENT_BUFFER && argument.size == 8 && argument.offset == 0);
  CHECK(strcmp(argument.value_kind, "global_buffer") == 0);
  MUST(halyard_function_argument(function, 3, &argument));
  CHECK(argument.kind == HALYARD_ARGUMENT_VALUE && argument.size == 4 && argument.offset == 24);
  REFUSED(halyard_function_argument(function, 4, &argument), OUT_OF_RANGE, "argument 4");
  for (uint32_t i = 0; i < shape.hidden_count; ++i) {
    MUST(halyard_function_hidden_argument(function, i, &argument));
    CHECK(argument.kind >= HALYARD_ARGUMENT_FIRST_HIDDEN);
  }
  halyard_executable_release(executable);

  executable = load("global.hipfb");
  halyard_global_info global = {.struct_size = sizeof global};
  MUST(halyard_executable_global(executable, "global_input", &global));
  CHECK(global.size == 16 && global.device_address != 0);
  REFUSED(halyard_executable_global(executable, "nosuch", &global), NOT_FOUND,
          "global variable (nosuch)");
  halyard_executable_release(executable);
}

void test_residency(void) {
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
  REFUSED(halyard_function_residency(vadd, 0, 0, &residency), INVALID_ARGUMENT,
          "work-groups of 0 work-items");
  halyard_executable_release(executable);
}

/* out[i] = a[i] + b[i], in three ways of giving the arguments. */
void test_dispatch(void) {
  enum { kCount = 1000 };
  halyard_executable* executable = load("vadd_c_v6.hipfb");
  halyard_function* function = find(executable, "vadd");
  halyard_executable_retain(executable);
  halyard_executable_release(executable);
  float a[kCount], b[kCount];
  for (int i = 0; i < kCount; ++i) {
    a[i] = (float)i;
    b[i] = 0.5f;
  }
  halyard_buffer* inputs = allocate(2 * sizeof a, HALYARD_MEMORY_DEVICE);
  halyard_buffer* out = allocate(sizeof a, HALYARD_MEMORY_HOST);
  MUST(halyard_queue_update(queue, halyard_part(inputs, 0, sizeof a), a, sizeof a, NULL));
  MUST(halyard_queue_update(queue, halyard_part(inputs, sizeof a, sizeof b), b, sizeof b, NULL));
  const uint32_t n = kCount;
  halyard_argument arguments[4] = {
      halyard_buffer_argument(halyard_part(inputs, 0, sizeof a)),
      halyard_address(halyard_buffer_device_address(inputs) + sizeof a),
      halyard_buffer_argument(halyard_whole(out)),
      halyard_value(&n, sizeof n),
  };
  halyard_dispatch dispatch = {.struct_size = sizeof dispatch,
                               .function = function,
                               .grid = {kCount, 1, 1},
                               .workgroup = {256, 1, 1},
                               .arguments = arguments,
                               .argument_count = 4};
  MUST(halyard_queue_dispatch(queue, &dispatch, signal_next()));
  MUST(halyard_semaphore_wait(done, reached, HALYARD_FOREVER));
  const float* sums = (const float*)(const void*)words_of(out);
  for (int i = 0; i < kCount; ++i) {
    if (!CHECK(sums[i] == (float)i + 0.5f)) break;
  }

  /* The same, with the number of groups from memory. */
  memset((void*)(uintptr_t)sums, 0, sizeof a);
  const uint32_t groups[3] = {4, 1, 1};
  halyard_buffer* counts = allocate(sizeof groups, HALYARD_MEMORY_DEVICE);
  MUST(halyard_queue_update(queue, halyard_whole(counts), groups, sizeof groups, NULL));
  MUST(halyard_queue_dispatch_indirect(queue, &dispatch, halyard_whole(counts), NULL));
  finish();
  CHECK(sums[0] == 0.5f && sums[kCount - 1] == (float)(kCount - 1) + 0.5f);

  /* What does not fit the kernel. */
  dispatch.argument_count = 3;
  REFUSED(halyard_queue_dispatch(queue, &dispatch, NULL), INVALID_ARGUMENT, "is given 3 arguments");
  dispatch.argument_count = 4;
  const uint64_t wide = kCount;
  arguments[3] = halyard_value(&wide, sizeof wide);
  REFUSED(halyard_queue_dispatch(queue, &dispatch, NULL), INVALID_ARGUMENT,
          "is given a value of 8 bytes");
  arguments[3] = halyard_value(NULL, 4);
  REFUSED(halyard_queue_dispatch(queue, &dispatch, NULL), INVALID_ARGUMENT, "no value (null)");
  arguments[3] = halyard_value(&n, sizeof n);
  arguments[0].kind = HALYARD_ARGUMENT_UNSUPPORTED;
  REFUSED(halyard_queue_dispatch(queue, &dispatch, NULL), INVALID_ARGUMENT, "kind (3)");
  arguments[0] = halyard_buffer_argument(halyard_whole(NULL));
  REFUSED(halyard_queue_dispatch(queue, &dispatch, NULL), INVALID_ARGUMENT,
          "is given no buffer (null)");
  dispatch.function = NULL;
  REFUSED(halyard_queue_dispatch(queue, &dispatch, NULL), INVALID_ARGUMENT, "no function (null)");
  REFUSED(halyard_queue_dispatch(queue, NULL, NULL), INVALID_ARGUMENT, "no dispatch (null)");
  dispatch.struct_size = 1;
  REFUSED(halyard_queue_dispatch(queue, &dispatch, NULL), INVALID_ARGUMENT, "struct_size (1)");
  OK(halyard_queue_fault(queue));
  halyard_buffer_release(counts);
  halyard_buffer_release(out);
  halyard_buffer_release(inputs);
  halyard_executable_release(executable);
}

/* A pointer that is null, and one that is inside of a value. */
void test_pointers(void) {
  halyard_executable* lists = load("pointers.hipfb");
  halyard_buffer* out = allocate(8, HALYARD_MEMORY_HOST);
  uint32_t* words = words_of(out);
  words[0] = words[1] = 7;
  halyard_argument arguments[2] = {halyard_address(0), halyard_buffer_argument(halyard_whole(out))};
  halyard_dispatch dispatch = {.struct_size = sizeof dispatch,
                               .function = find(lists, "walk"),
                               .grid = {1, 1, 1},
                               .workgroup = {1, 1, 1},
                               .arguments = arguments,
                               .argument_count = 2};
  MUST(halyard_queue_dispatch(queue, &dispatch, NULL));
  finish();
  CHECK(words[0] == 0 && words[1] == 0);

  halyard_executable* faults = load("faults.hipfb");
  const uint32_t number = 1234;
  halyard_buffer* target = allocate(4096, HALYARD_MEMORY_DEVICE);
  MUST(halyard_queue_update(queue, halyard_part(target, 0, 4), &number, 4, NULL));
  finish();
  const struct {
    uint64_t address;
  } descriptor = {halyard_buffer_device_address(target)};
  const halyard_range used = halyard_whole(target);
  dispatch.function = find(faults, "load_from");
  arguments[0] = halyard_value(&descriptor, sizeof descriptor);
  dispatch.uses = &used;
  dispatch.use_count = 1;
  halyard_semaphore* gate = NULL;
  MUST(halyard_device_create_semaphore(device, 0, &gate));
  const halyard_point closed = {gate, 1};
  const halyard_sync wait = {&closed, 1, NULL, 0};
  MUST(halyard_queue_dispatch(queue, &dispatch, &wait));
  halyard_buffer_release(target);
  MUST(halyard_semaphore_signal(gate, 1));
  finish();
  CHECK(words[0] == number);

  const halyard_range nothing = halyard_whole(NULL);
  dispatch.uses = &nothing;
  REFUSED(halyard_queue_dispatch(queue, &dispatch, NULL), INVALID_ARGUMENT,
          "names no buffer (null)");
  dispatch.uses = NULL;
  REFUSED(halyard_queue_dispatch(queue, &dispatch, NULL), INVALID_ARGUMENT, "1 uses at no address");
  halyard_semaphore_release(gate);
  halyard_buffer_release(out);
  halyard_executable_release(faults);
  halyard_executable_release(lists);
}

void test_dynamic_lds(void) {
  halyard_executable* executable = load("dynamic_lds_cl.hipfb");
  enum { kGroup = 64 };
  halyard_buffer* in = allocate(kGroup * 4, HALYARD_MEMORY_HOST);
  halyard_buffer* out = allocate(kGroup * 4, HALYARD_MEMORY_HOST);
  uint32_t* values = words_of(in);
  for (uint32_t i = 0; i < kGroup; ++i) values[i] = i;
  const halyard_argument arguments[4] = {
      halyard_buffer_argument(halyard_whole(in)), halyard_buffer_argument(halyard_whole(out)),
      halyard_dynamic_lds(kGroup * 4), halyard_dynamic_lds(kGroup * 8)};
  const halyard_dispatch dispatch = {.struct_size = sizeof dispatch,
                                     .function = find(executable, "dynamic_lds"),
                                     .grid = {kGroup, 1, 1},
                                     .workgroup = {kGroup, 1, 1},
                                     .arguments = arguments,
                                     .argument_count = 4};
  MUST(halyard_queue_dispatch(queue, &dispatch, NULL));
  finish();
  const uint32_t* result = words_of(out);
  CHECK(result[0] == 63 + 62 && result[10] == 53 + 52 && result[63] == 0 + 63);
  halyard_buffer_release(in);
  halyard_buffer_release(out);
  halyard_executable_release(executable);
}

void test_command_buffers(void) {
  halyard_command_buffer* commands = NULL;
  MUST(halyard_device_create_command_buffer(device, &commands));
  halyard_buffer* fixed = allocate(64, HALYARD_MEMORY_HOST);
  halyard_buffer* bound = allocate(4096, HALYARD_MEMORY_HOST);
  const uint32_t five = 5;
  halyard_executable* executable = load("busy.hipfb");
  halyard_range slot = halyard_slot(0);
  slot.length = 32;
  MUST(halyard_command_buffer_begin_debug_group(commands, "group"));
  REFUSED(halyard_command_buffer_finish(commands), FAILED_PRECONDITION, "1 debug group is open");
  MUST(halyard_command_buffer_end_debug_group(commands));
  MUST(halyard_command_buffer_fill(commands, slot, &five, 4));
  MUST(halyard_command_buffer_barrier(commands));
  struct affine affine;
  prepare_affine(&affine, executable, slot, 8, 3, 1);
  MUST(halyard_command_buffer_dispatch(commands, &affine.dispatch));
  MUST(halyard_command_buffer_barrier(commands));
  const uint32_t groups[3] = {1, 1, 1};
  MUST(halyard_command_buffer_update(commands, halyard_part(fixed, 0, 12), groups, 12));
  MUST(halyard_command_buffer_barrier(commands));
  MUST(halyard_command_buffer_dispatch_indirect(commands, &affine.dispatch,
                                                halyard_part(fixed, 0, 12)));
  MUST(halyard_command_buffer_barrier(commands));
  MUST(halyard_command_buffer_copy(commands, slot, halyard_part(fixed, 32, 32)));
  const halyard_rectangle shape = {.struct_size = sizeof shape, .row_bytes = 4};
  MUST(halyard_command_buffer_copy_rectangle(commands, slot, halyard_part(fixed, 16, 4), &shape));
  CHECK(!halyard_command_buffer_finished(commands));
  MUST(halyard_command_buffer_finish(commands));
  CHECK(halyard_command_buffer_finished(commands));
  CHECK(halyard_command_buffer_binding_count(commands) == 1);
  CHECK(halyard_command_buffer_binding_bytes(commands, 0) == 32);
  REFUSED(halyard_command_buffer_barrier(commands), FAILED_PRECONDITION,
          "whose recording is finished");

  REFUSED(halyard_queue_execute(queue, commands, NULL, 0, NULL), INVALID_ARGUMENT,
          "0 bindings for a command buffer");
  REFUSED(halyard_queue_execute(queue, commands, NULL, 1, NULL), INVALID_ARGUMENT, "1 bindings");
  halyard_executable_release(executable); /* the recording keeps it */
  for (int round = 0; round < 2; ++round) {
    const halyard_range binding = halyard_part(bound, (uint64_t)round * 1024, 1024);
    MUST(halyard_queue_execute(queue, commands, &binding, 1, NULL));
  }
  halyard_command_buffer_retain(commands);
  halyard_command_buffer_release(commands);
  halyard_command_buffer_release(commands);
  finish();
  const uint32_t* words = words_of(bound);
  const uint32_t* copied = words_of(fixed);
  CHECK(words[0] == 49 && words[7] == 49 && words[256] == 49); /* (5 × 3 + 1) × 3 + 1 */
  CHECK(copied[8] == 49 && copied[15] == 49 && copied[4] == 49);
  halyard_buffer_release(fixed);
  halyard_buffer_release(bound);
}
