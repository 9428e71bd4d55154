/* The registry: drivers and devices. */
#ifndef HALYARD_C_REGISTRY_H
#define HALYARD_C_REGISTRY_H

#include "halyard/c/base.h"
#include "halyard/c/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A setting by name. */
typedef struct halyard_option {
  const char* key;
  const char* value;
} halyard_option;

/* A setting of a driver as a whole, such as the path of its vendor library. */
typedef struct halyard_driver_option {
  const char* driver;
  const char* key;
  const char* value;
} halyard_driver_option;

/* A name for one or several devices, usable in place of a URI. */
typedef struct halyard_named_device {
  const char* name; /* [a-z][a-z0-9_]* */
  const char* const* uris;
  size_t uri_count;
} halyard_named_device;

typedef struct halyard_registry_options {
  size_t struct_size;
  /* Folders with plugins, or single plugins; searched before HALYARD_PLUGIN_PATH and the
   * installation. */
  const char* const* plugin_paths;
  size_t plugin_path_count;
  /* Ignore HALYARD_PLUGIN_PATH, or the installation. */
  bool ignore_environment;
  bool ignore_installation;
  /* Devices do not validate unless their URI says ?validation=full. For benchmarks. */
  bool no_validation;
  /* The installation prefix, instead of the program's and the library's; null: those. */
  const char* installation;
  const halyard_driver_option* driver_options;
  size_t driver_option_count;
  const char* const* disabled_drivers; /* names */
  size_t disabled_driver_count;
  const halyard_named_device* named_devices;
  size_t named_device_count;
} halyard_registry_options;

/* Searches for plugins, and loads none; `options` may be null. Devices can outlive their
 * registry. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_registry_create(
    const halyard_registry_options* options, halyard_registry** registry);
/* The process's registry, created with default options by the first call, and never destroyed. The
 * caller gets a reference. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_registry_default(halyard_registry** registry);
HALYARD_API void halyard_registry_retain(halyard_registry* registry);
HALYARD_API void halyard_registry_release(halyard_registry* registry);

/* Opens the device that a URI names: "amdgpu" (one logical device of all GPUs), "amdgpu:1" (a GPU
 * by its ordinal), "amdgpu://GPU-0123456789abcdef" (by its UUID), "amdgpu://0,1" (a logical device
 * of two), each with "?key=value&…"; see docs/devices.md. `options` override the URI's. NOT_FOUND
 * contains the outcome for every plugin. FAILED_PRECONDITION for a name that stands for devices of
 * several drivers. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_registry_open_device(
    halyard_registry* registry, const char* uri, const halyard_option* options, size_t option_count,
    halyard_device** device);
/* Opens each device that `uri` stands for, and stores at most `capacity` of them in `devices`.
 * `count` gets their number. OUT_OF_RANGE: they are more than `capacity`, and none was opened;
 * `count` is set then, too. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_registry_open_devices(
    halyard_registry* registry, const char* uri, const halyard_option* options, size_t option_count,
    halyard_device** devices, size_t capacity, size_t* count);

/* Drivers, sorted by name. Both functions load every plugin. `index` < the count. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_registry_driver_count(
    halyard_registry* registry, size_t* count);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_registry_driver_at(halyard_registry* registry,
                                                                         size_t index,
                                                                         halyard_driver** driver);
/* By name. NOT_FOUND, or the reason why it does not start. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_registry_driver(halyard_registry* registry,
                                                                      const char* name,
                                                                      halyard_driver** driver);
/* Since 0.2: the URIs of the GPUs that `uri` stands for, with ordinals, one on each line. Free the
 * text with halyard_text_free. Loads the driver. */
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

/* The facts of a device before it is opened. */
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
/* The devices at the time when the driver was loaded, ordered by ordinal. */
HALYARD_API size_t halyard_driver_device_count(halyard_driver* driver);
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_driver_device(
    halyard_driver* driver, size_t index, halyard_device_summary* summary);
/* Opens a device by its ordinal, with the driver's own options and full validation. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_driver_open_device(
    halyard_driver* driver, uint32_t ordinal, const halyard_option* options, size_t option_count,
    halyard_device** device);

/* Since 0.2: opens one logical device of the GPUs with these ordinals, in this order.
 * INVALID_ARGUMENT for none, or for a repeated one. */
HALYARD_API HALYARD_MUST_CHECK halyard_error* halyard_driver_open_logical_device(
    halyard_driver* driver, const uint32_t* ordinals, size_t ordinal_count,
    const halyard_option* options, size_t option_count, halyard_device** device);

/* The outcome for every file that could be a driver. */
typedef enum halyard_report_kind HALYARD_ENUM {
  HALYARD_REPORT_SO_FAR = 0,   /* loads nothing */
  HALYARD_REPORT_COMPLETE = 1, /* loads every plugin first */
  /* In forked processes, so that a plugin can crash. Call it before the program starts threads.
   * Loads nothing here. */
  HALYARD_REPORT_PROBE = 2
} halyard_report_kind;

typedef enum halyard_load_stage HALYARD_ENUM {
  HALYARD_STAGE_FOUND = 0,
  HALYARD_STAGE_OPENED = 1,
  HALYARD_STAGE_SYMBOL = 2,
  HALYARD_STAGE_NEGOTIATED = 3,
  HALYARD_STAGE_INITIALISED = 4,
  HALYARD_STAGE_ENUMERATED = 5
} halyard_load_stage;

typedef enum halyard_plugin_origin HALYARD_ENUM {
  HALYARD_ORIGIN_EXPLICIT = 0,
  HALYARD_ORIGIN_ENVIRONMENT = 1,
  HALYARD_ORIGIN_CONFIG = 2,
  HALYARD_ORIGIN_INSTALLATION = 3
} halyard_plugin_origin;

typedef struct halyard_candidate {
  size_t struct_size;
  const char* path;      /* as found */
  const char* real_path; /* symbolic links resolved; "" if that fails */
  const char* warning;   /* who else can write to the file; "": no one */
  const char* reason;    /* why loading stopped; "" if it did not stop */
  const char* driver;    /* "" before HALYARD_STAGE_NEGOTIATED; so are version and description */
  const char* version;
  const char* description;
  halyard_plugin_origin origin;
  halyard_load_stage stage; /* the last stage that it passed */
  halyard_code code;        /* that goes with `reason` */
  uint32_t abi_major;       /* the plugin's */
  uint32_t abi_minor;
  bool tried;    /* false: not opened, because no call needed it */
  bool fatal;    /* it ended the process that loaded it, or did not return */
  bool disabled; /* a setting has disabled the driver */
  uint64_t device_count;
} halyard_candidate;

/* A searched folder or file. */
typedef struct halyard_searched_place {
  size_t struct_size;
  const char* path;
  const char* problem; /* why it could not be read; "" if it could */
  const char* warning;
  halyard_plugin_origin origin;
  uint64_t candidates; /* found here */
} halyard_searched_place;

/* `timeout_ns`: for HALYARD_REPORT_PROBE, for each plugin. */
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

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HALYARD_C_REGISTRY_H */
