/* Halyard's C interface (C11): devices, memory, kernels and queues, for programs in any language.
 *
 * Handles     Every object is a pointer to an incomplete type. A function that makes one gives the
 *             caller a reference; halyard_X_retain adds one, halyard_X_release gives one back and
 *             accepts null. An object keeps alive what it needs: a buffer its device, work in
 *             flight its buffers. A null handle, a handle of another kind and a pointer to
 *             something else are INVALID_ARGUMENT, or 0 from a function that returns a plain
 *             value. A handle whose last reference was released must not be used: that cannot be
 *             told.
 * Errors      A function returns null, or an error that the caller frees with halyard_error_free.
 *             After an error nothing was done, and outputs are unchanged unless a function says
 *             otherwise. No exception leaves the library.
 * Structs     A struct that may grow begins with `struct_size`; the caller sets it to its sizeof,
 *             also for an output. Inputs that are all 0 behind it have their defaults. Bytes that
 *             the library does not know must be 0 in an input, and become 0 in an output. A struct
 *             without struct_size never changes.
 * Text        UTF-8, NUL-terminated. Text in an output belongs to the object that gave it, and
 *             lives as long, unless the function says otherwise.
 * Units       Sizes, offsets and alignments are bytes; times are nanoseconds of CLOCK_MONOTONIC;
 *             grids and work-groups count work-items.
 * Threads     Any thread may call any function on any object; recording one command buffer is for
 *             one thread at a time.
 *
 * Functions and struct members are only ever added. The C++ headers in hal/ and registry/ have the
 * same operations, and say more about each.
 */
#ifndef HALYARD_HALYARD_H
#define HALYARD_HALYARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define HALYARD_API __attribute__((visibility("default")))
#define HALYARD_MUST_CHECK __attribute__((warn_unused_result))
#else
#define HALYARD_API
#define HALYARD_MUST_CHECK
#endif

/* The interface that this header describes. A library with the same major number and at least this
 * minor one has all of it. */
#define HALYARD_C_MAJOR 0
#define HALYARD_C_MINOR 3
/* What the library has: major << 16 | minor. */
HALYARD_API uint32_t halyard_c_version(void);

typedef struct halyard_error halyard_error;
typedef struct halyard_registry halyard_registry;
typedef struct halyard_load_report halyard_load_report;
typedef struct halyard_driver halyard_driver;
typedef struct halyard_device halyard_device;
typedef struct halyard_buffer halyard_buffer;
typedef struct halyard_module halyard_module;
typedef struct halyard_executable halyard_executable;
typedef struct halyard_function halyard_function;
typedef struct halyard_semaphore halyard_semaphore;
typedef struct halyard_queue halyard_queue;
typedef struct halyard_command_buffer halyard_command_buffer;
typedef struct halyard_memory_pool halyard_memory_pool; /* since 0.3 */

/* ---- Errors ---------------------------------------------------------------------------------- */

/* Abseil's canonical codes. */
typedef enum halyard_code {
  HALYARD_OK = 0,
  HALYARD_CANCELLED = 1,
  HALYARD_UNKNOWN = 2,
  HALYARD_INVALID_ARGUMENT = 3,
  HALYARD_DEADLINE_EXCEEDED = 4,
  HALYARD_NOT_FOUND = 5,
  HALYARD_ALREADY_EXISTS = 6,
  HALYARD_PERMISSION_DENIED = 7,
  HALYARD_RESOURCE_EXHAUSTED = 8,
  HALYARD_FAILED_PRECONDITION = 9,
  HALYARD_ABORTED = 10,
  HALYARD_OUT_OF_RANGE = 11,
  HALYARD_UNIMPLEMENTED = 12,
  HALYARD_INTERNAL = 13,
  HALYARD_UNAVAILABLE = 14,
  HALYARD_DATA_LOSS = 15,
  HALYARD_UNAUTHENTICATED = 16
} halyard_code;

/* "INVALID_ARGUMENT" and so on; "UNKNOWN" for a number that is no code. Static. */
HALYARD_API const char* halyard_code_name(halyard_code code);
/* HALYARD_OK and "" for null. The message is a full sentence, and lives as long as the error. */
HALYARD_API halyard_code halyard_error_code(const halyard_error* error);
HALYARD_API const char* halyard_error_message(const halyard_error* error);
/* For a host function that fails. Copies the message. Never null: HALYARD_OK becomes
 * HALYARD_UNKNOWN. */
HALYARD_API halyard_error* halyard_error_create(halyard_code code, const char* message);
HALYARD_API void halyard_error_free(halyard_error* error);

/* Frees text that a function has given to the caller. Accepts null. */
HALYARD_API void halyard_text_free(char* text);

/* ---- Time ------------------------------------------------------------------------------------ */

/* A deadline is absolute. HALYARD_POLL is always over. */
#define HALYARD_POLL UINT64_C(0)
#define HALYARD_FOREVER UINT64_MAX
/* `ns` from now; saturates. */
HALYARD_API uint64_t halyard_deadline_after(uint64_t ns);

/* ---- The virtual GPU ------------------------------------------------------------------------- */

typedef struct halyard_virtual_gpu_options {
  size_t struct_size;
  /* A prefix to look under, instead of the program's and the library's own; null: those. */
  const char* installation;
  /* The library or its folder, where HALYARD_VGPU_PATH is not set; null: looked for. */
  const char* library;
} halyard_virtual_gpu_options;

/* Puts the virtual GPU into this process, for good; call it before any device is opened or driver
 * loaded. `profile`: a name ("gfx900") or a YAML file; null or "": what HALYARD_VGPU_PROFILE
 * names, else the default. `options` may be null. Calling it again with the same profile does
 * nothing. FAILED_PRECONDITION: the process has another profile or the vendor's library already;
 * NOT_FOUND lists the paths that were tried. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_load_virtual_gpu(
    const char* profile, const halyard_virtual_gpu_options* options);
HALYARD_API bool halyard_virtual_gpu_loaded(void);
/* The path of the library that was loaded, "" if none was. Free it with halyard_text_free. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_virtual_gpu_library(char** path);
/* Has the virtual GPU look for mistakes in kernels and their use. `checks`: "coherence,waits";
 * null or "": all. `findings`: a file that each finding is added to; null or "": none. After
 * halyard_load_virtual_gpu and before the first device is opened. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_check_with_virtual_gpu(const char* checks,
                                                                             const char* findings);

/* ---- Registry: drivers and devices ----------------------------------------------------------- */

/* A setting by name. */
typedef struct halyard_option {
  const char* key;
  const char* value;
} halyard_option;

