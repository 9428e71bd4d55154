# Made by tools/targets.py from config/targets.yaml. Change that, not this.
# cmake/HalyardTargetNames.cmake expands names with these lists.

# Every exact processor that LLVM 22 compiles for, and every generic target.
set(HALYARD_PROCESSORS
  gfx900
  gfx902
  gfx904
  gfx906
  gfx908
  gfx909
  gfx90a
  gfx90c
  gfx942
  gfx950
  gfx1010
  gfx1011
  gfx1012
  gfx1013
  gfx1030
  gfx1031
  gfx1032
  gfx1033
  gfx1034
  gfx1035
  gfx1036
  gfx1100
  gfx1101
  gfx1102
  gfx1103
  gfx1150
  gfx1151
  gfx1152
  gfx1153
  gfx1200
  gfx1201
  gfx1250
  gfx1251
)
set(HALYARD_GENERICS
  gfx9-generic
  gfx9-4-generic
  gfx10-1-generic
  gfx10-3-generic
  gfx11-generic
  gfx12-generic
)

# The generic target that covers a processor; not set where there is none.
set(HALYARD_GENERIC_OF_gfx900 gfx9-generic)
set(HALYARD_GENERIC_OF_gfx902 gfx9-generic)
set(HALYARD_GENERIC_OF_gfx904 gfx9-generic)
set(HALYARD_GENERIC_OF_gfx906 gfx9-generic)
set(HALYARD_GENERIC_OF_gfx909 gfx9-generic)
set(HALYARD_GENERIC_OF_gfx90c gfx9-generic)
set(HALYARD_GENERIC_OF_gfx942 gfx9-4-generic)
set(HALYARD_GENERIC_OF_gfx950 gfx9-4-generic)
set(HALYARD_GENERIC_OF_gfx1010 gfx10-1-generic)
set(HALYARD_GENERIC_OF_gfx1011 gfx10-1-generic)
set(HALYARD_GENERIC_OF_gfx1012 gfx10-1-generic)
set(HALYARD_GENERIC_OF_gfx1013 gfx10-1-generic)
set(HALYARD_GENERIC_OF_gfx1030 gfx10-3-generic)
set(HALYARD_GENERIC_OF_gfx1031 gfx10-3-generic)
set(HALYARD_GENERIC_OF_gfx1032 gfx10-3-generic)
set(HALYARD_GENERIC_OF_gfx1033 gfx10-3-generic)
set(HALYARD_GENERIC_OF_gfx1034 gfx10-3-generic)
set(HALYARD_GENERIC_OF_gfx1035 gfx10-3-generic)
set(HALYARD_GENERIC_OF_gfx1036 gfx10-3-generic)
set(HALYARD_GENERIC_OF_gfx1100 gfx11-generic)
set(HALYARD_GENERIC_OF_gfx1101 gfx11-generic)
set(HALYARD_GENERIC_OF_gfx1102 gfx11-generic)
set(HALYARD_GENERIC_OF_gfx1103 gfx11-generic)
set(HALYARD_GENERIC_OF_gfx1150 gfx11-generic)
set(HALYARD_GENERIC_OF_gfx1151 gfx11-generic)
set(HALYARD_GENERIC_OF_gfx1152 gfx11-generic)
set(HALYARD_GENERIC_OF_gfx1153 gfx11-generic)
set(HALYARD_GENERIC_OF_gfx1200 gfx12-generic)
set(HALYARD_GENERIC_OF_gfx1201 gfx12-generic)

# The features that a target ID may choose.
set(HALYARD_FEATURES_OF_gfx900 xnack)
set(HALYARD_FEATURES_OF_gfx902 xnack)
set(HALYARD_FEATURES_OF_gfx904 xnack)
set(HALYARD_FEATURES_OF_gfx906 sramecc xnack)
set(HALYARD_FEATURES_OF_gfx908 sramecc xnack)
set(HALYARD_FEATURES_OF_gfx909 xnack)
set(HALYARD_FEATURES_OF_gfx90a sramecc xnack)
set(HALYARD_FEATURES_OF_gfx90c xnack)
set(HALYARD_FEATURES_OF_gfx942 sramecc xnack)
set(HALYARD_FEATURES_OF_gfx950 sramecc xnack)
set(HALYARD_FEATURES_OF_gfx1010 xnack)
set(HALYARD_FEATURES_OF_gfx1011 xnack)
set(HALYARD_FEATURES_OF_gfx1012 xnack)
set(HALYARD_FEATURES_OF_gfx1013 xnack)
set(HALYARD_FEATURES_OF_gfx9-generic xnack)
set(HALYARD_FEATURES_OF_gfx9-4-generic sramecc xnack)
set(HALYARD_FEATURES_OF_gfx10-1-generic xnack)

