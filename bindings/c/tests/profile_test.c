/* Profiles: which events there are, and what each says. */
#include <halyard/halyard.h>
#include <stdio.h>
#include <string.h>

#include "check.h"
#include "tests.h"

struct profile {
  int launches;
  bool ordered;
  uint64_t last;
};

static void note_event(void* context, const halyard_profile_event* event) {
  struct profile* profile = context;
  if (strcmp(event->name, "affine") == 0) ++profile->launches;
  if (event->struct_size != sizeof *event || event->end_ns < event->begin_ns) {
    profile->ordered = false;
  }
}

void test_profile(void) {
  halyard_executable* executable = load("busy.hipfb");
  halyard_buffer* data = allocate(256, HALYARD_MEMORY_DEVICE);
  struct affine affine;
  prepare_affine(&affine, executable, halyard_whole(data), 64, 64, 64);
  MUST(halyard_device_begin_profile(device));
  for (int i = 0; i < 3; ++i) MUST(halyard_queue_dispatch(queue, &affine.dispatch, NULL));
  struct profile profile = {0, true, 0};
  REFUSED(halyard_device_end_profile(device, NULL, NULL), INVALID_ARGUMENT, "no sink (null)");
  MUST(halyard_device_end_profile(device, &note_event, &profile));
  CHECK(profile.launches == 3 && profile.ordered);
  halyard_buffer_release(data);
  halyard_executable_release(executable);
}

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

void test_profile_facts(void) {
  halyard_executable* executable = load("busy.hipfb");
  halyard_buffer* data = allocate(256, HALYARD_MEMORY_DEVICE);
  struct affine affine;
  prepare_affine(&affine, executable, halyard_whole(data), 64, 64, 64);
  affine.dispatch.workgroup.x = 32;
  const uint32_t pattern = 64;
  halyard_command_buffer* commands = NULL;
  MUST(halyard_device_create_command_buffer(device, &commands));
  MUST(halyard_command_buffer_dispatch(commands, &affine.dispatch));
  MUST(halyard_command_buffer_barrier(commands));
  MUST(halyard_command_buffer_dispatch(commands, &affine.dispatch));
  MUST(halyard_command_buffer_finish(commands));

  MUST(halyard_device_begin_profile(device));
  MUST(halyard_queue_fill(queue, halyard_whole(data), &pattern, 4, NULL));
  MUST(halyard_queue_dispatch(queue, &affine.dispatch, NULL));
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
  MUST(halyard_queue_dispatch(queue, &affine.dispatch, NULL));
  MUST(halyard_queue_fill(queue, halyard_whole(data), &pattern, 4, NULL));
  events.count = 0;
  MUST(halyard_device_end_profile(device, &keep_event, &events));
  CHECK(events.count == 1 && events.list[0].kind == HALYARD_PROFILE_FILL);
  CHECK(strcmp(events.names[0], "fill") == 0);
  REFUSED(halyard_device_begin_profile_of(device, UINT64_C(1) << 60), INVALID_ARGUMENT,
          "kinds (0x1000000000000000)");

  CHECK(strcmp(halyard_profile_kind_name(HALYARD_PROFILE_HOST_CALL), "host_call") == 0);
  CHECK(strcmp(halyard_profile_kind_name((halyard_profile_kind)99), "unknown") == 0);
  finish();
  halyard_command_buffer_release(commands);
  halyard_buffer_release(data);
  halyard_executable_release(executable);
}