/* A setting of a driver as a whole, such as where its vendor library is. */
typedef struct halyard_driver_option {
  const char* driver;
  const char* key;
  const char* value;
} halyard_driver_option;

/* A name that stands for one device or for several, wherever a URI may stand. */
typedef struct halyard_named_device {
  const char* name; /* [a-z][a-z0-9_]* */
  const char* const* uris;
  size_t uri_count;
} halyard_named_device;

typedef struct halyard_registry_options {
  size_t struct_size;
  /* Folders with plugins, or single plugins; before HALYARD_PLUGIN_PATH and the installation. */
  const char* const* plugin_paths;
  size_t plugin_path_count;
  /* Not to look into HALYARD_PLUGIN_PATH, or into the installation. */
  bool ignore_environment;
  bool ignore_installation;
  /* Opened devices are not validated unless their URI says ?validation=full. For benchmarks. */
  bool no_validation;
  /* A prefix instead of the program's and the library's own; null: those. */
  const char* installation;
  const halyard_driver_option* driver_options;
  size_t driver_option_count;
  const char* const* disabled_drivers; /* names */
  size_t disabled_driver_count;
  const halyard_named_device* named_devices;
  size_t named_device_count;
} halyard_registry_options;

/* Looks for plugins, and loads none; `options` may be null. Devices may outlive their registry. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_registry_create(
    const halyard_registry_options* options, halyard_registry** registry);
/* The process's own registry, made with default options by the first call, and never destroyed. The
 * caller gets a reference. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_registry_default(halyard_registry** registry);
HALYARD_API void halyard_registry_retain(halyard_registry* registry);
HALYARD_API void halyard_registry_release(halyard_registry* registry);

/* Opens the device that a URI names: "amdgpu" (one logical device of all GPUs), "amdgpu:1" (a GPU
 * by its ordinal), "amdgpu://GPU-0123456789abcdef" (by its UUID), "amdgpu://0,1" (a logical device
 * of two), each with "?key=value&…"; docs/devices.md has the rest. `options` come on top of the
 * URI's own and win over them. NOT_FOUND tells what became of every plugin. FAILED_PRECONDITION
 * for a name that stands for devices of several drivers. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_registry_open_device(
    halyard_registry* registry, const char* uri, const halyard_option* options, size_t option_count,
    halyard_device** device);
/* Opens each device that `uri` stands for, and puts at most `capacity` of them into `devices`.
 * `count` gets their number, also with OUT_OF_RANGE, which says that they are more than `capacity`
 * and that none was opened. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_registry_open_devices(
    halyard_registry* registry, const char* uri, const halyard_option* options, size_t option_count,
    halyard_device** devices, size_t capacity, size_t* count);

/* Drivers, sorted by name. Both functions load every plugin. `index` < the count. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_registry_driver_count(
    halyard_registry* registry, size_t* count);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_registry_driver_at(halyard_registry* registry,
                                                                         size_t index,
                                                                         halyard_driver** driver);
/* By name. NOT_FOUND, or what kept it from starting. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_registry_driver(halyard_registry* registry,
                                                                      const char* name,
                                                                      halyard_driver** driver);
/* Since 0.2: the URIs of the GPUs that `uri` stands for, each with its ordinal, a line for each.
 * Free the text with halyard_text_free. Loads the driver. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_registry_gpus(halyard_registry* registry,
                                                                    const char* uri, char** uris);

typedef struct halyard_driver_info {
  size_t struct_size;
  const char* name;         /* "amdgpu" */
  const char* version;      /* the plugin's */
  const char* description;  /* one line */
  const char* path;         /* the plugin's */
  const char* library_name; /* "libhsa-runtime64.so.1"; "" if the driver needs none */
  const char* library_path; /* its real path */
  const char* library_version;
} halyard_driver_info;

/* What is known of a device before it is opened. */
typedef struct halyard_device_summary {
  size_t struct_size;
  uint32_t ordinal;
  uint32_t compute_units;
  const char* name;
  const char* uuid; /* "" if the device has none */
  const char* target;
  uint64_t memory_bytes;
  /* Since 0.2. "0000:c1:00.0"; "" if the device is not on a PCI bus. */
  const char* pci_address;
} halyard_device_summary;

HALYARD_API void halyard_driver_retain(halyard_driver* driver);
HALYARD_API void halyard_driver_release(halyard_driver* driver);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_driver_get_info(halyard_driver* driver,
                                                                      halyard_driver_info* info);
/* The devices as they were when the driver was loaded, in the order of their ordinals. */
HALYARD_API size_t halyard_driver_device_count(halyard_driver* driver);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_driver_device(
    halyard_driver* driver, size_t index, halyard_device_summary* summary);
/* Opens a device by its ordinal, with the driver's own options and full validation. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_driver_open_device(
    halyard_driver* driver, uint32_t ordinal, const halyard_option* options, size_t option_count,
    halyard_device** device);

/* Since 0.2: one logical device of the GPUs with these ordinals, in this order. INVALID_ARGUMENT
 * for none, or for one that is there twice. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_driver_open_logical_device(
    halyard_driver* driver, const uint32_t* ordinals, size_t ordinal_count,
    const halyard_option* options, size_t option_count, halyard_device** device);

/* What became of every file that could have been a driver. */
typedef enum halyard_report_kind {
  HALYARD_REPORT_SO_FAR = 0,   /* loads nothing */
  HALYARD_REPORT_COMPLETE = 1, /* loads every plugin first */
  /* In processes of its own, which this one forks, so that a plugin may crash; call it before the
   * program starts threads. Loads nothing here. */
  HALYARD_REPORT_PROBE = 2
} halyard_report_kind;

typedef enum halyard_load_stage {
  HALYARD_STAGE_FOUND = 0,
  HALYARD_STAGE_OPENED = 1,
  HALYARD_STAGE_SYMBOL = 2,
  HALYARD_STAGE_NEGOTIATED = 3,
  HALYARD_STAGE_INITIALISED = 4,
  HALYARD_STAGE_ENUMERATED = 5
} halyard_load_stage;

typedef enum halyard_plugin_origin {
  HALYARD_ORIGIN_EXPLICIT = 0,
  HALYARD_ORIGIN_ENVIRONMENT = 1,
  HALYARD_ORIGIN_CONFIG = 2,
  HALYARD_ORIGIN_INSTALLATION = 3
} halyard_plugin_origin;

