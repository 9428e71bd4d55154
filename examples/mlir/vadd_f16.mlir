// Adds two vectors of f16, each work-item one element. @reference says what the sums are.
func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}

func.func @main() {
  %c1 = arith.constant 1 : index
  %groups = arith.constant 3 : index
  %items = arith.constant 64 : index
  %a = memref.alloc() : memref<192xf16>
  %b = memref.alloc() : memref<192xf16>
  %sum = memref.alloc() : memref<192xf16>
  call @fill(%a, %b) : (memref<192xf16>, memref<192xf16>) -> ()
  %ua = memref.cast %a : memref<192xf16> to memref<*xf16>
  %ub = memref.cast %b : memref<192xf16> to memref<*xf16>
  %usum = memref.cast %sum : memref<192xf16> to memref<*xf16>
  gpu.host_register %ua : memref<*xf16>
  gpu.host_register %ub : memref<*xf16>
  gpu.host_register %usum : memref<*xf16>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %groups, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %items, %sy = %c1, %sz = %c1) {
    %first = arith.muli %bx, %items : index
    %i = arith.addi %first, %tx : index
    %x = memref.load %a[%i] : memref<192xf16>
    %y = memref.load %b[%i] : memref<192xf16>
    %s = arith.addf %x, %y : f16
    memref.store %s, %sum[%i] : memref<192xf16>
    gpu.terminator
  }
  gpu.host_unregister %ua : memref<*xf16>
  gpu.host_unregister %ub : memref<*xf16>
  gpu.host_unregister %usum : memref<*xf16>
  call @print(%sum) : (memref<192xf16>) -> ()
  return
}

// The same on the CPU.
func.func @reference() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 192 : index
  %a = memref.alloc() : memref<192xf16>
  %b = memref.alloc() : memref<192xf16>
  %sum = memref.alloc() : memref<192xf16>
  call @fill(%a, %b) : (memref<192xf16>, memref<192xf16>) -> ()
  scf.for %i = %c0 to %n step %c1 {
    %x = memref.load %a[%i] : memref<192xf16>
    %y = memref.load %b[%i] : memref<192xf16>
    %s = arith.addf %x, %y : f16
    memref.store %s, %sum[%i] : memref<192xf16>
  }
  call @print(%sum) : (memref<192xf16>) -> ()
  return
}

// a[i] = i / 8, b[i] = 30 - i / 4, which f16 holds exactly.
func.func @fill(%a: memref<192xf16>, %b: memref<192xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 192 : index
  %eighth = arith.constant 0.125 : f32
  %quarter = arith.constant 0.25 : f32
  %thirty = arith.constant 30.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %integer = arith.index_cast %i : index to i32
    %f = arith.sitofp %integer : i32 to f32
    %x = arith.mulf %f, %eighth : f32
    %q = arith.mulf %f, %quarter : f32
    %y = arith.subf %thirty, %q : f32
    %xh = arith.truncf %x : f32 to f16
    %yh = arith.truncf %y : f32 to f16
    memref.store %xh, %a[%i] : memref<192xf16>
    memref.store %yh, %b[%i] : memref<192xf16>
  }
  return
}

func.func @print(%sum: memref<192xf16>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = arith.constant 192 : index
  %wide = memref.alloc() : memref<192xf32>
  scf.for %i = %c0 to %n step %c1 {
    %h = memref.load %sum[%i] : memref<192xf16>
    %f = arith.extf %h : f16 to f32
    memref.store %f, %wide[%i] : memref<192xf32>
  }
  %u = memref.cast %wide : memref<192xf32> to memref<*xf32>
  call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  return
}