# The processors of an architecture, by code name.
set(HALYARD_ARCHITECTURES
  gcn5
  cdna1
  cdna2
  cdna3
  cdna4
  rdna1
  rdna2
  rdna3
  rdna3.5
  rdna4
  cdna5
)
set(HALYARD_ARCHITECTURE_gcn5 gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c)
set(HALYARD_ARCHITECTURE_cdna1 gfx908)
set(HALYARD_ARCHITECTURE_cdna2 gfx90a)
set(HALYARD_ARCHITECTURE_cdna3 gfx942)
set(HALYARD_ARCHITECTURE_cdna4 gfx950)
set(HALYARD_ARCHITECTURE_rdna1 gfx1010 gfx1011 gfx1012 gfx1013)
set(HALYARD_ARCHITECTURE_rdna2 gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036)
set(HALYARD_ARCHITECTURE_rdna3 gfx1100 gfx1101 gfx1102 gfx1103)
set(HALYARD_ARCHITECTURE_rdna3.5 gfx1150 gfx1151 gfx1152 gfx1153)
set(HALYARD_ARCHITECTURE_rdna4 gfx1200 gfx1201)
set(HALYARD_ARCHITECTURE_cdna5 gfx1250 gfx1251)

# The processors of a family.
set(HALYARD_FAMILIES
  dcgpu-all
  dgpu-all
  gfx101X-all
  gfx101X-dgpu
  gfx101X-igpu
  gfx103X-all
  gfx103X-dgpu
  gfx103X-igpu
  gfx110X-all
  gfx110X-dgpu
  gfx110X-igpu
  gfx115X-all
  gfx115X-igpu
  gfx120X-all
  gfx120X-dgpu
  gfx125X-all
  gfx125X-dcgpu
  gfx90X-all
  gfx90X-dcgpu
  gfx90X-dgpu
  gfx90X-igpu
  gfx94X-all
  gfx94X-dcgpu
  gfx950-all
  gfx950-dcgpu
  igpu-all
)
set(HALYARD_FAMILY_dcgpu-all gfx908 gfx90a gfx942 gfx950 gfx1250 gfx1251)
set(HALYARD_FAMILY_dgpu-all gfx900 gfx904 gfx906 gfx1010 gfx1011 gfx1012 gfx1030 gfx1031 gfx1032 gfx1034 gfx1100 gfx1101 gfx1102 gfx1200 gfx1201)
set(HALYARD_FAMILY_gfx101X-all gfx1010 gfx1011 gfx1012 gfx1013)
set(HALYARD_FAMILY_gfx101X-dgpu gfx1010 gfx1011 gfx1012)
set(HALYARD_FAMILY_gfx101X-igpu gfx1013)
set(HALYARD_FAMILY_gfx103X-all gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036)
set(HALYARD_FAMILY_gfx103X-dgpu gfx1030 gfx1031 gfx1032 gfx1034)
set(HALYARD_FAMILY_gfx103X-igpu gfx1033 gfx1035 gfx1036)
set(HALYARD_FAMILY_gfx110X-all gfx1100 gfx1101 gfx1102 gfx1103)
set(HALYARD_FAMILY_gfx110X-dgpu gfx1100 gfx1101 gfx1102)
set(HALYARD_FAMILY_gfx110X-igpu gfx1103)
set(HALYARD_FAMILY_gfx115X-all gfx1150 gfx1151 gfx1152 gfx1153)
set(HALYARD_FAMILY_gfx115X-igpu gfx1150 gfx1151 gfx1152 gfx1153)
set(HALYARD_FAMILY_gfx120X-all gfx1200 gfx1201)
set(HALYARD_FAMILY_gfx120X-dgpu gfx1200 gfx1201)
set(HALYARD_FAMILY_gfx125X-all gfx1250 gfx1251)
set(HALYARD_FAMILY_gfx125X-dcgpu gfx1250 gfx1251)
set(HALYARD_FAMILY_gfx90X-all gfx900 gfx902 gfx904 gfx906 gfx908 gfx909 gfx90a gfx90c)
set(HALYARD_FAMILY_gfx90X-dcgpu gfx906 gfx908 gfx90a)
set(HALYARD_FAMILY_gfx90X-dgpu gfx900 gfx904 gfx906 gfx908 gfx90a)
set(HALYARD_FAMILY_gfx90X-igpu gfx902 gfx909 gfx90c)
set(HALYARD_FAMILY_gfx94X-all gfx942)
set(HALYARD_FAMILY_gfx94X-dcgpu gfx942)
set(HALYARD_FAMILY_gfx950-all gfx950)
set(HALYARD_FAMILY_gfx950-dcgpu gfx950)
set(HALYARD_FAMILY_igpu-all gfx902 gfx909 gfx90c gfx1013 gfx1033 gfx1035 gfx1036 gfx1103 gfx1150 gfx1151 gfx1152 gfx1153)