typedef struct halyard_candidate {
  size_t struct_size;
  const char* path;      /* as it was found */
  const char* real_path; /* symbolic links resolved; "" if that is not possible */
  const char* warning;   /* who else decides what the file holds; "": nobody */
  const char* reason;    /* why loading stopped; "" if it did not stop */
  const char* driver;    /* "" before HALYARD_STAGE_NEGOTIATED; so are version and description */
  const char* version;
  const char* description;
  halyard_plugin_origin origin;
  halyard_load_stage stage; /* the last step that it got through */
  halyard_code code;        /* that goes with `reason` */
  uint32_t abi_major;       /* the plugin's */
  uint32_t abi_minor;
  bool tried;    /* false: it was not opened, as no call needed it */
  bool fatal;    /* it ended the process that loaded it, or kept it for ever */
  bool disabled; /* a setting has turned the driver off */
  uint64_t device_count;
} halyard_candidate;

/* A folder or file that was looked at. */
typedef struct halyard_searched_place {
  size_t struct_size;
  const char* path;
  const char* problem; /* why nothing could be read there; "" if it could */
  const char* warning;
  halyard_plugin_origin origin;
  uint64_t candidates; /* that came from here */
} halyard_searched_place;

/* `timeout_ns`: for HALYARD_REPORT_PROBE, of each plugin. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_registry_report(halyard_registry* registry,
                                                                      halyard_report_kind kind,
                                                                      uint64_t timeout_ns,
                                                                      halyard_load_report** report);
HALYARD_API void halyard_load_report_retain(halyard_load_report* report);
HALYARD_API void halyard_load_report_release(halyard_load_report* report);
/* For people: several lines. "" for a bad handle. */
HALYARD_API const char* halyard_load_report_text(halyard_load_report* report);
HALYARD_API size_t halyard_load_report_candidate_count(halyard_load_report* report);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_load_report_candidate(
    halyard_load_report* report, size_t index, halyard_candidate* candidate);
HALYARD_API size_t halyard_load_report_place_count(halyard_load_report* report);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_load_report_place(
    halyard_load_report* report, size_t index, halyard_searched_place* place);

/* ---- Devices --------------------------------------------------------------------------------- */

typedef struct halyard_dim3 {
  uint32_t x;
  uint32_t y;
  uint32_t z;
} halyard_dim3;

/* The facts and limits of a device. They do not change while it lives. */
typedef struct halyard_device_info {
  size_t struct_size;
  const char* driver; /* "amdgpu" */
  const char* name;   /* "Radeon RX Vega 64" */
  const char* uuid;   /* "" if the device has none */
  const char* target; /* "gfx90a:sramecc+:xnack-" */
  uint32_t compute_units;
  uint32_t wavefront_size;
  uint32_t max_workgroup_size; /* in all */
  halyard_dim3 max_workgroup;  /* in each dimension */
  halyard_dim3 max_grid;       /* in each dimension */
  uint32_t lds_bytes;          /* of a work-group */
  uint64_t max_grid_size;      /* in all */
  uint64_t memory_bytes;       /* the device's own */
  uint64_t max_allocation_bytes;
  uint32_t allocation_alignment;
  uint32_t max_clock_mhz;
  uint64_t timestamp_hz;   /* the clock of profiling timestamps */
  bool maps_device_memory; /* HALYARD_MEMORY_DEVICE_MAPPED exists */
  bool coherent_map;       /* halyard_buffer_flush and _invalidate do nothing */
  bool imports_queues;     /* halyard_device_import_queue works */
  /* Since 0.2. */
  const char* pci_address; /* "0000:c1:00.0"; "" if there is none */
  uint32_t gpu_count;      /* of a logical device; 1 for any other */
} halyard_device_info;

/* Where a buffer's memory lies and who sees it. */
typedef enum halyard_memory_type {
  HALYARD_MEMORY_DEVICE = 0,       /* the device's own; the host does not map it */
  HALYARD_MEMORY_HOST = 1,         /* the host's, pinned and coherent */
  HALYARD_MEMORY_DEVICE_MAPPED = 2 /* the device's own, mapped into the host's address space */
} halyard_memory_type;

typedef struct halyard_heap_info {
  size_t struct_size;
  halyard_memory_type type;
  uint64_t size;
  uint64_t max_allocation;
  uint64_t granule; /* an allocation takes a multiple of it */
} halyard_heap_info;

/* What has been allocated from a heap through this device. */
typedef struct halyard_heap_statistics {
  size_t struct_size;
  uint64_t live_bytes;
  uint64_t live_buffers;
  uint64_t peak_bytes;
} halyard_heap_statistics;

/* What the pool of halyard_queue_alloca holds of one memory type. */
typedef struct halyard_pool_statistics {
  size_t struct_size;
  uint64_t reserved_bytes; /* taken from the heap */
  uint64_t used_bytes;     /* of these, in live buffers */
  uint64_t peak_reserved_bytes;
  uint64_t allocations; /* buffers ever made */
  uint64_t reuses;      /* of these, in memory that an earlier one gave back */
} halyard_pool_statistics;

/* Since 0.3. For halyard_device_create_memory_pool. */
typedef struct halyard_memory_pool_info {
  size_t struct_size;
  halyard_memory_type type;
  /* Bytes that the pool takes from the heap at most; 0: no limit. Blocks are rounded up to at most
   * 9/8 of what a buffer asks for (or 4 KiB more). */
  uint64_t limit_bytes;
  /* Unused bytes that stay in the pool until they are used again or trimmed. 0: as many as in the
   * device's own pools; HALYARD_KEEP_NONE: none. */
  uint64_t keep_bytes;
} halyard_memory_pool_info;
#define HALYARD_KEEP_NONE UINT64_MAX

/* Since 0.3. What halyard_device_find_allocation finds. */
typedef enum halyard_allocation_owner {
  HALYARD_OWNER_DEVICE = 0,     /* allocated from the device, or from a pool of it */
  HALYARD_OWNER_IMPORTED = 1,   /* imported as a device pointer or an IPC handle */
  HALYARD_OWNER_HOST_MEMORY = 2 /* the program's own, imported as host memory */
} halyard_allocation_owner;

typedef struct halyard_allocation_info {
  size_t struct_size;
  halyard_memory_type type;
  halyard_allocation_owner owner;
  uint64_t device_address; /* of the first byte */
  uint64_t size;
  void* host_pointer; /* to the first byte; null if the host does not see the memory */
} halyard_allocation_info;

/* Since 0.3. The clocks of the device and of the host, read at one moment. */
typedef struct halyard_clock_reading {
  size_t struct_size;
  uint64_t device_ticks;   /* what s_memrealtime and wall_clock64() read in a kernel */
  uint64_t device_hz;      /* how fast these grow */
  uint64_t host_ns;        /* of CLOCK_MONOTONIC */
  uint64_t uncertainty_ns; /* the host's clock was read this much apart, at most */
} halyard_clock_reading;

