// Package blob says what the program needs of a place that keeps large objects under names: a folder, or a bucket of an S3 server.
package blob

import (
	"context"
	"errors"
	"io"
)

// ErrMissing says that a bucket has no object, or no upload, of that name.
var ErrMissing = errors.New("blob: nothing is there")

// ErrDamaged says that the parts of an upload are not those that were stored: it has to be begun anew.
var ErrDamaged = errors.New("blob: the parts of the upload do not fit together")

// Part is a piece of an upload. All pieces of an upload have the same size but the last one.
type Part struct {
	Number int   // from 1
	Offset int64 // of its first byte in the object
	Size   int64
}

// Bucket keeps objects under keys, which are names without meaning but for slashes. It is safe for concurrent use, but only one caller at a
// time may upload to a key.
type Bucket interface {
	// Begin ends whatever upload of a key is under way, and begins one. The text that it returns names it in later calls, also of another
	// process.
	Begin(ctx context.Context, key string) (upload string, err error)

	// Put stores a part of exactly its size from r, in place of one with the same number, and returns a tag of it. When it returns, the part
	// survives a crash. An error of r is returned as it is.
	Put(ctx context.Context, key, upload string, p Part, r io.Reader) (tag string, err error)

	// Complete makes an object of all parts of an upload, whose tags are in the order of their numbers. Again it does nothing. ErrMissing
	// and ErrDamaged say that it never will.
	Complete(ctx context.Context, key, upload string, size int64, tags []string) error

	// Open returns a reader of an object that has this size; one of another size is ErrDamaged.
	Open(ctx context.Context, key string, size int64) (io.ReadSeekCloser, error)

	// Remove removes an object, and ends what is being uploaded to its key. It is no error if there is nothing.
	Remove(ctx context.Context, key string) error

	// Walk calls visit for everything that the bucket has, in no order, until visit returns an error.
	Walk(ctx context.Context, visit func(Entry) error) error
}

// Entry is something that a bucket has.
type Entry struct {
	Key        string
	Size       int64 // 0 of an upload
	Unfinished bool  // it is an upload, not an object
}