# Products: the processor of each name.
set(HALYARD_PRODUCTS
  mi25
  vegafe
  rxvega64
  vega64
  rxvega56
  vega56
  wx9100
  ryzen5-2400g
  ryzen3-2200g
  provega20
  provega16
  mi50
  mi50-32gb
  mi60
  radeonvii
  provii
  mi100
  mi210
  mi250
  mi250x
  ryzen7-4700g
  ryzen7-4700ge
  ryzen5-4600g
  ryzen5-4600ge
  ryzen3-4300g
  ryzen3-4300ge
  mi300a
  mi300x
  mi308x
  mi325x
  mi350x
  mi355x
  rx5700xt
  rx5700
  rx5600xt
  w5700
  v520
  rx5500xt
  rx5500
  w5500
  bc250
  rx6950xt
  rx6900xt
  rx6800xt
  rx6800
  w6800
  v620
  rx6750xt
  rx6700xt
  rx6700
  rx6650xt
  rx6600xt
  rx6600
  w6600
  steamdeck
  rx6500xt
  rx6400
  w6400
  radeon680m
  radeon660m
  raphael
  rx7900xtx
  rx7900xt
  rx7900gre
  w7900
  w7900-dual-slot
  w7800
  w7800-48gb
  rx7800xt
  rx7700xt
  w7700
  v710
  rx7600xt
  rx7600
  rx7700s
  w7600
  w7500
  radeon780m
  radeon760m
  radeon740m
  radeon890m
  radeon880m
  radeon8060s
  strix-halo
  radeon8050s
  radeon860m
  radeon840m
  radeon820m
  rx9060xt
  rx9060
  rx9070xt
  rx9070gre
  rx9070
  r9700
  r9070
)
set(HALYARD_PRODUCT_mi25 gfx900)
set(HALYARD_PRODUCT_vegafe gfx900)
set(HALYARD_PRODUCT_rxvega64 gfx900)
set(HALYARD_PRODUCT_vega64 gfx900)
set(HALYARD_PRODUCT_rxvega56 gfx900)
set(HALYARD_PRODUCT_vega56 gfx900)
set(HALYARD_PRODUCT_wx9100 gfx900)
set(HALYARD_PRODUCT_ryzen5-2400g gfx902)
set(HALYARD_PRODUCT_ryzen3-2200g gfx902)
set(HALYARD_PRODUCT_provega20 gfx904)
set(HALYARD_PRODUCT_provega16 gfx904)
set(HALYARD_PRODUCT_mi50 gfx906)
set(HALYARD_PRODUCT_mi50-32gb gfx906)
set(HALYARD_PRODUCT_mi60 gfx906)
set(HALYARD_PRODUCT_radeonvii gfx906)
set(HALYARD_PRODUCT_provii gfx906)
set(HALYARD_PRODUCT_mi100 gfx908)
set(HALYARD_PRODUCT_mi210 gfx90a)
set(HALYARD_PRODUCT_mi250 gfx90a)
set(HALYARD_PRODUCT_mi250x gfx90a)
set(HALYARD_PRODUCT_ryzen7-4700g gfx90c)
set(HALYARD_PRODUCT_ryzen7-4700ge gfx90c)
set(HALYARD_PRODUCT_ryzen5-4600g gfx90c)
set(HALYARD_PRODUCT_ryzen5-4600ge gfx90c)
set(HALYARD_PRODUCT_ryzen3-4300g gfx90c)
set(HALYARD_PRODUCT_ryzen3-4300ge gfx90c)
set(HALYARD_PRODUCT_mi300a gfx942)
set(HALYARD_PRODUCT_mi300x gfx942)
set(HALYARD_PRODUCT_mi308x gfx942)
set(HALYARD_PRODUCT_mi325x gfx942)
set(HALYARD_PRODUCT_mi350x gfx950)
set(HALYARD_PRODUCT_mi355x gfx950)
set(HALYARD_PRODUCT_rx5700xt gfx1010)
set(HALYARD_PRODUCT_rx5700 gfx1010)
set(HALYARD_PRODUCT_rx5600xt gfx1010)
set(HALYARD_PRODUCT_w5700 gfx1010)
set(HALYARD_PRODUCT_v520 gfx1011)
set(HALYARD_PRODUCT_rx5500xt gfx1012)
set(HALYARD_PRODUCT_rx5500 gfx1012)
set(HALYARD_PRODUCT_w5500 gfx1012)
set(HALYARD_PRODUCT_bc250 gfx1013)
set(HALYARD_PRODUCT_rx6950xt gfx1030)
set(HALYARD_PRODUCT_rx6900xt gfx1030)
set(HALYARD_PRODUCT_rx6800xt gfx1030)
set(HALYARD_PRODUCT_rx6800 gfx1030)
set(HALYARD_PRODUCT_w6800 gfx1030)
set(HALYARD_PRODUCT_v620 gfx1030)
set(HALYARD_PRODUCT_rx6750xt gfx1031)
set(HALYARD_PRODUCT_rx6700xt gfx1031)
set(HALYARD_PRODUCT_rx6700 gfx1031)
set(HALYARD_PRODUCT_rx6650xt gfx1032)
set(HALYARD_PRODUCT_rx6600xt gfx1032)
set(HALYARD_PRODUCT_rx6600 gfx1032)
set(HALYARD_PRODUCT_w6600 gfx1032)
set(HALYARD_PRODUCT_steamdeck gfx1033)
set(HALYARD_PRODUCT_rx6500xt gfx1034)
set(HALYARD_PRODUCT_rx6400 gfx1034)
set(HALYARD_PRODUCT_w6400 gfx1034)
set(HALYARD_PRODUCT_radeon680m gfx1035)
set(HALYARD_PRODUCT_radeon660m gfx1035)
set(HALYARD_PRODUCT_raphael gfx1036)
set(HALYARD_PRODUCT_rx7900xtx gfx1100)
set(HALYARD_PRODUCT_rx7900xt gfx1100)
set(HALYARD_PRODUCT_rx7900gre gfx1100)
set(HALYARD_PRODUCT_w7900 gfx1100)
set(HALYARD_PRODUCT_w7900-dual-slot gfx1100)
set(HALYARD_PRODUCT_w7800 gfx1100)
set(HALYARD_PRODUCT_w7800-48gb gfx1100)
set(HALYARD_PRODUCT_rx7800xt gfx1101)
set(HALYARD_PRODUCT_rx7700xt gfx1101)
set(HALYARD_PRODUCT_w7700 gfx1101)
set(HALYARD_PRODUCT_v710 gfx1101)
set(HALYARD_PRODUCT_rx7600xt gfx1102)
set(HALYARD_PRODUCT_rx7600 gfx1102)
set(HALYARD_PRODUCT_rx7700s gfx1102)
set(HALYARD_PRODUCT_w7600 gfx1102)
set(HALYARD_PRODUCT_w7500 gfx1102)
set(HALYARD_PRODUCT_radeon780m gfx1103)
set(HALYARD_PRODUCT_radeon760m gfx1103)
set(HALYARD_PRODUCT_radeon740m gfx1103)
set(HALYARD_PRODUCT_radeon890m gfx1150)
set(HALYARD_PRODUCT_radeon880m gfx1150)
set(HALYARD_PRODUCT_radeon8060s gfx1151)
set(HALYARD_PRODUCT_strix-halo gfx1151)
set(HALYARD_PRODUCT_radeon8050s gfx1151)
set(HALYARD_PRODUCT_radeon860m gfx1152)
set(HALYARD_PRODUCT_radeon840m gfx1152)
set(HALYARD_PRODUCT_radeon820m gfx1153)
set(HALYARD_PRODUCT_rx9060xt gfx1200)
set(HALYARD_PRODUCT_rx9060 gfx1200)
set(HALYARD_PRODUCT_rx9070xt gfx1201)
set(HALYARD_PRODUCT_rx9070gre gfx1201)
set(HALYARD_PRODUCT_rx9070 gfx1201)
set(HALYARD_PRODUCT_r9700 gfx1201)
set(HALYARD_PRODUCT_r9070 gfx1201)