typedef enum halyard_link_kind {
  HALYARD_LINK_UNKNOWN = 0,
  HALYARD_LINK_PCIE = 1,
  HALYARD_LINK_XGMI = 2,
  HALYARD_LINK_OTHER = 3
} halyard_link_kind;

/* halyard_link_info.peer_gpu of a GPU that is not part of the device. */
#define HALYARD_NO_GPU UINT32_MAX

/* A link from a GPU to another one of the same driver. */
typedef struct halyard_link_info {
  size_t struct_size;
  uint32_t peer_ordinal;
  uint32_t hops;
  uint32_t min_bandwidth_mbps; /* MB/s; 0: not known */
  uint32_t max_bandwidth_mbps;
  bool coherent;
  /* Since 0.2. */
  halyard_link_kind kind;
  uint32_t gpu; /* of a logical device: the GPUs that the link is between */
  uint32_t peer_gpu;
} halyard_link_info;

HALYARD_API void halyard_device_retain(halyard_device* device);
/* The last release waits for work in flight, some seconds at most. */
HALYARD_API void halyard_device_release(halyard_device* device);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_get_info(halyard_device* device,
                                                                      halyard_device_info* info);
HALYARD_API size_t halyard_device_heap_count(halyard_device* device);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_heap(halyard_device* device,
                                                                  size_t index,
                                                                  halyard_heap_info* info);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_heap_statistics(
    halyard_device* device, size_t index, halyard_heap_statistics* statistics);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_pool_statistics(
    halyard_device* device, halyard_memory_type type, halyard_pool_statistics* statistics);
/* Gives unused blocks back to the heap, until the pool has at most `keep_bytes` reserved or only
 * blocks in use. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_trim_pool(halyard_device* device,
                                                                       halyard_memory_type type,
                                                                       uint64_t keep_bytes);
/* Since 0.3: a pool beside the device's own, for halyard_buffer_options.pool. Takes nothing from
 * the heap yet. `info` may be null. The pool's buffers keep it alive; its memory goes back to the
 * heap when the last of them and the last reference are gone and no work uses it. UNIMPLEMENTED
 * with a driver that has no such pools. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_create_memory_pool(
    halyard_device* device, const halyard_memory_pool_info* info, halyard_memory_pool** pool);
HALYARD_API void halyard_memory_pool_retain(halyard_memory_pool* pool);
HALYARD_API void halyard_memory_pool_release(halyard_memory_pool* pool);
/* Without a reference of the caller's. Null for a bad handle. */
HALYARD_API halyard_device* halyard_memory_pool_device(halyard_memory_pool* pool);
/* As the pool was created. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_memory_pool_get_info(
    halyard_memory_pool* pool, halyard_memory_pool_info* info);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_memory_pool_statistics(
    halyard_memory_pool* pool, halyard_pool_statistics* statistics);
/* halyard_device_trim_pool of this pool. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_memory_pool_trim(halyard_memory_pool* pool,
                                                                       uint64_t keep_bytes);
/* Since 0.3: the device's buffer, not a view, that has the byte at `pointer`: an address of the
 * device, or of the host. Of several, which imports make possible, one that the device has
 * allocated. NOT_FOUND if there is none. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_find_allocation(
    halyard_device* device, const void* pointer, halyard_allocation_info* info);
/* Since 0.3. UNIMPLEMENTED where the vendor's runtime does not tell the device's time. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_read_clocks(
    halyard_device* device, halyard_clock_reading* reading);
HALYARD_API size_t halyard_device_link_count(halyard_device* device);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_link(halyard_device* device,
                                                                  size_t index,
                                                                  halyard_link_info* info);
/* Whether the device's work can use `peer`'s buffers. False for a bad handle. */
HALYARD_API bool halyard_device_can_access(halyard_device* device, halyard_device* peer);
/* Since 0.2: how many GPUs a logical device has; 1 for any other device, 0 for a bad handle. Queues
 * and allocations name theirs, and are otherwise of the first. */
HALYARD_API size_t halyard_device_gpu_count(halyard_device* device);
/* Since 0.2: one of them, as a device of its own. The caller gets a reference. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_gpu(halyard_device* device,
                                                                 size_t index,
                                                                 halyard_device** gpu);
/* Since 0.2: lets the device's work use another device's buffer from now on, also by its address
 * alone. An operation that is given the buffer does that itself. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_let_in(halyard_device* device,
                                                                    halyard_buffer* buffer);
/* Null while the device works; afterwards the failure that lost it. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_fault(halyard_device* device);
/* Validation of operations is on unless a benchmark turns it off. */
HALYARD_API bool halyard_device_validates(halyard_device* device);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_set_validation(halyard_device* device,
                                                                            bool on);

/* Since 0.3. What an operation does. New kinds may come. */
typedef enum halyard_profile_kind {
  HALYARD_PROFILE_UNKNOWN = 0, /* the driver does not say */
  HALYARD_PROFILE_DISPATCH = 1,
  HALYARD_PROFILE_COPY = 2, /* also of rectangles */
  HALYARD_PROFILE_FILL = 3,
  HALYARD_PROFILE_UPDATE = 4,
  HALYARD_PROFILE_HOST_CALL = 5,
  HALYARD_PROFILE_READ = 6,    /* of a file */
  HALYARD_PROFILE_WRITE = 7,   /* to a file */
  HALYARD_PROFILE_BARRIER = 8, /* only waits and signals */
  HALYARD_PROFILE_ALLOCA = 9,
  HALYARD_PROFILE_DEALLOCA = 10
} halyard_profile_kind;
/* "dispatch", "host_call" and so on; "unknown" for a number that is no kind. Static. */
HALYARD_API const char* halyard_profile_kind_name(halyard_profile_kind kind);

/* One operation as it ran. Valid until the sink returns. Each command of a recording is an
 * operation of its own. */
typedef struct halyard_profile_event {
  size_t struct_size;
  const char* name; /* of a dispatch its function's; otherwise its kind's */
  uint64_t begin_ns;
  uint64_t end_ns;
  /* Since 0.3; all 0 from a driver that does not say. */
  halyard_profile_kind kind;
  uint32_t command;       /* if it was recorded: its place among the recording's, from 0 */
  uint64_t execution;     /* the same for all commands of one execution; 0: it was not recorded */
  uint64_t queue;         /* halyard_queue_id */
  uint64_t bytes;         /* that a transfer writes */
  halyard_dim3 grid;      /* of a dispatch; 0 x 0 x 0 where only the device knows it */
  halyard_dim3 workgroup; /* of a dispatch */
} halyard_profile_event;
typedef void (*halyard_profile_sink)(void* context, const halyard_profile_event* event);

