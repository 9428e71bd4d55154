// The device library as one translation unit: a code object has one metadata record, which the
// linker does not merge.
#include "copy.c"
#include "fill.c"
#include "patch_dispatch.c"
#include "timestamps.c"
