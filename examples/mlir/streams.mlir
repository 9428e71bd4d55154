// Two chains of async tokens, each on a stream of its own; a third waits for both, by events. Memory
// is filled (gpu.memset) and used on the device only.
func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}

func.func @main() {
  %c1 = arith.constant 1 : index
  %n = arith.constant 16 : index
  %one = arith.constant 1.0 : f32
  %two = arith.constant 2.0 : f32

  // a[i] = 2 i
  %s0 = gpu.wait async
  %a, %s1 = gpu.alloc async [%s0] () : memref<16xf32>
  %s2 = gpu.memset async [%s1] %a, %two : memref<16xf32>, f32
  %s3 = gpu.launch async [%s2] blocks(%bx, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %integer = arith.index_cast %bx : index to i32
    %i = arith.sitofp %integer : i32 to f32
    %x = memref.load %a[%bx] : memref<16xf32>
    %y = arith.mulf %x, %i : f32
    memref.store %y, %a[%bx] : memref<16xf32>
    gpu.terminator
  }

  // b[i] = i * i
  %t0 = gpu.wait async
  %b, %t1 = gpu.alloc async [%t0] () : memref<16xf32>
  %t2 = gpu.memset async [%t1] %b, %one : memref<16xf32>, f32
  %t3 = gpu.launch async [%t2] blocks(%bx, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %integer = arith.index_cast %bx : index to i32
    %i = arith.sitofp %integer : i32 to f32
    %x = memref.load %b[%bx] : memref<16xf32>
    %y = arith.mulf %x, %i : f32
    %z = arith.mulf %y, %i : f32
    memref.store %z, %b[%bx] : memref<16xf32>
    gpu.terminator
  }

  // c = a + b
  %c = memref.alloc() : memref<16xf32>
  %u0 = gpu.wait async [%s3, %t3]
  %u1 = gpu.launch async [%u0] blocks(%bx, %by, %bz) in (%gx = %n, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %x = memref.load %a[%bx] : memref<16xf32>
    %y = memref.load %b[%bx] : memref<16xf32>
    %z = arith.addf %x, %y : f32
    memref.store %z, %a[%bx] : memref<16xf32>
    gpu.terminator
  }
  %u2 = gpu.memcpy async [%u1] %c, %a : memref<16xf32>, memref<16xf32>
  %u3 = gpu.dealloc async [%u2] %a : memref<16xf32>
  %u4 = gpu.dealloc async [%u3] %b : memref<16xf32>
  gpu.wait [%u4]
  %u = memref.cast %c : memref<16xf32> to memref<*xf32>
  // EXPECT: [0,  3,  8,  15,  24,  35,  48,  63,  80,  99,  120,  143,  168,  195,  224,  255]
  call @printMemrefF32(%u) : (memref<*xf32>) -> ()
  return
}