/* Operations that are submitted between the two calls are timed; the second waits for them and
 * gives each to `sink`, on the calling thread. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_begin_profile(halyard_device* device);
/* Since 0.3: the same of some kinds, which are the bits 1 << halyard_profile_kind of `kinds`; 0:
 * all. Other operations run as without a profile. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_begin_profile_of(
    halyard_device* device, uint64_t kinds);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_end_profile(halyard_device* device,
                                                                         halyard_profile_sink sink,
                                                                         void* context);

/* ---- Buffers --------------------------------------------------------------------------------- */

typedef struct halyard_buffer_options {
  size_t struct_size;
  halyard_memory_type type;
  uint64_t alignment; /* a power of two, at most 2 MiB; 0: the device's own minimum */
  /* Since 0.2, of halyard_device_allocate. */
  uint32_t gpu; /* of a logical device: whose memory */
  bool shared;  /* every GPU of the logical device may use it by its address alone */
  /* Since 0.3, of halyard_queue_alloca: takes the memory from there, whatever `type` says. Null:
   * from the device's own pool of that type. */
  halyard_memory_pool* pool;
} halyard_buffer_options;

/* `options` may be null: device memory. RESOURCE_EXHAUSTED names the size asked for, the limit and
 * what is in use. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_allocate(
    halyard_device* device, uint64_t size, const halyard_buffer_options* options,
    halyard_buffer** buffer);

typedef enum halyard_import_kind {
  HALYARD_IMPORT_HOST_MEMORY = 0,
  HALYARD_IMPORT_DEVICE_POINTER = 1, /* of the vendor's runtime in this process */
  HALYARD_IMPORT_IPC_HANDLE = 2      /* halyard_exported_handle.ipc of another process */
} halyard_import_kind;

typedef struct halyard_import_options {
  size_t struct_size;
  halyard_import_kind kind;
  const void* pointer;
  uint64_t size;
  /* Since 0.3; may be null. Called once, with `release_context`, when nothing uses the memory any
   * longer: after the buffer's last reference is gone and all work that was given it is done. Not
   * called if the import fails, or while work goes on that cannot be ended. On any thread; it must
   * not block, and must not call Halyard. */
  void (*release)(void* context);
  void* release_context;
} halyard_import_options;

typedef struct halyard_exported_handle {
  size_t struct_size;
  uint8_t ipc[64];
} halyard_exported_handle;

/* The memory stays somebody else's, and must outlive the buffer. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_import_buffer(
    halyard_device* device, const halyard_import_options* options, halyard_buffer** buffer);
/* For another process with the same driver. The buffer stays this process's, and must outlive the
 * imports. FAILED_PRECONDITION for a part of an allocation, and for memory that is not the
 * device's own. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_export_buffer(
    halyard_device* device, halyard_buffer* buffer, halyard_exported_handle* handle);

typedef enum halyard_map_access {
  HALYARD_MAP_READ = 1,
  HALYARD_MAP_WRITE = 2,
  HALYARD_MAP_READ_WRITE = 3
} halyard_map_access;

HALYARD_API void halyard_buffer_retain(halyard_buffer* buffer);
/* The memory is released when all work is done that was given the buffer. */
HALYARD_API void halyard_buffer_release(halyard_buffer* buffer);
/* 0 from halyard_queue_dealloca on. */
HALYARD_API uint64_t halyard_buffer_size(halyard_buffer* buffer);
HALYARD_API halyard_memory_type halyard_buffer_type(halyard_buffer* buffer);
/* The address that kernels see. Valid while the buffer lives. */
HALYARD_API uint64_t halyard_buffer_device_address(halyard_buffer* buffer);
/* The device that made it, without a reference of the caller's. Null for a bad handle. */
HALYARD_API halyard_device* halyard_buffer_device(halyard_buffer* buffer);
/* The host's view of `length` bytes from `offset` on; HALYARD_TO_END: all that is left. Maps may
 * overlap; each wants its own unmap. FAILED_PRECONDITION if the host cannot see this memory. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_buffer_map(halyard_buffer* buffer,
                                                                 uint64_t offset, uint64_t length,
                                                                 halyard_map_access access,
                                                                 void** pointer);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_buffer_unmap(halyard_buffer* buffer,
                                                                   void* pointer);
/* Makes host writes visible to the device's work, and the other way round, where
 * halyard_device_info.coherent_map is false. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_buffer_flush(halyard_buffer* buffer,
                                                                   uint64_t offset,
                                                                   uint64_t length);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_buffer_invalidate(halyard_buffer* buffer,
                                                                        uint64_t offset,
                                                                        uint64_t length);
/* A view of part of the buffer, which keeps it alive. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_buffer_subspan(halyard_buffer* buffer,
                                                                     uint64_t offset,
                                                                     uint64_t length,
                                                                     halyard_buffer** view);

#define HALYARD_TO_END UINT64_MAX

/* Part of a buffer, as an operand. In a command buffer `buffer` may be null: then `slot` names an
 * entry of the table that halyard_queue_execute is given. */
typedef struct halyard_range {
  halyard_buffer* buffer;
  uint64_t offset;
  uint64_t length; /* HALYARD_TO_END: all that is left */
  uint32_t slot;
} halyard_range;

static inline halyard_range halyard_whole(halyard_buffer* buffer) {
  halyard_range range = {buffer, 0, HALYARD_TO_END, 0};
  return range;
}
static inline halyard_range halyard_part(halyard_buffer* buffer, uint64_t offset, uint64_t length) {
  halyard_range range = {buffer, offset, length, 0};
  return range;
}
static inline halyard_range halyard_slot(uint32_t slot) {
  halyard_range range = {NULL, 0, HALYARD_TO_END, slot};
  return range;
}

/* ---- Modules: files with kernels ------------------------------------------------------------- */

typedef enum halyard_module_format {
  HALYARD_FORMAT_CODE_OBJECT = 0,
  HALYARD_FORMAT_OFFLOAD_BUNDLE = 1,
  HALYARD_FORMAT_HOST_ELF = 2,
  HALYARD_FORMAT_ARCHIVE = 3,
  HALYARD_FORMAT_FOLDER = 4
} halyard_module_format;

/* How much compressed bundles may become; 0: the default (4 GiB; 64 MiB; 256 times). */
typedef struct halyard_module_options {
  size_t struct_size;
  uint64_t max_decompressed_bytes;
  uint64_t always_decompressed_bytes;
  uint32_t max_decompression_ratio;
} halyard_module_options;

