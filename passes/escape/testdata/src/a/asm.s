// An amd64 system call, and a plain function.
TEXT ·rawCall(SB), 4, $0-8
	MOVQ $39, AX
	SYSCALL
	MOVQ AX, ret+0(FP)
	RET

TEXT ·plainCall(SB), 4, $0-8
	RET
