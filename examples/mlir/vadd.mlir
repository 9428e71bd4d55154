// Adds two vectors. The kernel is written out (gpu.launch); the host's memory is used in place.
func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}

func.func @main() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %groups = arith.constant 4 : index
  %items = arith.constant 64 : index
  %n = arith.constant 256 : index
  %a = memref.alloc() : memref<256xf32>
  %b = memref.alloc() : memref<256xf32>
  %sum = memref.alloc() : memref<256xf32>
  %ua = memref.cast %a : memref<256xf32> to memref<*xf32>
  %ub = memref.cast %b : memref<256xf32> to memref<*xf32>
  %usum = memref.cast %sum : memref<256xf32> to memref<*xf32>

  // a[i] = i, b[i] = 1000 - 3 i: the sum is 1000 - 2 i.
  %thousand = arith.constant 1000.0 : f32
  %three = arith.constant 3.0 : f32
  scf.for %i = %c0 to %n step %c1 {
    %integer = arith.index_cast %i : index to i32
    %x = arith.sitofp %integer : i32 to f32
    %triple = arith.mulf %x, %three : f32
    %y = arith.subf %thousand, %triple : f32
    memref.store %x, %a[%i] : memref<256xf32>
    memref.store %y, %b[%i] : memref<256xf32>
  }

  gpu.host_register %ua : memref<*xf32>
  gpu.host_register %ub : memref<*xf32>
  gpu.host_register %usum : memref<*xf32>
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %groups, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %items, %sy = %c1, %sz = %c1) {
    %first = arith.muli %bx, %items : index
    %i = arith.addi %first, %tx : index
    %x = memref.load %a[%i] : memref<256xf32>
    %y = memref.load %b[%i] : memref<256xf32>
    %s = arith.addf %x, %y : f32
    memref.store %s, %sum[%i] : memref<256xf32>
    gpu.terminator
  }
  gpu.host_unregister %ua : memref<*xf32>
  gpu.host_unregister %ub : memref<*xf32>
  gpu.host_unregister %usum : memref<*xf32>

  // EXPECT: [1000,  998,  996,
  // EXPECT: 494,  492,  490]
  call @printMemrefF32(%usum) : (memref<*xf32>) -> ()
  memref.dealloc %a : memref<256xf32>
  memref.dealloc %b : memref<256xf32>
  memref.dealloc %sum : memref<256xf32>
  return
}