/* A code object of a module, or what stands in a bundle instead of one. */
typedef struct halyard_module_variant {
  size_t struct_size;
  const char* origin;  /* where in the module it is; "" if the module is a plain code object */
  const char* entry;   /* its ID in the bundle; "" for a loose one */
  const char* target;  /* "gfx90a:xnack-" */
  const char* problem; /* why it cannot be loaded anywhere; "" if it can */
  uint32_t code_object_version;
  uint32_t generic_version; /* 0 unless the target is generic */
  uint64_t offset;
  const void* data; /* its bytes */
  uint64_t size;
} halyard_module_variant;

/* Reads a code object, an offload bundle, a program or library with HIP kernels, or an archive of
 * these. `data` must outlive the module. `options` may be null. INVALID_ARGUMENT says what is wrong
 * with the file, and at which offset. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_module_read(
    const void* data, size_t size, const halyard_module_options* options, halyard_module** module);
/* The same of a file or folder. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_module_open(
    const char* path, const halyard_module_options* options, halyard_module** module);
HALYARD_API void halyard_module_retain(halyard_module* module);
HALYARD_API void halyard_module_release(halyard_module* module);
HALYARD_API halyard_module_format halyard_module_get_format(halyard_module* module);
HALYARD_API size_t halyard_module_variant_count(halyard_module* module);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_module_get_variant(
    halyard_module* module, size_t index, halyard_module_variant* variant);
/* Files of a folder, or members of an archive, that hold no code object, and why. */
HALYARD_API size_t halyard_module_ignored_count(halyard_module* module);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_module_ignored(halyard_module* module,
                                                                     size_t index,
                                                                     const char** name,
                                                                     const char** reason);
/* The variants that a device with this target loads, as indices, at most `capacity` of them;
 * `count` gets how many there are. FAILED_PRECONDITION says of each variant why it does not fit. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_module_choose(halyard_module* module,
                                                                    const char* target,
                                                                    size_t* indices,
                                                                    size_t capacity, size_t* count);

/* ---- Executables and functions --------------------------------------------------------------- */

/* What a kernel argument is. The hidden ones, from 16 on, are filled by the driver. */
typedef enum halyard_argument_kind {
  HALYARD_ARGUMENT_VALUE = 0,       /* a scalar or a struct */
  HALYARD_ARGUMENT_BUFFER = 1,      /* an address of device memory */
  HALYARD_ARGUMENT_DYNAMIC_LDS = 2, /* LDS whose size the dispatch chooses */
  HALYARD_ARGUMENT_UNSUPPORTED = 3, /* a dispatch is refused and names it */
  HALYARD_ARGUMENT_FIRST_HIDDEN = 16
} halyard_argument_kind;

typedef struct halyard_argument_info {
  size_t struct_size;
  halyard_argument_kind kind;
  uint32_t offset; /* from the start of the kernarg segment */
  uint32_t size;
  uint32_t alignment;     /* HALYARD_ARGUMENT_DYNAMIC_LDS: of the LDS; otherwise 0 */
  const char* name;       /* "" if the compiler kept none; so is type_name */
  const char* type_name;  /* "float*" */
  const char* value_kind; /* as the metadata says it: "by_value" */
} halyard_argument_info;

typedef struct halyard_function_info {
  size_t struct_size;
  const char* name;
  uint32_t argument_count; /* the explicit ones */
  uint32_t hidden_count;
  uint32_t kernarg_size;
  uint32_t kernarg_alignment;
  uint32_t group_segment_size;   /* static LDS of a work-group */
  uint32_t private_segment_size; /* scratch of a work-item */
  uint32_t sgpr_count;
  uint32_t vgpr_count;
  uint32_t agpr_count;
  uint32_t wavefront_size;
  uint32_t max_workgroup_size;
  halyard_dim3 required_workgroup_size; /* all 0: any */
  bool uses_dynamic_stack;              /* private_segment_size is only a lower bound */
} halyard_function_info;

typedef struct halyard_executable_info {
  size_t struct_size;
  const char* target; /* what the file was built for */
  uint32_t code_object_version;
} halyard_executable_info;

/* A global variable. */
typedef struct halyard_global_info {
  size_t struct_size;
  uint64_t device_address;
  uint64_t size;
} halyard_global_info;

/* `data`: anything that halyard_module_read reads; copied if it is needed later. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_load_executable(
    halyard_device* device, const void* data, size_t size, halyard_executable** executable);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_load_module(
    halyard_device* device, halyard_module* module, halyard_executable** executable);
HALYARD_API void halyard_executable_retain(halyard_executable* executable);
HALYARD_API void halyard_executable_release(halyard_executable* executable);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_executable_get_info(
    halyard_executable* executable, halyard_executable_info* info);
/* Since 0.2: what of it is loaded on a GPU of a logical device, with its target and globals. The
 * caller gets a reference. FAILED_PRECONDITION says why there is none for that GPU. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_executable_on_gpu(
    halyard_executable* executable, size_t index, halyard_executable** part);
/* Without a reference of the caller's. Null for a bad handle. */
HALYARD_API halyard_device* halyard_executable_device(halyard_executable* executable);
HALYARD_API size_t halyard_executable_function_count(halyard_executable* executable);
/* A function lives as long as its executable, and has no references of its own. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_executable_function(
    halyard_executable* executable, size_t index, halyard_function** function);
/* NOT_FOUND lists the names that exist. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_executable_find(
    halyard_executable* executable, const char* name, halyard_function** function);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_executable_global(
    halyard_executable* executable, const char* name, halyard_global_info* info);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_function_get_info(
    halyard_function* function, halyard_function_info* info);
/* Since 0.3: how much of a function the device runs at once, in work-groups of one size. */
typedef struct halyard_residency {
  size_t struct_size;
  uint32_t workgroup_size;
  uint32_t groups_per_compute_unit; /* 0 if not even one work-group fits */
  uint32_t waves_per_simd;          /* rounded up */
  uint32_t max_waves_per_simd;      /* of any function */
  uint64_t groups;                  /* on all compute units */
} halyard_residency;
/* For work-groups of `workgroup_size` work-items with as much LDS on top of the function's own, on
 * a device that does nothing else. UNIMPLEMENTED for a processor whose figures are not known. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_function_residency(
    halyard_function* function, uint32_t workgroup_size, uint32_t dynamic_lds_bytes,
    halyard_residency* residency);
/* The size with which most work-items are resident. RESOURCE_EXHAUSTED if no work-group fits. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_function_suggest_workgroup_size(
    halyard_function* function, uint32_t dynamic_lds_bytes, halyard_residency* residency);
HALYARD_API halyard_executable* halyard_function_executable(halyard_function* function);
/* The explicit arguments, in order, and the hidden ones. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_function_argument(
    halyard_function* function, size_t index, halyard_argument_info* info);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_function_hidden_argument(
    halyard_function* function, size_t index, halyard_argument_info* info);

/* ---- Semaphores ------------------------------------------------------------------------------ */

