; y = a * x + y in LLVM IR.
target triple = "amdgcn-amd-amdhsa"

declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workitem.id.x()
declare ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()

define amdgpu_kernel void @saxpy(ptr addrspace(1) %x, ptr addrspace(1) %y, float %a, i32 %count) {
  ; hsa_kernel_dispatch_packet_t::workgroup_size_x
  %packet = call ptr addrspace(4) @llvm.amdgcn.dispatch.ptr()
  %size.at = getelementptr i8, ptr addrspace(4) %packet, i64 4
  %size.16 = load i16, ptr addrspace(4) %size.at
  %size = zext i16 %size.16 to i32
  %group = call i32 @llvm.amdgcn.workgroup.id.x()
  %item = call i32 @llvm.amdgcn.workitem.id.x()
  %begin = mul i32 %group, %size
  %i = add i32 %begin, %item
  %inside = icmp ult i32 %i, %count
  br i1 %inside, label %work, label %end

work:
  %offset = zext i32 %i to i64
  %x.at = getelementptr float, ptr addrspace(1) %x, i64 %offset
  %y.at = getelementptr float, ptr addrspace(1) %y, i64 %offset
  %x.value = load float, ptr addrspace(1) %x.at
  %y.value = load float, ptr addrspace(1) %y.at
  %product = fmul float %a, %x.value
  %sum = fadd float %product, %y.value
  store float %sum, ptr addrspace(1) %y.at
  br label %end

end:
  ret void
}
