/* Copies and files. */
#include <halyard/halyard.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "tests.h"

void test_copies_and_files(void) {
  halyard_buffer* source = allocate(256, HALYARD_MEMORY_HOST);
  halyard_buffer* target = allocate(256, HALYARD_MEMORY_HOST);
  uint32_t* from = words_of(source);
  uint32_t* to = words_of(target);
  for (uint32_t i = 0; i < 64; ++i) from[i] = i;
  memset(to, 0, 256);
  MUST(halyard_queue_copy(queue, halyard_part(source, 16, 32), halyard_part(target, 0, 32), NULL));
  finish();
  CHECK(to[0] == 4 && to[7] == 11 && to[8] == 0);

  /* 3 rows of 2 words, of 8 words apart, to rows without gaps. */
  memset(to, 0, 256);
  const halyard_rectangle shape = {
      .struct_size = sizeof shape, .row_bytes = 8, .rows = 3, .source_row_pitch = 32};
  MUST(halyard_queue_copy_rectangle(queue, halyard_whole(source), halyard_whole(target), &shape,
                                    NULL));
  finish();
  const uint32_t expected[] = {0, 1, 8, 9, 16, 17, 0};
  CHECK(memcmp(to, expected, sizeof expected) == 0);
  REFUSED(
      halyard_queue_copy_rectangle(queue, halyard_whole(source), halyard_whole(target), NULL, NULL),
      INVALID_ARGUMENT, "no shape (null)");

  char path[] = "/tmp/halyard_c_test_XXXXXX";
  const int file = mkstemp(path);
  CHECK(file >= 0);
  unlink(path);
  MUST(halyard_queue_write(queue, halyard_part(source, 0, 64), (halyard_file_range){file, 100},
                           NULL));
  MUST(
      halyard_queue_read(queue, (halyard_file_range){file, 104}, halyard_part(target, 0, 8), NULL));
  finish();
  CHECK(to[0] == 1 && to[1] == 2);
  close(file);
  halyard_buffer_release(source);
  halyard_buffer_release(target);
}
