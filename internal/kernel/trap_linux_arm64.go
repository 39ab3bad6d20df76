//go:build linux && arm64

package kernel

import (
	"syscall"

	"github.com/dstkit/dst/sched"
)

// System calls that package syscall does not know, or under another name than
// on the other architectures.
const (
	sysFSTATAT         = syscall.SYS_FSTATAT
	sysSENDMMSG        = 269
	sysSYNCFS          = 267
	sysRENAMEAT2       = 276
	sysGETRANDOM       = 278
	sysMEMFDCREATE     = 279
	sysCOPYFILERANGE   = 285
	sysPREADV2         = 286
	sysPWRITEV2        = 287
	sysMLOCK2          = 284
	sysSYNCFILERANGE   = 84
	sysSTATX           = 291
	sysFCHMODAT2       = 452
	sysPIDFDSENDSIGNAL = 424
	sysPIDFDOPEN       = 434
	sysCLONE3          = 435
	sysOPENAT2         = 437
	sysFACCESSAT2      = 439

	trapKill  = syscall.SYS_KILL
	machine   = "aarch64"
	largeFile = 0x20000 // O_LARGEFILE, which every open file has
)

type nlinkType = uint32

// archCall serves the calls that only this architecture has: none.
func (p *Process) archCall(c *Call) (uintptr, syscall.Errno) { return p.notServed(c) }

func archTraps(t *sched.Traps) {}
