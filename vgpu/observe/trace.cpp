#include "vgpu/observe/trace.h"

#include <fmt/format.h>

#include <bit>
#include <map>
#include <mutex>
#include <utility>

#include "vgpu/isa/encoding.h"
#include "vgpu/isa/opcode.h"
#include "vgpu/isa/target.h"
#include "vgpu/observe/register_names.h"

namespace halyard::vgpu::observe {
namespace {

using isa::Instruction;
using isa::Operand;
using isa::OperandKind;
using isa::Wave;

// A block is handed to the file when it is this long, bytes.
constexpr size_t kBlock = 64 * 1024;

// The values of the active lanes: "0x7", "0x0+0x4*lane" or "{0: 0x7, 3: 0x9}".
std::string lanes_text(const isa::VectorRegister& values, uint64_t mask) {
  if (mask == 0) return "no lane";
  const auto first = static_cast<unsigned>(std::countr_zero(mask));
  const uint64_t others = mask & (mask - 1);
  uint32_t step = 0;
  if (others != 0) {
    const auto second = static_cast<unsigned>(std::countr_zero(others));
    const uint32_t apart = values.lane[second] - values.lane[first];
    if (apart % (second - first) == 0) step = apart / (second - first);
  }
  const uint32_t origin = values.lane[first] - step * first;
  bool regular = true;
  for (unsigned l = 0; l < isa::kLanes; ++l)
    regular = regular && (!(mask >> l & 1) || values.lane[l] == origin + step * l);
  if (regular && step == 0) return fmt::format("0x{:x}", origin);
  if (regular) return fmt::format("0x{:x}+0x{:x}*lane", origin, step);
  std::string text = "{";
  for (unsigned l = 0; l < isa::kLanes; ++l) {
    if (!(mask >> l & 1)) continue;
    text += fmt::format("{}{}: 0x{:x}", text.size() > 1 ? ", " : "", l, values.lane[l]);
  }
  return text + "}";
}

// The registers that hold state besides an instruction's operands.
struct State {
  explicit State(const Wave& wave)
      : exec(wave.exec()), vcc(wave.vcc()), m0(wave.m0()), scc(wave.scc) {}
  uint64_t exec, vcc;
  uint32_t m0;
  bool scc;
};

class GroupTrace final : public isa::GroupObserver {
 public:
  GroupTrace(OutputFile& file, uint64_t dispatch, const isa::WorkGroup& group,
             const isa::GroupContext& context)
      : file_(file), dispatch_(dispatch), context_(context), place_(group_text(group)) {}
  ~GroupTrace() override { file_.append(lines_); }
  GroupTrace(const GroupTrace&) = delete;
  GroupTrace& operator=(const GroupTrace&) = delete;

  void before(const Wave& wave, const Instruction& instruction) override;
  void after(const Wave& wave, const Instruction& instruction, uint64_t pc,
             isa::Outcome outcome) override;
  void barrier() override { lines_ += fmt::format("{} {} barrier\n", dispatch_, place_); }

 private:
  void add(std::string_view change) {
    lines_ += separator_;
    lines_ += change;
    separator_ = ", ";
  }
  void add_operand(const Wave& wave, const Operand& operand, unsigned dwords);
  void add_state(const Wave& wave);

