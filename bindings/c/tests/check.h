/* Checks. Each that fails is printed, and counted. */
#ifndef HALYARD_BINDINGS_C_TESTS_CHECK_H
#define HALYARD_BINDINGS_C_TESTS_CHECK_H

#include <halyard/halyard.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int failures;

static inline void fail(int line, const char* what) {
  fprintf(stderr, "%s:%d: %s\n", __BASE_FILE__, line, what);
  ++failures;
}

static inline bool is_true(int line, bool holds, const char* what) {
  if (!holds) fail(line, what);
  return holds;
}
#define CHECK(expression) is_true(__LINE__, (expression), #expression)

static inline bool is_ok(int line, halyard_error* error) {
  if (error == NULL) return true;
  fprintf(stderr, "%s:%d: %s: %s\n", __BASE_FILE__, line,
          halyard_code_name(halyard_error_code(error)), halyard_error_message(error));
  halyard_error_free(error);
  ++failures;
  return false;
}
#define OK(call) is_ok(__LINE__, (call))
/* For what nothing works without. */
#define MUST(call)          \
  do {                      \
    if (!OK(call)) exit(1); \
  } while (0)

static inline void is_refused(int line, halyard_error* error, halyard_code code,
                              const char* words) {
  if (error == NULL) {
    fail(line, "No error.");
    return;
  }
  if (halyard_error_code(error) != code || strstr(halyard_error_message(error), words) == NULL) {
    fprintf(stderr, "%s:%d: %s: %s\n  expected %s: …%s…\n", __BASE_FILE__, line,
            halyard_code_name(halyard_error_code(error)), halyard_error_message(error),
            halyard_code_name(code), words);
    ++failures;
  }
  halyard_error_free(error);
}
/* `words` name the sentence of the error. */
#define REFUSED(call, code, words)                                        \
  do {                                                                    \
    _Static_assert(sizeof(words) > 5, "These words are in many errors."); \
    is_refused(__LINE__, (call), HALYARD_##code, words);                  \
  } while (0)

#endif
