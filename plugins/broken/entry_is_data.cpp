// Exports a variable where the function should be.
extern "C" __attribute__((visibility("default"))) int halyard_plugin[4];
int halyard_plugin[4] = {1, 2, 3, 4};
