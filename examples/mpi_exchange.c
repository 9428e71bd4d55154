/* Two MPI ranks on one machine exchange a device buffer by IPC: MPI carries the handle, the elements
 * stay where they are.
 *
 *   mpirun -np 2 mpi_exchange cts/kernels/vadd_c_v6.hipfb [DEVICE [PROFILE]]
 *
 * Rank 0 fills a buffer and sends its handle. Rank 1 imports it, adds it to itself with a kernel on
 * its own view of the memory, and says when that is done. Rank 0 checks the sums. */
#include <halyard/halyard.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { kCount = 1000 };

static int rank;

static void must(halyard_error* error) {
  if (error == NULL) return;
  fprintf(stderr, "rank %d: %s: %s\n", rank, halyard_code_name(halyard_error_code(error)),
          halyard_error_message(error));
  halyard_error_free(error);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void wait_for(halyard_queue* queue, halyard_semaphore* done, uint64_t value) {
  const halyard_point point = {done, value};
  const halyard_sync sync = {NULL, 0, &point, 1};
  must(halyard_queue_barrier(queue, &sync));
  must(halyard_semaphore_wait(done, value, HALYARD_FOREVER));
}

/* Makes the memory, sends its handle, and looks at what the other rank has made of it. */
static int own(halyard_device* device, halyard_queue* queue, halyard_semaphore* done) {
  float numbers[kCount];
  for (int i = 0; i < kCount; ++i) numbers[i] = (float)i;
  halyard_buffer *buffer, *result;
  must(halyard_device_allocate(device, sizeof numbers, NULL, &buffer));
  must(halyard_queue_update(queue, halyard_whole(buffer), numbers, sizeof numbers, NULL));
  wait_for(queue, done, 1); /* before another process may look */

  halyard_exported_handle handle = {.struct_size = sizeof handle};
  must(halyard_device_export_buffer(device, buffer, &handle));
  MPI_Send(handle.ipc, sizeof handle.ipc, MPI_BYTE, 1, 0, MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD); /* the other rank has written, and has let go of the memory */

  const halyard_buffer_options host = {.struct_size = sizeof host, .type = HALYARD_MEMORY_HOST};
  must(halyard_device_allocate(device, sizeof numbers, &host, &result));
  must(halyard_queue_copy(queue, halyard_whole(buffer), halyard_whole(result), NULL));
  wait_for(queue, done, 2);
  void* sums = NULL;
  must(halyard_buffer_map(result, 0, HALYARD_TO_END, HALYARD_MAP_READ, &sums));
  int wrong = 0;
  for (int i = 0; i < kCount; ++i) wrong += ((const float*)sums)[i] != 2 * numbers[i];
  printf("rank 0: %g %g %g … %g, %d wrong\n", ((const float*)sums)[0], ((const float*)sums)[1],
         ((const float*)sums)[2], ((const float*)sums)[kCount - 1], wrong);
  must(halyard_buffer_unmap(result, sums));
  halyard_buffer_release(result);
  halyard_buffer_release(buffer);
  return wrong == 0 ? 0 : 1;
}

/* Adds the other rank's memory to itself. */
static int visit(halyard_device* device, halyard_queue* queue, halyard_semaphore* done,
                 const char* path) {
  halyard_module* module;
  halyard_executable* executable;
  halyard_function* vadd;
  must(halyard_module_open(path, NULL, &module));
  must(halyard_device_load_module(device, module, &executable));
  must(halyard_executable_find(executable, "vadd", &vadd));

  halyard_exported_handle handle = {.struct_size = sizeof handle};
  MPI_Recv(handle.ipc, sizeof handle.ipc, MPI_BYTE, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  const halyard_import_options import = {.struct_size = sizeof import,
                                         .kind = HALYARD_IMPORT_IPC_HANDLE,
                                         .pointer = handle.ipc,
                                         .size = kCount * sizeof(float)};
  halyard_buffer* theirs;
  must(halyard_device_import_buffer(device, &import, &theirs));
  const uint32_t n = kCount;
  const halyard_argument arguments[] = {
      halyard_buffer_argument(halyard_whole(theirs)), halyard_buffer_argument(halyard_whole(theirs)),
      halyard_buffer_argument(halyard_whole(theirs)), halyard_value(&n, sizeof n)};
  const halyard_dispatch dispatch = {.struct_size = sizeof dispatch,
                                     .function = vadd,
                                     .grid = {kCount, 1, 1},
                                     .workgroup = {256, 1, 1},
                                     .arguments = arguments,
                                     .argument_count = 4};
  must(halyard_queue_dispatch(queue, &dispatch, NULL));
  wait_for(queue, done, 1);
  halyard_buffer_release(theirs);
  halyard_executable_release(executable);
  halyard_module_release(module);
  MPI_Barrier(MPI_COMM_WORLD);
  return 0;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int ranks;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (argc < 2 || ranks != 2) {
    fprintf(stderr, "usage: mpirun -np 2 %s MODULE [DEVICE [PROFILE]]\n", argv[0]);
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  if (argc > 3) must(halyard_load_virtual_gpu(argv[3], NULL));
  halyard_registry* registry;
  halyard_device* device;
  halyard_queue* queue;
  halyard_semaphore* done;
  must(halyard_registry_default(&registry));
  must(halyard_registry_open_device(registry, argc > 2 ? argv[2] : "amdgpu", NULL, 0, &device));
  must(halyard_device_create_queue(device, NULL, &queue));
  must(halyard_device_create_semaphore(device, 0, &done));

  const int result = rank == 0 ? own(device, queue, done) : visit(device, queue, done, argv[1]);

  halyard_semaphore_release(done);
  halyard_queue_release(queue);
  halyard_device_release(device);
  halyard_registry_release(registry);
  MPI_Finalize();
  return result;
}
