package server

import (
	"strconv"
	"strings"

	"github.com/tillwright/tillwright/server/blob/s3"
	"github.com/tillwright/tillwright/store/grant"
)

// allowedSize is what the error about a wrong size says is allowed.
const allowedSize = "bytes, or a number with KiB, MiB or GiB, such as 10GiB"

// FilesFolder returns the folder in which the bytes of files are, and false if they are in a bucket of an S3 server.
func (c *Config) FilesFolder() (string, bool) { return strings.CutPrefix(c.FilesURL, "file://") }

// checkFilesURL refuses an address that names neither a folder nor a bucket.
func (c *Config) checkFilesURL() error {
	const name = "TILLWRIGHT_FILES_URL"
	if folder, ok := c.FilesFolder(); ok && folder != "" {
		return nil
	}
	if _, err := s3.ParseURL(c.FilesURL); err != nil {
		return refusal(name, redact(c.FilesURL), "file:///folder or s3://bucket/prefix?endpoint=&region=&path_style=true")
	}
	return nil
}

// FileLimits returns how large files may be.
func (c *Config) FileLimits() (grant.Limits, error) {
	size, ok := parseSize(c.FilesMaxSize)
	if !ok || size < 1 || size > grant.MaxParts*grant.PartSize {
		return grant.Limits{}, refusal("TILLWRIGHT_FILES_MAX_SIZE", c.FilesMaxSize, allowedSize+", and at most 156GiB")
	}
	quota, ok := parseSize(c.FilesQuota)
	if !ok || c.FilesQuota != "" && quota < 1 {
		return grant.Limits{}, refusal("TILLWRIGHT_FILES_QUOTA", c.FilesQuota, allowedSize)
	}
	return grant.Limits{FileSize: size, Quota: quota}, nil
}

// parseSize reads a number of bytes, 0 for an empty text.
func parseSize(text string) (int64, bool) {
	if text == "" {
		return 0, true
	}
	unit := int64(1)
	for i, suffix := range []string{"KiB", "MiB", "GiB"} {
		if number, ok := strings.CutSuffix(text, suffix); ok {
			text, unit = number, 1<<(10*(i+1))
		}
	}
	number, err := strconv.ParseInt(text, 10, 64)
	return number * unit, err == nil && 0 <= number && number <= 1<<30*1024/unit*1024
}
