// y = a * x + y in MLIR's gpu dialect, with pointers for arguments as other languages have.
gpu.module @kernels {
  gpu.func @saxpy(%x: !llvm.ptr<1>, %y: !llvm.ptr<1>, %a: f32, %count: i32) kernel {
    %group = gpu.block_id x
    %size = gpu.block_dim x
    %item = gpu.thread_id x
    %begin = arith.muli %group, %size : index
    %i = arith.addi %begin, %item : index
    %i32 = arith.index_cast %i : index to i32
    %inside = arith.cmpi ult, %i32, %count : i32
    scf.if %inside {
      %x_at = llvm.getelementptr %x[%i32] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %y_at = llvm.getelementptr %y[%i32] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, f32
      %x_value = llvm.load %x_at : !llvm.ptr<1> -> f32
      %y_value = llvm.load %y_at : !llvm.ptr<1> -> f32
      %product = arith.mulf %a, %x_value : f32
      %sum = arith.addf %product, %y_value : f32
      llvm.store %sum, %y_at : f32, !llvm.ptr<1>
    }
    gpu.return
  }
}
