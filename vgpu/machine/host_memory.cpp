#include "vgpu/machine/host_memory.h"

#include <sys/shm.h>

namespace halyard::vgpu::machine {

namespace {

void* const kShmFailed = reinterpret_cast<void*>(-1);

// Maps the whole segment over the existing pages.
bool attach_over(int id, void* begin) {
  return shmat(id, begin, SHM_REMAP) != kShmFailed;
}

uint32_t made_at(const shmid_ds& state) {
  return static_cast<uint32_t>(state.shm_ctime);
}

}  // namespace

bool share_pages(void* begin, uint64_t size, Segment* segment) {
  *segment = {};
  const int id = shmget(IPC_PRIVATE, size, IPC_CREAT | SHM_NORESERVE | 0600);
  if (id < 0) return true;
  shmid_ds state = {};
  const bool attached = attach_over(id, begin);
  if (attached && shmctl(id, IPC_STAT, &state) == 0) *segment = {id, made_at(state)};
  // Without an attachment it goes at once.
  shmctl(id, IPC_RMID, nullptr);
  return attached;
}

bool attach_pages(const Segment& segment, void* begin, uint64_t size) {
  shmid_ds state = {};
  if (shmctl(segment.id, IPC_STAT, &state) != 0) return false;
  // Segments of other programs are not marked for removal, as a rule.
  const bool same = state.shm_segsz == size && made_at(state) == segment.made &&
                    (state.shm_perm.mode & SHM_DEST) != 0;
  return same && attach_over(segment.id, begin);
}

}  // namespace halyard::vgpu::machine
