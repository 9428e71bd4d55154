#include "tools/command_line/standard_streams.h"

#include <fcntl.h>
#include <unistd.h>

namespace halyard::cli {

void reserve_standard_streams() {
  // The lowest number that is free, each time.
  int file = 0;
  while (file >= 0 && file <= STDERR_FILENO) file = open("/", O_PATH);
  if (file > STDERR_FILENO) close(file);
}

}  // namespace halyard::cli