/* A semaphore is a timeline: a value that only grows. Work waits until it has reached a value, and
 * makes it reach one when done; so does the host. It fails for good when work that was to signal it
 * fails: a wait for a value that was not reached before gives that first failure. */
typedef struct halyard_point {
  halyard_semaphore* semaphore;
  uint64_t value;
} halyard_point;

typedef enum halyard_wait_mode { HALYARD_WAIT_ANY = 0, HALYARD_WAIT_ALL = 1 } halyard_wait_mode;

HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_create_semaphore(
    halyard_device* device, uint64_t initial_value, halyard_semaphore** semaphore);
HALYARD_API void halyard_semaphore_retain(halyard_semaphore* semaphore);
HALYARD_API void halyard_semaphore_release(halyard_semaphore* semaphore);
/* The value reached so far, or the failure. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_semaphore_query(halyard_semaphore* semaphore,
                                                                      uint64_t* value);
/* From the host. `value` is above the current one, and below any that queued work will signal. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_semaphore_signal(halyard_semaphore* semaphore,
                                                                       uint64_t value);
/* DEADLINE_EXCEEDED if `value` is not reached before the deadline. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_semaphore_wait(halyard_semaphore* semaphore,
                                                                     uint64_t value,
                                                                     uint64_t deadline_ns);
/* Fails the semaphore. Only the first failure counts. `code` is not HALYARD_OK. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_semaphore_fail(halyard_semaphore* semaphore,
                                                                     halyard_code code,
                                                                     const char* message);
/* Since 0.3: what another process imports, with the same driver or another. */
typedef struct halyard_exported_semaphore {
  size_t struct_size;
  uint8_t ipc[64];
} halyard_exported_semaphore;
/* Since 0.3: one timeline in several processes. What one signals is reached in all, some
 * milliseconds later at most, and a failure of one is a failure of all. Each process has a
 * semaphore of its own. If a process ends that has not released it, the others' fail (ABORTED).
 * Processes of one user on one system. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_export_semaphore(
    halyard_device* device, halyard_semaphore* semaphore, halyard_exported_semaphore* exported);
/* FAILED_PRECONDITION if the exporter has released its semaphore, or ended. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_import_semaphore(
    halyard_device* device, const halyard_exported_semaphore* exported,
    halyard_semaphore** semaphore);
/* Waits for one of the points, or for all. With HALYARD_WAIT_ANY `index`, unless null, gets the
 * index of a point that is reached. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_wait(
    halyard_device* device, const halyard_point* points, size_t count, halyard_wait_mode mode,
    uint64_t deadline_ns, size_t* index);

/* ---- Queues ---------------------------------------------------------------------------------- */

/* A queue is in order. Each operation is asynchronous: it waits for its `wait` points, on the
 * device where that can, and reaches its `signal` points when it is done; if it fails, their
 * semaphores fail. A call that returns an error has queued nothing and leaves its semaphores as
 * they were. `sync` may be null: no points. Everything given is read before the call returns, and
 * objects are kept alive until the work is done. */
typedef struct halyard_sync {
  const halyard_point* wait;
  size_t wait_count;
  const halyard_point* signal;
  size_t signal_count;
} halyard_sync;

typedef enum halyard_priority {
  HALYARD_PRIORITY_NORMAL = 0,
  HALYARD_PRIORITY_LOW = 1,
  HALYARD_PRIORITY_HIGH = 2
} halyard_priority;

typedef struct halyard_queue_options {
  size_t struct_size;
  halyard_priority priority;
  /* Operations on the device before a submission waits for room; 0: the driver's default. */
  uint32_t capacity;
  uint32_t gpu; /* since 0.2; of a logical device: which runs the queue's work */
} halyard_queue_options;

/* `options` may be null. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_create_queue(
    halyard_device* device, const halyard_queue_options* options, halyard_queue** queue);
/* Over the vendor runtime's own queue (hipStream_t), which stays the caller's and must outlive it.
 * FAILED_PRECONDITION where halyard_device_info.imports_queues is false. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_import_queue(halyard_device* device,
                                                                          void* native_queue,
                                                                          halyard_queue** queue);
HALYARD_API void halyard_queue_retain(halyard_queue* queue);
/* Waits for nothing: what is queued goes on. */
HALYARD_API void halyard_queue_release(halyard_queue* queue);
/* Without a reference of the caller's. Null for a bad handle. */
HALYARD_API halyard_device* halyard_queue_device(halyard_queue* queue);
/* Since 0.3: a number of its own among the process's queues, as profiles have it. 0 for a bad
 * handle, and with a driver that does not number its queues. */
HALYARD_API uint64_t halyard_queue_id(halyard_queue* queue);

/* An explicit kernel argument. */
typedef struct halyard_argument {
  halyard_argument_kind kind; /* VALUE, BUFFER or DYNAMIC_LDS */
  uint32_t size;              /* of a value or of the LDS */
  const void* value;          /* VALUE: read before the call returns */
  halyard_range range;        /* BUFFER; in a command buffer also a slot */
  /* BUFFER without range.buffer, with `is_address`: an address of the device's memory, or 0, which
   * nothing checks and nothing keeps alive. */
  uint64_t address;
  bool is_address;
} halyard_argument;

static inline halyard_argument halyard_value(const void* value, uint32_t size) {
  halyard_argument argument = {HALYARD_ARGUMENT_VALUE,       size, value,
                               {NULL, 0, HALYARD_TO_END, 0}, 0,    false};
  return argument;
}
static inline halyard_argument halyard_buffer_argument(halyard_range range) {
  halyard_argument argument = {HALYARD_ARGUMENT_BUFFER, 0, NULL, range, 0, false};
  return argument;
}
static inline halyard_argument halyard_address(uint64_t device_address) {
  halyard_argument argument = {HALYARD_ARGUMENT_BUFFER, 0,   NULL, {NULL, 0, HALYARD_TO_END, 0},
                               device_address,          true};
  return argument;
}
static inline halyard_argument halyard_dynamic_lds(uint32_t size) {
  halyard_argument argument = {HALYARD_ARGUMENT_DYNAMIC_LDS, size, NULL,
                               {NULL, 0, HALYARD_TO_END, 0}, 0,    false};
  return argument;
}

/* A kernel launch. The grid counts work-items, and need not be a multiple of the work-group. */
typedef struct halyard_dispatch {
  size_t struct_size;
  halyard_function* function;
  halyard_dim3 grid;
  halyard_dim3 workgroup;
  /* On top of static LDS and of LDS arguments (HIP's extern __shared__). */
  uint32_t dynamic_lds_bytes;
  const halyard_argument* arguments; /* one for each of the function's, in order */
  size_t argument_count;
} halyard_dispatch;

