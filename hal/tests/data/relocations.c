// What has relocations for the loader: of a symbol that others may replace, of addresses in the file
// itself, and of functions; and memory that is not in the file.
#define KERNEL __attribute__((amdgpu_kernel, visibility("protected"))) void
#define GLOBAL __attribute__((address_space(1)))

__attribute__((visibility("default"))) GLOBAL int shared = 3;
__attribute__((visibility("default"))) GLOBAL int numbers[1000];
GLOBAL int *GLOBAL pointers[2] = {&shared, &numbers[10]};

static int twice(int x) { return x + x; }
static int square(int x) { return x * x; }
typedef int (*Function)(int);
GLOBAL Function functions[2] = {twice, square};

KERNEL load(GLOBAL int *out, int which) { *out = *pointers[which & 1]; }
KERNEL call(GLOBAL int *out, int which) { *out = functions[which & 1](*out); }
