// v_cmp and v_cmpx, by the meaning of each name (Vega ISA 12.9).

#include "vgpu/isa/tests/model/real_rules.h"

namespace halyard::vgpu::isa::model {
namespace {

struct Order {
  bool less, equal, greater, unordered;
};

bool holds(const std::string& relation, const Order& o) {
  if (relation == "f") return false;
  if (relation == "lt") return o.less;
  if (relation == "eq") return o.equal;
  if (relation == "le") return o.less || o.equal;
  if (relation == "gt") return o.greater;
  if (relation == "lg" || relation == "ne") return o.less || o.greater;
  if (relation == "ge") return o.greater || o.equal;
  if (relation == "o") return !o.unordered;
  if (relation == "u") return o.unordered;
  if (relation == "nge") return !(o.greater || o.equal);
  if (relation == "nlg") return !(o.less || o.greater);
  if (relation == "ngt") return !o.greater;
  if (relation == "nle") return !(o.less || o.equal);
  if (relation == "neq") return !o.equal;
  if (relation == "nlt") return !o.less;
  return true;  // tru, t
}

Order order_of_floats(const Lane& l, Float f) {
  const bool keep = l.mode.rules(f).keep_inputs;
  const uint64_t a = flushed(f, operand(l, 0, f), keep), b = flushed(f, operand(l, 1, f), keep);
  if (nan(f, a) || nan(f, b)) return {false, false, false, true};
  const int c = mpfr_cmp(Exact(f, a).get(), Exact(f, b).get());
  return {c < 0, c == 0, c > 0, false};
}

bool in_class(Float f, uint64_t x, uint32_t classes) {
  const bool minus = negative(f, x);
  unsigned bit = minus ? 3 : 8;  // normal
  if (nan(f, x))
    bit = signaling(f, x) ? 0 : 1;
  else if (infinite(f, x))
    bit = minus ? 2 : 9;
  else if (denormal(f, x))
    bit = minus ? 4 : 7;
  else if (zero(f, x))
    bit = minus ? 5 : 6;
  return (classes >> bit & 1) != 0;
}

int64_t integer(const Lane& l, unsigned i, int bits, bool is_signed) {
  if (bits == 64) return static_cast<int64_t>(l.u64(i));
  if (bits == 32) return is_signed ? int64_t{l.i(i)} : int64_t{l.u(i)};
  return is_signed ? int64_t{static_cast<int16_t>(l.u(i))} : int64_t{l.u(i) & 0xffff};
}
Order order_of_integers(const Lane& l, int bits, bool is_signed) {
  const int64_t a = integer(l, 0, bits, is_signed), b = integer(l, 1, bits, is_signed);
  const bool less =
      bits == 64 && !is_signed ? static_cast<uint64_t>(a) < static_cast<uint64_t>(b) : a < b;
  return {less, a == b, !less && a != b, false};
}

void add_both(std::vector<Row>& rows, const std::string& relation_and_type, Kind first, Kind second,
              const Evaluate& evaluate) {
  Row row{"v_cmp_" + relation_and_type, Kind::kNone, {first, second}, evaluate};
  row.writes_flag = true;
  rows.push_back(row);
  row.name = "v_cmpx_" + relation_and_type;
  row.writes_exec = true;
  rows.push_back(row);
}

}  // namespace

void add_compare_rows(std::vector<Row>& rows) {
  struct Type {
    Float f;
    Kind kind;
    const char* name;
  };
  for (const Type& t : {Type{Float::kF16, Kind::kF16, "f16"}, Type{Float::kF32, Kind::kF32, "f32"},
                        Type{Float::kF64, Kind::kF64, "f64"}}) {
    for (const std::string relation : {"f", "lt", "eq", "le", "gt", "lg", "ge", "o", "u", "nge",
                                       "nlg", "ngt", "nle", "neq", "nlt", "tru"}) {
      add_both(rows, relation + "_" + t.name, t.kind, t.kind,
               [=, f = t.f](Lane& l) { l.result_flag = holds(relation, order_of_floats(l, f)); });
    }
    add_both(rows, std::string("class_") + t.name, t.kind, Kind::kClass,
             [f = t.f](Lane& l) { l.result_flag = in_class(f, operand(l, 0, f), l.u(1)); });
  }
  for (const int bits : {16, 32, 64}) {
    const Kind kind = bits == 16 ? Kind::kB16 : bits == 32 ? Kind::kB32 : Kind::kB64;
    for (const bool is_signed : {false, true}) {
      for (const std::string relation : {"f", "lt", "eq", "le", "gt", "ne", "ge", "t"}) {
        add_both(rows, relation + (is_signed ? "_i" : "_u") + std::to_string(bits), kind, kind,
                 [=](Lane& l) {
                   l.result_flag = holds(relation, order_of_integers(l, bits, is_signed));
                 });
      }
    }
  }
}

}  // namespace halyard::vgpu::isa::model
