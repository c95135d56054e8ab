//go:build !linux

package main

// releaseProgram does nothing: see program_linux.go.
func releaseProgram() {}
