.if .amdgcn.gfx_generation_number >= 0
.print "ok"
.endif
 x=.amdgcn.gfx_generation_number*10000+.amdgcn.gfx_generation_minor*100+.amdgcn.gfx_generation_stepping
 .data
 .long x