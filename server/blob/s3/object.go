package s3

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/minio/minio-go/v7"
)

// object reads an object of a known size. A connection that breaks is replaced by one that begins where it broke.
type object struct {
	ctx    context.Context
	bucket *Bucket
	key    string
	size   int64
	offset int64
	body   io.ReadCloser // from offset on; nil = to be asked for
	broken int           // how often in succession
}

// maxBroken is how often in succession a connection may break without a byte between.
const maxBroken = 3

func (o *object) Read(p []byte) (int, error) {
	for {
		if o.offset >= o.size {
			return 0, io.EOF
		}
		if o.body == nil {
			if err := o.ask(); err != nil {
				return 0, err
			}
		}
		n, err := o.body.Read(p)
		o.offset += int64(n)
		if n > 0 {
			o.broken = 0
			return n, nil
		}
		if err == nil {
			continue
		}
		o.drop()
		if o.broken++; o.broken > maxBroken || o.ctx.Err() != nil {
			if errors.Is(err, io.EOF) {
				err = io.ErrUnexpectedEOF
			}
			return 0, err
		}
	}
}

// ask asks for the bytes from the offset on.
func (o *object) ask() error {
	var options minio.GetObjectOptions
	if err := options.SetRange(o.offset, o.size-1); err != nil {
		return err
	}
	body, info, _, err := o.bucket.core.GetObject(o.ctx, o.bucket.bucket, o.key, options)
	if err != nil {
		return missing(err)
	}
	if rest := o.size - o.offset; info.Size != rest {
		return errors.Join(fmt.Errorf("the object has %d bytes from %d on, not %d", info.Size, o.offset, rest), body.Close())
	}
	o.body = body
	return nil
}

func (o *object) Seek(offset int64, whence int) (int64, error) {
	switch whence {
	case io.SeekCurrent:
		offset += o.offset
	case io.SeekEnd:
		offset += o.size
	}
	if offset < 0 {
		return 0, errors.New("seek before the beginning")
	}
	if offset != o.offset {
		o.drop()
		o.offset = offset
	}
	return offset, nil
}

func (o *object) drop() {
	if o.body != nil {
		_ = o.body.Close() // it was only read
		o.body = nil
	}
}

// Close ends the connection.
func (o *object) Close() error {
	o.drop()
	return nil
}
