package program

import (
	"github.com/tillwright/tillwright/server"
	"github.com/tillwright/tillwright/server/blob"
	"github.com/tillwright/tillwright/server/blob/disk"
	"github.com/tillwright/tillwright/server/blob/s3"
)

// OpenBucket opens the place that is configured for the bytes of files.
func OpenBucket(config *server.Config) (blob.Bucket, error) {
	if folder, ok := config.FilesFolder(); ok {
		return disk.Open(folder)
	}
	options, err := s3.ParseURL(config.FilesURL)
	if err != nil {
		return nil, err
	}
	return s3.Open(options)
}
