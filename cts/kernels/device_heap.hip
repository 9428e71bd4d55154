// malloc, free, new and delete in kernels.
#include <hip/hip_runtime.h>

struct Node {
  unsigned value;
  Node* next;
};

// Each work-item makes a list of `count` nodes, and frees it.
extern "C" __global__ void list(unsigned* out, unsigned count) {
  const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
  Node* head = nullptr;
  for (unsigned k = 0; k < count; ++k) {
    Node* const node = static_cast<Node*>(malloc(sizeof(Node)));
    if (node == nullptr) {
      out[i] = ~0u;
      return;
    }
    node->value = k * (i + 1);
    node->next = head;
    head = node;
  }
  unsigned sum = 0;
  while (head != nullptr) {
    Node* const node = head;
    sum += node->value;
    head = node->next;
    free(node);
  }
  out[i] = sum;
}

// A block that the library asks the host for. Null leaves 0.
extern "C" __global__ void large(unsigned* out, unsigned long bytes, unsigned rounds) {
  out[0] = 0;
  for (unsigned round = 0; round < rounds; ++round) {
    unsigned char* const block = static_cast<unsigned char*>(malloc(bytes));
    if (block == nullptr) return;
    block[0] = 3;
    block[bytes - 1] = 4;
    out[0] += block[0] + block[bytes - 1];
    free(block);
  }
}

// What one kernel allocates another one has.
extern "C" __global__ void keep(Node** at, unsigned value) {
  Node* const node = new Node;
  node->value = value;
  node->next = static_cast<Node*>(malloc(5000));
  if (node->next != nullptr) node->next->value = value + 1;
  *at = node;
}
extern "C" __global__ void give_back(Node** at, unsigned* out) {
  Node* const node = *at;
  out[0] = node->value;
  out[1] = node->next != nullptr ? node->next->value : 0;
  free(node->next);
  delete node;
}

extern "C" __global__ void free_twice(unsigned* out) {
  void* const block = malloc(8000);
  free(block);
  free(block);
  out[0] = 1;
}