  OutputFile& file_;
  const uint64_t dispatch_;
  const isa::GroupContext& context_;
  const std::string place_;
  std::string lines_;
  const char* separator_ = "";
  State then_{Wave{}};
};

void GroupTrace::before(const Wave& wave, const Instruction& instruction) {
  static_cast<void>(instruction);
  then_ = State(wave);
}

void GroupTrace::add_operand(const Wave& wave, const Operand& operand, unsigned dwords) {
  for (unsigned k = 0; k < dwords; ++k) {
    const unsigned index = operand.index + k;
    switch (operand.kind) {
      case OperandKind::kScalar:
        // VCC, EXEC and M0 are state, shown if they change.
        if (index >= isa::scalar::kCount || index == isa::scalar::kM0 ||
            index / 2 == isa::scalar::kVcc / 2 || index / 2 == isa::scalar::kExec / 2) {
          break;
        }
        add(fmt::format("{}=0x{:x}", register_name(RegisterFile::kScalar, index),
                        wave.sgpr[index]));
        break;
      case OperandKind::kVector:
        if (index < wave.vgpr_count)
          add(fmt::format("v{}={}", index, lanes_text(wave.vgpr[index], then_.exec)));
        break;
      case OperandKind::kAcc:
        if (index < wave.agpr_count)
          add(fmt::format("a{}={}", index, lanes_text(wave.agpr[index], then_.exec)));
        break;
      default:
        break;
    }
  }
}

void GroupTrace::add_state(const Wave& wave) {
  const State now(wave);
  if (now.exec != then_.exec) add(fmt::format("exec=0x{:016x}", now.exec));
  if (now.vcc != then_.vcc) add(fmt::format("vcc=0x{:016x}", now.vcc));
  if (now.m0 != then_.m0) add(fmt::format("m0=0x{:x}", now.m0));
  if (now.scc != then_.scc) add(fmt::format("scc={}", now.scc ? 1 : 0));
}

void GroupTrace::after(const Wave& wave, const Instruction& instruction, uint64_t pc,
                       isa::Outcome outcome) {
  lines_ += fmt::format("{} {} w{} {}  {}", dispatch_, place_, wave.index_in_group,
                        offset_text(context_, pc), context_.program->text(pc));
  separator_ = "  | ";
  if (outcome == isa::Outcome::kFault) {
    add("fault: " + wave.fault.message);
  } else {
    // A store's dst field is the data that it reads.
    const bool stores =
        instruction.op != isa::Op::none && isa::row_of(instruction.op).dst == isa::Type::kNone;
    if (instruction.op != isa::Op::none && !stores)
      add_operand(wave, instruction.dst, isa::result_dwords(instruction));
    add_operand(wave, instruction.sdst, 2);
    add_state(wave);
  }
  lines_ += '\n';
  if (lines_.size() < kBlock && outcome != isa::Outcome::kFault) return;
  file_.append(lines_);
  lines_.clear();
}

class Trace final : public isa::Observer {
 public:
  Trace(std::unique_ptr<OutputFile> file, KernelNames names)
      : file_(std::move(file)), names_(std::move(names)) {}

  void begin(const isa::GroupContext& context) override {
    const uint64_t number = begin_dispatch(context);
    const isa::Dispatch& dispatch = *context.dispatch;
    file_->append(fmt::format(
        "dispatch {}: {} on {}, grid {}x{}x{}, work-groups of {}x{}x{}, kernarg 0x{:x}\n", number,
        kernel_text(names_, dispatch.kernel_object), context.target->processor, dispatch.grid[0],
        dispatch.grid[1], dispatch.grid[2], dispatch.group[0], dispatch.group[1], dispatch.group[2],
        dispatch.kernarg_address));
  }

  void end(const isa::GroupContext& context, const isa::DispatchResult& result) override {
    file_->append(fmt::format("dispatch {} {}\n", end_dispatch(context),
                              result.fault.kind == isa::Fault::Kind::kNone
                                  ? std::string("ends")
                                  : "has failed: " + result.fault.message));
  }

  std::unique_ptr<isa::GroupObserver> watch(const isa::WorkGroup& group,
                                            const isa::GroupContext& context) override {
    return std::make_unique<GroupTrace>(*file_, number_of(context), group, context);
  }

 private:
  // Dispatches are numbered from 1 on, those of all GPUs together.
  uint64_t begin_dispatch(const isa::GroupContext& context) {
    const std::lock_guard lock(mutex_);
    return numbers_[&context] = ++dispatches_;
  }
  uint64_t number_of(const isa::GroupContext& context) {
    const std::lock_guard lock(mutex_);
    return numbers_.at(&context);
  }
  uint64_t end_dispatch(const isa::GroupContext& context) {
    const std::lock_guard lock(mutex_);
    return numbers_.extract(&context).mapped();
  }

  std::unique_ptr<OutputFile> file_;
  KernelNames names_;
  std::mutex mutex_;  // what follows
  uint64_t dispatches_ = 0;
  std::map<const isa::GroupContext*, uint64_t> numbers_;  // of those in flight
};

}  // namespace

std::unique_ptr<isa::Observer> make_trace(std::unique_ptr<OutputFile> file, KernelNames names) {
  return std::make_unique<Trace>(std::move(file), std::move(names));
}

}  // namespace halyard::vgpu::observe
