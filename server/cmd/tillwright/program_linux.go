package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
)

// releaseProgram gives back the pages of the program's file that only its start needed, which are most of them. Those that are needed again
// are in the page cache; none was written to. Where that cannot be done they stay.
func releaseProgram() {
	program, err := os.Readlink("/proc/self/exe")
	if err != nil {
		return
	}
	mappings, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		return
	}
	for line := range strings.Lines(string(mappings)) {
		fields := strings.Fields(line) // 00400000-01b78000 r-xp 00000000 fe:00 10010957 /usr/bin/tillwright
		if len(fields) != 6 || fields[5] != program || strings.Contains(fields[1], "w") {
			continue
		}
		from, to, _ := strings.Cut(fields[0], "-")
		begin, wrongBegin := strconv.ParseUint(from, 16, 64)
		end, wrongEnd := strconv.ParseUint(to, 16, 64)
		if wrongBegin == nil && wrongEnd == nil {
			_, _, _ = syscall.Syscall(syscall.SYS_MADVISE, uintptr(begin), uintptr(end-begin), syscall.MADV_DONTNEED)
		}
	}
}
