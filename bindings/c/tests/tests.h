/* The tests, and the device on which they run. */
#ifndef HALYARD_BINDINGS_C_TESTS_TESTS_H
#define HALYARD_BINDINGS_C_TESTS_TESTS_H

#include <halyard/halyard.h>

extern const char* device_uri;
extern const char* kernels; /* the folder */
extern halyard_registry* registry;
extern halyard_device* device;
extern halyard_queue* queue;
extern halyard_semaphore* done;
extern uint64_t reached; /* of `done` */

halyard_executable* load(const char* file);
halyard_function* find(halyard_executable* executable, const char* name);
halyard_buffer* allocate(uint64_t size, halyard_memory_type type);
/* The next point of `done`, to be signalled, as a sync. */
const halyard_sync* signal_next(void);
/* Waits for all that was submitted to `queue`. */
void finish(void);
/* The words of a buffer of host memory. */
uint32_t* words_of(halyard_buffer* buffer);

/* A launch of busy.hipfb's affine, which makes x * factor + summand of each of n words. The
 * dispatch points to the rest of the struct. */
struct affine {
  uint32_t n, factor, summand;
  halyard_argument arguments[4];
  halyard_dispatch dispatch;
};
void prepare_affine(struct affine* affine, halyard_executable* busy, halyard_range words,
                    uint32_t n, uint32_t factor, uint32_t summand);

void test_bad_handles(void);
void test_buffers(void);
void test_clocks(void);
void test_command_buffers(void);
void test_copies_and_files(void);
void test_device(void);
void test_dispatch(void);
void test_pointers(void);
void test_dynamic_lds(void);
void test_errors(void);
void test_find_allocation(void);
void test_fork(void);
void test_host_calls(void);
void test_import_release(void);
void test_logical_device(void);
void test_memory_pools(void);
void test_modules(void);
void test_pool(void);
void test_profile(void);
void test_profile_facts(void);
void test_queues(void);
void test_registry(void);
void test_registry_options(void);
void test_residency(void);
void test_semaphores(void);
void test_shared_semaphores(char** arguments);
void test_struct_sizes(void);
void test_virtual_gpu(const char* profile);

/* The other process of test_shared_semaphores: waits for 1 and has work reach 2. `file` holds the
 * exported semaphore. */
void be_the_other(const char* file);

#endif
