/* Executables and their functions. */
#ifndef HALYARD_C_EXECUTABLE_H
#define HALYARD_C_EXECUTABLE_H

#include "halyard/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The kind of a kernel argument. The driver fills the hidden ones, from 16 on. */
typedef enum halyard_argument_kind HALYARD_ENUM {
  HALYARD_ARGUMENT_VALUE = 0,       /* a scalar or a struct */
  HALYARD_ARGUMENT_BUFFER = 1,      /* an address of device memory */
  HALYARD_ARGUMENT_DYNAMIC_LDS = 2, /* LDS whose size the dispatch chooses */
  HALYARD_ARGUMENT_UNSUPPORTED = 3, /* a dispatch fails and names it */
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
  const char* value_kind; /* as in the metadata: "by_value" */
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

/* `data`: any format that halyard_module_read reads. Not needed after the call. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_load_executable(
    halyard_device* device, const void* data, size_t size, halyard_executable** executable);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_device_load_module(
    halyard_device* device, halyard_module* module, halyard_executable** executable);
HALYARD_API void halyard_executable_retain(halyard_executable* executable);
HALYARD_API void halyard_executable_release(halyard_executable* executable);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_executable_get_info(
    halyard_executable* executable, halyard_executable_info* info);
/* Since 0.2: the part for a GPU of a logical device, with its target and globals. The caller gets a
 * reference. FAILED_PRECONDITION if there is none for that GPU, with the reason. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_executable_on_gpu(
    halyard_executable* executable, size_t index, halyard_executable** part);
/* Without a new reference. Null for a bad handle. */
HALYARD_API halyard_device* halyard_executable_device(halyard_executable* executable);
HALYARD_API size_t halyard_executable_function_count(halyard_executable* executable);
/* A function lives as long as its executable, and has no references of its own. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_executable_function(
    halyard_executable* executable, size_t index, halyard_function** function);
/* NOT_FOUND lists the existing names. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_executable_find(
    halyard_executable* executable, const char* name, halyard_function** function);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_executable_global(
    halyard_executable* executable, const char* name, halyard_global_info* info);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_function_get_info(
    halyard_function* function, halyard_function_info* info);
/* Since 0.3: how many work-groups of one size the device can run at once. */
typedef struct halyard_residency {
  size_t struct_size;
  uint32_t workgroup_size;
  uint32_t groups_per_compute_unit; /* 0 if not even one work-group fits */
  uint32_t waves_per_simd;          /* rounded up */
  uint32_t max_waves_per_simd;      /* of any function */
  uint64_t groups;                  /* on all compute units */
} halyard_residency;
/* For work-groups of `workgroup_size` work-items with this much dynamic LDS, on an otherwise idle
 * device. UNIMPLEMENTED for an unknown processor. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_function_residency(
    halyard_function* function, uint32_t workgroup_size, uint32_t dynamic_lds_bytes,
    halyard_residency* residency);
/* The work-group size with the most resident work-items. RESOURCE_EXHAUSTED if none fits. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_function_suggest_workgroup_size(
    halyard_function* function, uint32_t dynamic_lds_bytes, halyard_residency* residency);
HALYARD_API halyard_executable* halyard_function_executable(halyard_function* function);
/* The explicit arguments, in order, and the hidden ones. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_function_argument(
    halyard_function* function, size_t index, halyard_argument_info* info);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_function_hidden_argument(
    halyard_function* function, size_t index, halyard_argument_info* info);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HALYARD_C_EXECUTABLE_H */
