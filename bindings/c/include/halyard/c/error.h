/* Errors and text. */
#ifndef HALYARD_C_ERROR_H
#define HALYARD_C_ERROR_H

#include "halyard/c/base.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Abseil's canonical codes. */
typedef enum halyard_code HALYARD_ENUM {
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

/* "INVALID_ARGUMENT" and so on; "UNKNOWN" for a number that is not a code. Static. */
HALYARD_API const char* halyard_code_name(halyard_code code);
/* HALYARD_OK and "" for null. The message is a full sentence, and lives as long as the error. */
HALYARD_API halyard_code halyard_error_code(const halyard_error* error);
HALYARD_API const char* halyard_error_message(const halyard_error* error);
/* For a host function that fails. Copies the message. Never null: HALYARD_OK becomes
 * HALYARD_UNKNOWN. */
HALYARD_API halyard_error* halyard_error_create(halyard_code code, const char* message);
HALYARD_API void halyard_error_free(halyard_error* error);

/* Frees text that a function has returned. Accepts null. */
HALYARD_API void halyard_text_free(char* text);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* HALYARD_C_ERROR_H */
