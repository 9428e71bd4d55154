// The thunk's functions that make no sense on a virtual GPU, or that it does not have: shared
// virtual memory attributes, looking into other processes, graphics interoperation, debugging,
// performance counters. They say so.
#include "vgpu/thunk/api.h"

#define HALYARD_THUNK_UNSUPPORTED(name, ...)          \
  HALYARD_THUNK_API HSAKMT_STATUS name(__VA_ARGS__) { \
    HALYARD_THUNK_OPEN(driver);                       \
    static_cast<void>(driver);                        \
    return HSAKMT_STATUS_NOT_SUPPORTED;               \
  }                                                   \
  static_assert(true, "")

// Shared virtual memory: without it, HIP's managed memory is host memory and prefetch is refused.
HALYARD_THUNK_UNSUPPORTED(hsaKmtSVMSetAttr, void*, HSAuint64, unsigned int, HSA_SVM_ATTRIBUTE*);
HALYARD_THUNK_UNSUPPORTED(hsaKmtSVMGetAttr, void*, HSAuint64, unsigned int, HSA_SVM_ATTRIBUTE*);

// Memory that other processes have not exported.
HALYARD_THUNK_UNSUPPORTED(hsaKmtProcessVMRead, HSAuint32, HsaMemoryRange*, HSAuint64,
                          HsaMemoryRange*, HSAuint64, HSAuint64*);
HALYARD_THUNK_UNSUPPORTED(hsaKmtProcessVMWrite, HSAuint32, HsaMemoryRange*, HSAuint64,
                          HsaMemoryRange*, HSAuint64, HSAuint64*);

// Graphics.
HALYARD_THUNK_UNSUPPORTED(hsaKmtRegisterGraphicsHandleToNodes, HSAuint64, HsaGraphicsResourceInfo*,
                          HSAuint64, HSAuint32*);
HALYARD_THUNK_UNSUPPORTED(hsaKmtMapGraphicHandle, HSAuint32, HSAuint64, HSAuint64, HSAuint64,
                          HSAuint64, HSAuint64*);
HALYARD_THUNK_UNSUPPORTED(hsaKmtUnmapGraphicHandle, HSAuint32, HSAuint64, HSAuint64);

// Debugging.
HALYARD_THUNK_UNSUPPORTED(hsaKmtDbgRegister, HSAuint32);
HALYARD_THUNK_UNSUPPORTED(hsaKmtDbgUnregister, HSAuint32);
HALYARD_THUNK_UNSUPPORTED(hsaKmtDbgWavefrontControl, HSAuint32, HSA_DBG_WAVEOP, HSA_DBG_WAVEMODE,
                          HSAuint32, HsaDbgWaveMessage*);
HALYARD_THUNK_UNSUPPORTED(hsaKmtDbgAddressWatch, HSAuint32, HSAuint32, HSA_DBG_WATCH_MODE[],
                          void*[], HSAuint64[], HsaEvent*[]);
HALYARD_THUNK_UNSUPPORTED(hsaKmtGetKernelDebugTrapVersionInfo, HSAuint32*, HSAuint32*);
HALYARD_THUNK_UNSUPPORTED(hsaKmtGetQueueInfo, HSA_QUEUEID, HsaQueueInfo*);

// Performance counters.
HALYARD_THUNK_UNSUPPORTED(hsaKmtPmcGetCounterProperties, HSAuint32, HsaCounterProperties**);
HALYARD_THUNK_UNSUPPORTED(hsaKmtPmcRegisterTrace, HSAuint32, HSAuint32, HsaCounter*,
                          HsaPmcTraceRoot*);
HALYARD_THUNK_UNSUPPORTED(hsaKmtPmcUnregisterTrace, HSAuint32, HSATraceId);
HALYARD_THUNK_UNSUPPORTED(hsaKmtPmcAcquireTraceAccess, HSAuint32, HSATraceId);
HALYARD_THUNK_UNSUPPORTED(hsaKmtPmcReleaseTraceAccess, HSAuint32, HSATraceId);
HALYARD_THUNK_UNSUPPORTED(hsaKmtPmcStartTrace, HSATraceId, void*, HSAuint64);
HALYARD_THUNK_UNSUPPORTED(hsaKmtPmcQueryTrace, HSATraceId);
HALYARD_THUNK_UNSUPPORTED(hsaKmtPmcStopTrace, HSATraceId);
HALYARD_THUNK_UNSUPPORTED(hsaKmtSPMAcquire, HSAuint32);
HALYARD_THUNK_UNSUPPORTED(hsaKmtSPMRelease, HSAuint32);
HALYARD_THUNK_UNSUPPORTED(hsaKmtSPMSetDestBuffer, HSAuint32, HSAuint32, HSAuint32*, HSAuint32*,
                          void*, bool*);
