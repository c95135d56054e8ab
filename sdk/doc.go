// Package sdk is the Go client of Tillwright.
package sdk
