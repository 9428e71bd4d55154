// Epoch: how many packets of a queue are done.
//
// Packets are done in their order, and each counts down one of two signals (epoch_signals.h). Those
// of a recorded command buffer count together (uncounted_runs.h), and those that complete a signal
// of their own are counted apart (edges.h).
#pragma once

#include <cstdint>

#include "drivers/amdgpu/edges.h"
#include "drivers/amdgpu/epoch_signals.h"
#include "drivers/amdgpu/packet_notes.h"
#include "drivers/amdgpu/packet_ring.h"
#include "drivers/amdgpu/queue_loss.h"
#include "drivers/amdgpu/uncounted_runs.h"
#include "plugins/sdk/point_state.h"

namespace halyard::amdgpu {

// Any thread may use any method but open().
class Epoch {
 public:
  Epoch(const Hsa& hsa, PacketRing& ring, const PacketNotes& notes, const Edges& edges,
        const QueueLoss& loss)
      : signals_(hsa), ring_(ring), notes_(notes), edges_(edges), loss_(loss) {}
  // After the ring's.
  Status open() { return signals_.open(ring_.first()); }

  // What packets count down.
  const EpochSignals& signals() const { return signals_; }
  EpochSignals& signals() { return signals_; }

  // How many packets of the runtime's queue are done; packets 0 to completed() - 1 are. A few
  // loads. Of a lost queue: how many were when it was lost.
  uint64_t completed() const;
  bool idle() const { return completed() >= ring_.reserved(); }
  // Whether the packet with this index is done, or can no more be.
  PointState state_of(uint64_t index) const;
  // How many packets are done of an abandoned queue; those that were when it was abandoned, if more
  // is not known just now.
  uint64_t completed_of_lost() const;

  // The value of signals().interrupt(), that or less, once the published packet `index`, which
  // decrements it, is done. Looks through the packets in flight, and waits for those before it to
  // be written.
  hsa_signal_value_t interrupt_value(uint64_t index) const;

  // Takes `leading` slots of the ring and a layout's behind them, whose packets are a program's
  // (null: are noted like others) and count together.
  uint64_t reserve_batch(uint32_t leading, const BatchLayout& layout, const Program* program);
  // UncountedRuns::find.
  bool find_run(uint64_t index, UncountedRun* run) const { return uncounted_.find(index, run); }

 private:
  // How many packets are done, those `counted` and the uncounted ones among them.
  uint64_t with_uncounted(uint64_t counted) const { return counted + uncounted_.credit(counted); }

  EpochSignals signals_;
  PacketRing& ring_;
  const PacketNotes& notes_;
  const Edges& edges_;
  const QueueLoss& loss_;
  UncountedRuns uncounted_;
};

}  // namespace halyard::amdgpu