/* A copy of rows, and of slices of rows. A pitch is the distance from the beginning of a row (or
 * slice) to that of the next; 0: no gap. */
typedef struct halyard_rectangle {
  size_t struct_size;
  uint64_t row_bytes;
  uint64_t rows;   /* of each slice; 0: 1 */
  uint64_t slices; /* 0: 1 */
  uint64_t source_row_pitch;
  uint64_t target_row_pitch;
  uint64_t source_slice_pitch;
  uint64_t target_slice_pitch;
} halyard_rectangle;

/* A file that a queue reads from or writes to; the descriptor stays the caller's. */
typedef struct halyard_file_range {
  int descriptor;
  uint64_t offset;
} halyard_file_range;

/* Repeats a pattern of 1 to 256 bytes over the range, whose length is a multiple of it. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_fill(halyard_queue* queue,
                                                                 halyard_range target,
                                                                 const void* pattern,
                                                                 uint32_t pattern_size,
                                                                 const halyard_sync* sync);
/* Writes host memory, which is copied before the call returns. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_update(halyard_queue* queue,
                                                                   halyard_range target,
                                                                   const void* source,
                                                                   uint64_t size,
                                                                   const halyard_sync* sync);
/* The lengths are equal; the ranges do not overlap. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_copy(halyard_queue* queue,
                                                                 halyard_range source,
                                                                 halyard_range target,
                                                                 const halyard_sync* sync);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_copy_rectangle(
    halyard_queue* queue, halyard_range source, halyard_range target,
    const halyard_rectangle* shape, const halyard_sync* sync);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_dispatch(
    halyard_queue* queue, const halyard_dispatch* dispatch, const halyard_sync* sync);
/* Work-group counts (3 × uint32_t) are read from `group_counts` on the device; the grid of
 * `dispatch` is not looked at. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_dispatch_indirect(
    halyard_queue* queue, const halyard_dispatch* dispatch, halyard_range group_counts,
    const halyard_sync* sync);
/* `bindings[i]` stands for slot i of the recording. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_execute(
    halyard_queue* queue, halyard_command_buffer* commands, const halyard_range* bindings,
    size_t binding_count, const halyard_sync* sync);
/* Memory in queue order: the buffer may be used by work that waits for the signals. `options` may
 * be null. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_alloca(
    halyard_queue* queue, uint64_t size, const halyard_buffer_options* options,
    const halyard_sync* sync, halyard_buffer** buffer);
/* Gives the memory back in queue order. The buffer has no bytes from the call on; the handle stays
 * the caller's to release. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_dealloca(halyard_queue* queue,
                                                                     halyard_buffer* buffer,
                                                                     const halyard_sync* sync);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_read(halyard_queue* queue,
                                                                 halyard_file_range source,
                                                                 halyard_range target,
                                                                 const halyard_sync* sync);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_write(halyard_queue* queue,
                                                                  halyard_range source,
                                                                  halyard_file_range target,
                                                                  const halyard_sync* sync);

/* A host function in queue order: null, or an error (halyard_error_create), which the library
 * frees and with which the operation fails. Called once, on a thread of the driver's; must not
 * block on work of the same queue. Not called if a wait failed. */
typedef halyard_error* (*halyard_host_function)(void* context);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_host_call(
    halyard_queue* queue, halyard_host_function function, void* context, const halyard_sync* sync);
/* As before, but the operation lasts until halyard_completion_complete is called: exactly once,
 * from any thread, also from within the function. It takes over `error`. */
typedef struct halyard_completion halyard_completion;
typedef void (*halyard_deferred_host_function)(void* context, halyard_completion* completion);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_host_call_deferred(
    halyard_queue* queue, halyard_deferred_host_function function, void* context,
    const halyard_sync* sync);
HALYARD_API void halyard_completion_complete(halyard_completion* completion, halyard_error* error);

/* Only waits and signals. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_barrier(halyard_queue* queue,
                                                                    const halyard_sync* sync);
/* hsa_queue_t* or hipStream_t; null if there is none. Lives as long as the queue. */
HALYARD_API void* halyard_queue_native_handle(halyard_queue* queue);
/* Null while the queue takes work; afterwards why it does not. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_fault(halyard_queue* queue);
/* Gives up what is queued and not done: its signals fail with CANCELLED. The device goes on. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_queue_abandon(halyard_queue* queue);

/* ---- Command buffers ------------------------------------------------------------------------- */

/* Work recorded once and executed many times. Commands may overlap and run in any order, except
 * across a barrier. A range without a buffer is a slot. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_create_command_buffer(
    halyard_device* device, halyard_command_buffer** commands);
HALYARD_API void halyard_command_buffer_retain(halyard_command_buffer* commands);
HALYARD_API void halyard_command_buffer_release(halyard_command_buffer* commands);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_command_buffer_fill(
    halyard_command_buffer* commands, halyard_range target, const void* pattern,
    uint32_t pattern_size);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_command_buffer_update(
    halyard_command_buffer* commands, halyard_range target, const void* source, uint64_t size);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_command_buffer_copy(
    halyard_command_buffer* commands, halyard_range source, halyard_range target);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_command_buffer_copy_rectangle(
    halyard_command_buffer* commands, halyard_range source, halyard_range target,
    const halyard_rectangle* shape);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_command_buffer_dispatch(
    halyard_command_buffer* commands, const halyard_dispatch* dispatch);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_command_buffer_dispatch_indirect(
    halyard_command_buffer* commands, const halyard_dispatch* dispatch, halyard_range group_counts);
/* All that was recorded before is done before what comes after. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_command_buffer_barrier(
    halyard_command_buffer* commands);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_command_buffer_begin_debug_group(
    halyard_command_buffer* commands, const char* label);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_command_buffer_end_debug_group(
    halyard_command_buffer* commands);
/* Ends the recording; from then on any thread may execute it, any number of times. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_command_buffer_finish(
    halyard_command_buffer* commands);
HALYARD_API bool halyard_command_buffer_finished(halyard_command_buffer* commands);
/* One more than the highest slot that the recording uses. */
HALYARD_API uint32_t halyard_command_buffer_binding_count(halyard_command_buffer* commands);
/* Bytes that the recording uses of the range bound to `slot`, as far as it says. */
HALYARD_API uint64_t halyard_command_buffer_binding_bytes(halyard_command_buffer* commands,
                                                          uint32_t slot);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HALYARD_HALYARD_H */
