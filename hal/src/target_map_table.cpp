// Made by tools/targets.py from config/targets.yaml. Change that, not this.
#include "hal/target_map.h"

// clang-format off
namespace halyard {
namespace {

constexpr ProcessorInfo kProcessors[] = {
    // name, kind, machine, xnack, sramecc, chosen, wavefront, other, generic, version, architecture
    {"gfx900", ProcessorKind::kExact, 0x2c, true, false, true, 64, 0, "gfx9-generic", 1, "gcn5"},
    {"gfx902", ProcessorKind::kExact, 0x2d, true, false, true, 64, 0, "gfx9-generic", 1, "gcn5"},
    {"gfx904", ProcessorKind::kExact, 0x2e, true, false, true, 64, 0, "gfx9-generic", 1, "gcn5"},
    {"gfx906", ProcessorKind::kExact, 0x2f, true, true, true, 64, 0, "gfx9-generic", 1, "gcn5"},
    {"gfx908", ProcessorKind::kExact, 0x30, true, true, true, 64, 0, nullptr, 0, "cdna1"},
    {"gfx909", ProcessorKind::kExact, 0x31, true, false, true, 64, 0, "gfx9-generic", 1, "gcn5"},
    {"gfx90a", ProcessorKind::kExact, 0x3f, true, true, true, 64, 0, nullptr, 0, "cdna2"},
    {"gfx90c", ProcessorKind::kExact, 0x32, true, false, true, 64, 0, "gfx9-generic", 1, "gcn5"},
    {"gfx942", ProcessorKind::kExact, 0x4c, true, true, true, 64, 0, "gfx9-4-generic", 1, "cdna3"},
    {"gfx950", ProcessorKind::kExact, 0x4f, true, true, true, 64, 0, "gfx9-4-generic", 1, "cdna4"},
    {"gfx1010", ProcessorKind::kExact, 0x33, true, false, true, 32, 64, "gfx10-1-generic", 1, "rdna1"},
    {"gfx1011", ProcessorKind::kExact, 0x34, true, false, true, 32, 64, "gfx10-1-generic", 1, "rdna1"},
    {"gfx1012", ProcessorKind::kExact, 0x35, true, false, true, 32, 64, "gfx10-1-generic", 1, "rdna1"},
    {"gfx1013", ProcessorKind::kExact, 0x42, true, false, true, 32, 64, "gfx10-1-generic", 1, "rdna1"},
    {"gfx1030", ProcessorKind::kExact, 0x36, false, false, false, 32, 64, "gfx10-3-generic", 1, "rdna2"},
    {"gfx1031", ProcessorKind::kExact, 0x37, false, false, false, 32, 64, "gfx10-3-generic", 1, "rdna2"},
    {"gfx1032", ProcessorKind::kExact, 0x38, false, false, false, 32, 64, "gfx10-3-generic", 1, "rdna2"},
    {"gfx1033", ProcessorKind::kExact, 0x39, false, false, false, 32, 64, "gfx10-3-generic", 1, "rdna2"},
    {"gfx1034", ProcessorKind::kExact, 0x3e, false, false, false, 32, 64, "gfx10-3-generic", 1, "rdna2"},
    {"gfx1035", ProcessorKind::kExact, 0x3d, false, false, false, 32, 64, "gfx10-3-generic", 1, "rdna2"},
    {"gfx1036", ProcessorKind::kExact, 0x45, false, false, false, 32, 64, "gfx10-3-generic", 1, "rdna2"},
    {"gfx1100", ProcessorKind::kExact, 0x41, false, false, false, 32, 64, "gfx11-generic", 1, "rdna3"},
    {"gfx1101", ProcessorKind::kExact, 0x46, false, false, false, 32, 64, "gfx11-generic", 1, "rdna3"},
    {"gfx1102", ProcessorKind::kExact, 0x47, false, false, false, 32, 64, "gfx11-generic", 1, "rdna3"},
    {"gfx1103", ProcessorKind::kExact, 0x44, false, false, false, 32, 64, "gfx11-generic", 1, "rdna3"},
    {"gfx1150", ProcessorKind::kExact, 0x43, false, false, false, 32, 64, "gfx11-generic", 1, "rdna3.5"},
    {"gfx1151", ProcessorKind::kExact, 0x4a, false, false, false, 32, 64, "gfx11-generic", 1, "rdna3.5"},
    {"gfx1152", ProcessorKind::kExact, 0x55, false, false, false, 32, 64, "gfx11-generic", 1, "rdna3.5"},
    {"gfx1153", ProcessorKind::kExact, 0x58, false, false, false, 32, 64, "gfx11-generic", 1, "rdna3.5"},
    {"gfx1200", ProcessorKind::kExact, 0x48, false, false, false, 32, 64, "gfx12-generic", 1, "rdna4"},
    {"gfx1201", ProcessorKind::kExact, 0x4e, false, false, false, 32, 64, "gfx12-generic", 1, "rdna4"},
    {"gfx1250", ProcessorKind::kExact, 0x49, true, true, false, 32, 0, nullptr, 0, "cdna5"},
    {"gfx1251", ProcessorKind::kExact, 0x5a, true, true, false, 32, 0, nullptr, 0, "cdna5"},
    {"gfx9-generic", ProcessorKind::kGeneric, 0x51, true, false, true, 64, 0, nullptr, 1, nullptr},
    {"gfx9-4-generic", ProcessorKind::kGeneric, 0x5f, true, true, true, 64, 0, nullptr, 1, nullptr},
    {"gfx10-1-generic", ProcessorKind::kGeneric, 0x52, true, false, true, 32, 64, nullptr, 1, nullptr},
    {"gfx10-3-generic", ProcessorKind::kGeneric, 0x53, false, false, false, 32, 64, nullptr, 1, nullptr},
    {"gfx11-generic", ProcessorKind::kGeneric, 0x54, false, false, false, 32, 64, nullptr, 1, nullptr},
    {"gfx12-generic", ProcessorKind::kGeneric, 0x59, false, false, false, 32, 64, nullptr, 1, nullptr},
    {"gfx600", ProcessorKind::kHistoric, 0x20, false, false, false, 0, 0, nullptr, 0, nullptr},
    {"gfx601", ProcessorKind::kHistoric, 0x21, false, false, false, 0, 0, nullptr, 0, nullptr},
    {"gfx602", ProcessorKind::kHistoric, 0x3a, false, false, false, 0, 0, nullptr, 0, nullptr},
    {"gfx700", ProcessorKind::kHistoric, 0x22, false, false, false, 0, 0, nullptr, 0, nullptr},
    {"gfx701", ProcessorKind::kHistoric, 0x23, false, false, false, 0, 0, nullptr, 0, nullptr},
    {"gfx702", ProcessorKind::kHistoric, 0x24, false, false, false, 0, 0, nullptr, 0, nullptr},
    {"gfx703", ProcessorKind::kHistoric, 0x25, false, false, false, 0, 0, nullptr, 0, nullptr},
    {"gfx704", ProcessorKind::kHistoric, 0x26, false, false, false, 0, 0, nullptr, 0, nullptr},
    {"gfx705", ProcessorKind::kHistoric, 0x3b, false, false, false, 0, 0, nullptr, 0, nullptr},
    {"gfx801", ProcessorKind::kHistoric, 0x28, true, false, true, 0, 0, nullptr, 0, nullptr},
    {"gfx802", ProcessorKind::kHistoric, 0x29, false, false, false, 0, 0, nullptr, 0, nullptr},
    {"gfx803", ProcessorKind::kHistoric, 0x2a, false, false, false, 0, 0, nullptr, 0, nullptr},
    {"gfx805", ProcessorKind::kHistoric, 0x3c, false, false, false, 0, 0, nullptr, 0, nullptr},
    {"gfx810", ProcessorKind::kHistoric, 0x2b, true, false, true, 0, 0, nullptr, 0, nullptr},
    {"gfx940", ProcessorKind::kHistoric, 0x40, true, true, true, 0, 0, nullptr, 0, nullptr},
    {"gfx941", ProcessorKind::kHistoric, 0x4b, true, true, true, 0, 0, nullptr, 0, nullptr},
};

constexpr ArchitectureInfo kArchitectures[] = {
    {"gcn5", "GCN 5 (Vega)"},
    {"cdna1", "CDNA"},
    {"cdna2", "CDNA 2"},
    {"cdna3", "CDNA 3"},
    {"cdna4", "CDNA 4"},
    {"rdna1", "RDNA"},
    {"rdna2", "RDNA 2"},
    {"rdna3", "RDNA 3"},
    {"rdna3.5", "RDNA 3.5"},
    {"rdna4", "RDNA 4"},
    {"cdna5", "CDNA 5"},
};

constexpr ProductInfo kProducts[] = {
    // name, title, processor, compute units, GiB, devices
    {"mi25", "Radeon Instinct MI25", "gfx900", 64, 16, 1},
    {"vegafe", "Radeon Vega Frontier Edition", "gfx900", 64, 16, 1},
    {"rxvega64", "Radeon RX Vega 64", "gfx900", 64, 8, 1},
    {"rxvega56", "Radeon RX Vega 56", "gfx900", 56, 8, 1},
    {"wx9100", "Radeon Pro WX 9100", "gfx900", 64, 16, 1},
    {"ryzen5-2400g", "Ryzen 5 2400G (Radeon Vega 11)", "gfx902", 11, 0, 1},
    {"ryzen3-2200g", "Ryzen 3 2200G (Radeon Vega 8)", "gfx902", 8, 0, 1},
    {"provega20", "Radeon Pro Vega 20", "gfx904", 20, 4, 1},
    {"provega16", "Radeon Pro Vega 16", "gfx904", 16, 4, 1},
    {"mi50", "Radeon Instinct MI50", "gfx906", 60, 16, 1},
    {"mi50-32gb", "Radeon Instinct MI50 32GB", "gfx906", 60, 32, 1},
    {"mi60", "Radeon Instinct MI60", "gfx906", 64, 32, 1},
    {"radeonvii", "Radeon VII", "gfx906", 60, 16, 1},
    {"provii", "Radeon Pro VII", "gfx906", 60, 16, 1},
    {"mi100", "AMD Instinct MI100", "gfx908", 120, 32, 1},
    {"mi210", "AMD Instinct MI210", "gfx90a", 104, 64, 1},
    {"mi250", "AMD Instinct MI250", "gfx90a", 104, 64, 2},
    {"mi250x", "AMD Instinct MI250X", "gfx90a", 110, 64, 2},
    {"ryzen7-4700g", "Ryzen 7 4700G", "gfx90c", 8, 0, 1},
    {"ryzen5-4600g", "Ryzen 5 4600G", "gfx90c", 7, 0, 1},
    {"ryzen3-4300g", "Ryzen 3 4300G", "gfx90c", 6, 0, 1},
    {"mi300a", "AMD Instinct MI300A", "gfx942", 228, 128, 1},
    {"mi300x", "AMD Instinct MI300X", "gfx942", 304, 192, 1},
    {"mi308x", "AMD Instinct MI308X", "gfx942", 80, 192, 1},
    {"mi325x", "AMD Instinct MI325X", "gfx942", 304, 256, 1},
    {"mi350x", "AMD Instinct MI350X", "gfx950", 256, 288, 1},
    {"mi355x", "AMD Instinct MI355X", "gfx950", 256, 288, 1},
    {"rx5700xt", "Radeon RX 5700 XT", "gfx1010", 40, 8, 1},
    {"rx5700", "Radeon RX 5700", "gfx1010", 36, 8, 1},
    {"rx5600xt", "Radeon RX 5600 XT", "gfx1010", 36, 6, 1},
    {"w5700", "Radeon Pro W5700", "gfx1010", 36, 8, 1},
    {"v520", "Radeon Pro V520", "gfx1011", 36, 8, 1},
    {"rx5500xt", "Radeon RX 5500 XT", "gfx1012", 22, 8, 1},
    {"rx5500", "Radeon RX 5500", "gfx1012", 22, 4, 1},
    {"w5500", "Radeon Pro W5500", "gfx1012", 22, 8, 1},
    {"bc250", "AMD BC-250", "gfx1013", 24, 0, 1},
    {"rx6950xt", "Radeon RX 6950 XT", "gfx1030", 80, 16, 1},
    {"rx6900xt", "Radeon RX 6900 XT", "gfx1030", 80, 16, 1},
    {"rx6800xt", "Radeon RX 6800 XT", "gfx1030", 72, 16, 1},
    {"rx6800", "Radeon RX 6800", "gfx1030", 60, 16, 1},
    {"w6800", "Radeon PRO W6800", "gfx1030", 60, 32, 1},
    {"v620", "Radeon PRO V620", "gfx1030", 72, 32, 1},
    {"rx6750xt", "Radeon RX 6750 XT", "gfx1031", 40, 12, 1},
    {"rx6700xt", "Radeon RX 6700 XT", "gfx1031", 40, 12, 1},
    {"rx6700", "Radeon RX 6700", "gfx1031", 36, 10, 1},
    {"rx6650xt", "Radeon RX 6650 XT", "gfx1032", 32, 8, 1},
    {"rx6600xt", "Radeon RX 6600 XT", "gfx1032", 32, 8, 1},
    {"rx6600", "Radeon RX 6600", "gfx1032", 28, 8, 1},
    {"w6600", "Radeon PRO W6600", "gfx1032", 28, 8, 1},
    {"steamdeck", "Steam Deck (Van Gogh)", "gfx1033", 8, 0, 1},
    {"rx6500xt", "Radeon RX 6500 XT", "gfx1034", 16, 4, 1},
    {"rx6400", "Radeon RX 6400", "gfx1034", 12, 4, 1},
    {"w6400", "Radeon PRO W6400", "gfx1034", 12, 4, 1},
    {"radeon680m", "Radeon 680M", "gfx1035", 12, 0, 1},
    {"radeon660m", "Radeon 660M", "gfx1035", 6, 0, 1},
    {"raphael", "Ryzen 7000 desktop graphics (Raphael)", "gfx1036", 2, 0, 1},
    {"rx7900xtx", "Radeon RX 7900 XTX", "gfx1100", 96, 24, 1},
    {"rx7900xt", "Radeon RX 7900 XT", "gfx1100", 84, 20, 1},
    {"rx7900gre", "Radeon RX 7900 GRE", "gfx1100", 80, 16, 1},
    {"w7900", "Radeon PRO W7900", "gfx1100", 96, 48, 1},
    {"w7800", "Radeon PRO W7800", "gfx1100", 70, 32, 1},
    {"w7800-48gb", "Radeon PRO W7800 48GB", "gfx1100", 70, 48, 1},
    {"rx7800xt", "Radeon RX 7800 XT", "gfx1101", 60, 16, 1},
    {"rx7700xt", "Radeon RX 7700 XT", "gfx1101", 54, 12, 1},
    {"w7700", "Radeon PRO W7700", "gfx1101", 48, 16, 1},
    {"v710", "Radeon PRO V710", "gfx1101", 54, 28, 1},
    {"rx7600xt", "Radeon RX 7600 XT", "gfx1102", 32, 16, 1},
    {"rx7600", "Radeon RX 7600", "gfx1102", 32, 8, 1},
    {"rx7700s", "Radeon RX 7700S", "gfx1102", 32, 8, 1},
    {"w7600", "Radeon PRO W7600", "gfx1102", 32, 8, 1},
    {"w7500", "Radeon PRO W7500", "gfx1102", 28, 8, 1},
    {"radeon780m", "Radeon 780M", "gfx1103", 12, 0, 1},
    {"radeon760m", "Radeon 760M", "gfx1103", 8, 0, 1},
    {"radeon740m", "Radeon 740M", "gfx1103", 4, 0, 1},
    {"radeon890m", "Radeon 890M", "gfx1150", 16, 0, 1},
    {"radeon880m", "Radeon 880M", "gfx1150", 12, 0, 1},
    {"radeon8060s", "Radeon 8060S", "gfx1151", 40, 0, 1},
    {"radeon8050s", "Radeon 8050S", "gfx1151", 32, 0, 1},
    {"radeon860m", "Radeon 860M", "gfx1152", 8, 0, 1},
    {"radeon840m", "Radeon 840M", "gfx1152", 4, 0, 1},
    {"radeon820m", "Radeon 820M", "gfx1153", 0, 0, 1},
    {"rx9060xt", "Radeon RX 9060 XT", "gfx1200", 32, 16, 1},
    {"rx9060", "Radeon RX 9060", "gfx1200", 28, 8, 1},
    {"rx9070xt", "Radeon RX 9070 XT", "gfx1201", 64, 16, 1},
    {"rx9070gre", "Radeon RX 9070 GRE", "gfx1201", 48, 0, 1},
    {"rx9070", "Radeon RX 9070", "gfx1201", 56, 16, 1},
    {"r9700", "Radeon AI PRO R9700", "gfx1201", 64, 32, 1},
};

constexpr ProductAlias kAliases[] = {
    {"vega64", "rxvega64"},
    {"vega56", "rxvega56"},
    {"ryzen7-4700ge", "ryzen7-4700g"},
    {"ryzen5-4600ge", "ryzen5-4600g"},
    {"ryzen3-4300ge", "ryzen3-4300g"},
    {"w7900-dual-slot", "w7900"},
    {"strix-halo", "radeon8060s"},
    {"r9070", "r9700"},
};

constexpr const char* kFamily0[] = {"gfx908", "gfx90a", "gfx942", "gfx950", "gfx1250", "gfx1251"};
constexpr const char* kFamily1[] = {"gfx900", "gfx904", "gfx906", "gfx1010", "gfx1011", "gfx1012", "gfx1030", "gfx1031", "gfx1032", "gfx1034", "gfx1100", "gfx1101", "gfx1102", "gfx1200", "gfx1201"};
constexpr const char* kFamily2[] = {"gfx1010", "gfx1011", "gfx1012", "gfx1013"};
constexpr const char* kFamily3[] = {"gfx1010", "gfx1011", "gfx1012"};
constexpr const char* kFamily4[] = {"gfx1013"};
constexpr const char* kFamily5[] = {"gfx1030", "gfx1031", "gfx1032", "gfx1033", "gfx1034", "gfx1035", "gfx1036"};
constexpr const char* kFamily6[] = {"gfx1030", "gfx1031", "gfx1032", "gfx1034"};
constexpr const char* kFamily7[] = {"gfx1033", "gfx1035", "gfx1036"};
constexpr const char* kFamily8[] = {"gfx1100", "gfx1101", "gfx1102", "gfx1103"};
constexpr const char* kFamily9[] = {"gfx1100", "gfx1101", "gfx1102"};
constexpr const char* kFamily10[] = {"gfx1103"};
constexpr const char* kFamily11[] = {"gfx1150", "gfx1151", "gfx1152", "gfx1153"};
constexpr const char* kFamily12[] = {"gfx1150", "gfx1151", "gfx1152", "gfx1153"};
constexpr const char* kFamily13[] = {"gfx1200", "gfx1201"};
constexpr const char* kFamily14[] = {"gfx1200", "gfx1201"};
constexpr const char* kFamily15[] = {"gfx1250", "gfx1251"};
constexpr const char* kFamily16[] = {"gfx1250", "gfx1251"};
constexpr const char* kFamily17[] = {"gfx900", "gfx902", "gfx904", "gfx906", "gfx908", "gfx909", "gfx90a", "gfx90c"};
constexpr const char* kFamily18[] = {"gfx906", "gfx908", "gfx90a"};
constexpr const char* kFamily19[] = {"gfx900", "gfx904", "gfx906", "gfx908", "gfx90a"};
constexpr const char* kFamily20[] = {"gfx902", "gfx909", "gfx90c"};
constexpr const char* kFamily21[] = {"gfx942"};
constexpr const char* kFamily22[] = {"gfx942"};
constexpr const char* kFamily23[] = {"gfx950"};
constexpr const char* kFamily24[] = {"gfx950"};
constexpr const char* kFamily25[] = {"gfx902", "gfx909", "gfx90c", "gfx1013", "gfx1033", "gfx1035", "gfx1036", "gfx1103", "gfx1150", "gfx1151", "gfx1152", "gfx1153"};
constexpr FamilyInfo kFamilies[] = {
    {"dcgpu-all", kFamily0},
    {"dgpu-all", kFamily1},
    {"gfx101X-all", kFamily2},
    {"gfx101X-dgpu", kFamily3},
    {"gfx101X-igpu", kFamily4},
    {"gfx103X-all", kFamily5},
    {"gfx103X-dgpu", kFamily6},
    {"gfx103X-igpu", kFamily7},
    {"gfx110X-all", kFamily8},
    {"gfx110X-dgpu", kFamily9},
    {"gfx110X-igpu", kFamily10},
    {"gfx115X-all", kFamily11},
    {"gfx115X-igpu", kFamily12},
    {"gfx120X-all", kFamily13},
    {"gfx120X-dgpu", kFamily14},
    {"gfx125X-all", kFamily15},
    {"gfx125X-dcgpu", kFamily16},
    {"gfx90X-all", kFamily17},
    {"gfx90X-dcgpu", kFamily18},
    {"gfx90X-dgpu", kFamily19},
    {"gfx90X-igpu", kFamily20},
    {"gfx94X-all", kFamily21},
    {"gfx94X-dcgpu", kFamily22},
    {"gfx950-all", kFamily23},
    {"gfx950-dcgpu", kFamily24},
    {"igpu-all", kFamily25},
};

}  // namespace

std::span<const ProcessorInfo> all_processors() noexcept { return kProcessors; }
std::span<const ArchitectureInfo> all_architectures() noexcept { return kArchitectures; }
std::span<const ProductInfo> all_products() noexcept { return kProducts; }
std::span<const ProductAlias> all_product_aliases() noexcept { return kAliases; }
std::span<const FamilyInfo> all_families() noexcept { return kFamilies; }

}  // namespace halyard
// clang-format on
