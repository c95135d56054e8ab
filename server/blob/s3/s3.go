// Package s3 keeps objects in a bucket of an S3 server: Amazon's, or one of the many that speak the same.
package s3

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/minio/minio-go/v7"
	"github.com/minio/minio-go/v7/pkg/credentials"

	"github.com/tillwright/tillwright/server/blob"
	"github.com/tillwright/tillwright/server/caller"
)

// Options name a bucket.
type Options struct {
	Bucket    string
	Prefix    string // before every key, without a slash at its end; may be empty
	Endpoint  string // host[:port], or an address that begins with http:// or https://; Amazon's when empty
	Region    string // asked of the server when empty
	PathStyle bool   // the bucket is a part of the path, not of the host

	Transport   http.RoundTripper        // the way to the server; one of its own when nil
	Settle      time.Duration            // how long a server may go on putting an object together of which it says that there is no such upload; 3 minutes when 0
	Credentials *credentials.Credentials // the usual AWS variables and files, then the machine's role, when nil
}

// ParseURL reads s3://bucket/prefix?endpoint=&region=&path_style=true.
func ParseURL(raw string) (Options, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Scheme != "s3" || u.Host == "" || u.User != nil || u.Fragment != "" {
		return Options{}, errors.New("not s3://bucket/prefix?endpoint=&region=&path_style=true")
	}
	query := u.Query()
	for name := range query {
		if !slices.Contains([]string{"endpoint", "region", "path_style"}, name) {
			return Options{}, fmt.Errorf("%s is none of endpoint, region and path_style", name)
		}
	}
	style := query.Get("path_style")
	if style != "" && style != "true" && style != "false" {
		return Options{}, errors.New("path_style is neither true nor false")
	}
	return Options{
		Bucket: u.Host, Prefix: strings.Trim(u.Path, "/"), Endpoint: query.Get("endpoint"), Region: query.Get("region"), PathStyle: style == "true",
	}, nil
}

// Bucket is a part of a bucket.
type Bucket struct {
	core     *minio.Core
	assembly *minio.Core // waits for an answer as long as its caller does
	bucket   string
	prefix   string
	settle   time.Duration
}

var _ blob.Bucket = (*Bucket)(nil)

// Open returns the bucket, and asks nobody for it yet.
func Open(o Options) (*Bucket, error) {
	if o.Credentials == nil {
		o.Credentials = credentials.NewChainCredentials([]credentials.Provider{
			&credentials.EnvAWS{}, &credentials.FileAWSCredentials{}, &credentials.IAM{Client: &http.Client{Transport: transport(silence)}},
		})
	}
	core, err := connect(o, silence)
	if err != nil {
		return nil, err
	}
	assembly, err := connect(o, 0)
	if err != nil {
		return nil, err
	}
	b := &Bucket{core: core, assembly: assembly, bucket: o.Bucket, settle: cmp.Or(o.Settle, 3*time.Minute)}
	if o.Prefix != "" {
		b.prefix = o.Prefix + "/"
	}
	return b, nil
}

// silence is how long a server may think about what is no matter of an object's size.
const silence = time.Minute

// connect returns a client that gives up a server which does not answer for that long, never when 0.
func connect(o Options, silence time.Duration) (*minio.Core, error) {
	endpoint, plain := strings.CutPrefix(o.Endpoint, "http://")
	endpoint = strings.TrimSuffix(strings.TrimPrefix(endpoint, "https://"), "/")
	if endpoint == "" {
		endpoint = "s3.amazonaws.com"
	}
	if o.Transport == nil {
		o.Transport = caller.Awaited{RoundTripper: transport(silence)}
	}
	lookup := minio.BucketLookupAuto
	if o.PathStyle {
		lookup = minio.BucketLookupPath
	}
	return minio.NewCore(endpoint, &minio.Options{
		Creds: o.Credentials, Secure: !plain, Region: o.Region, BucketLookup: lookup, Transport: o.Transport, MaxRetries: 4,
	})
}

// transport returns the way to a server. It gives up one that does not answer, and keeps no more memory for a connection than a piece that is
// being copied needs.
func transport(silence time.Duration) *http.Transport {
	return &http.Transport{
		Proxy:                 http.ProxyFromEnvironment,
		DialContext:           (&net.Dialer{Timeout: 10 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		TLSHandshakeTimeout:   10 * time.Second,
		ResponseHeaderTimeout: silence,
		IdleConnTimeout:       time.Minute,
		MaxIdleConnsPerHost:   16,
		DisableCompression:    true, // an object is what it is
	}
}

// Begin aborts the uploads of the key that there are, of which a crash may have left one that nobody noted, and begins one.
func (b *Bucket) Begin(ctx context.Context, key string) (string, error) {
	if err := b.abort(ctx, key); err != nil {
		return "", err
	}
	mark := rand.Text()
	id, err := b.core.NewMultipartUpload(ctx, b.bucket, b.prefix+key, minio.PutObjectOptions{UserMetadata: map[string]string{marked: mark}})
	return mark + " " + id, err
}

// marked is the metadata of an object that tells from which upload it came.
const marked = "Upload"

// Put sends a part as it is read. What is read cannot be read again, so it is sent once.
func (b *Bucket) Put(ctx context.Context, key, upload string, p blob.Part, r io.Reader) (string, error) {
	source := &source{reader: io.LimitReader(r, p.Size)}
	_, id, _ := strings.Cut(upload, " ")
	part, err := b.core.PutObjectPart(ctx, b.bucket, b.prefix+key, id, p.Number, source, p.Size, minio.PutObjectPartOptions{})
	switch {
	case source.err != nil:
		return "", source.err
	case err != nil:
		return "", missing(err)
	}
	return part.ETag, nil
}

// source is what a part is read from. It remembers why it ended early, which the library wraps in errors of its own.
type source struct {
	reader io.Reader
	err    error
}

func (s *source) Read(p []byte) (int, error) {
	n, err := s.reader.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		s.err = err
	}
	return n, err
}

// Complete has the server put the parts together, which some do by copying them, and looks at what came of it.
func (b *Bucket) Complete(ctx context.Context, key, upload string, size int64, tags []string) error {
	parts := make([]minio.CompletePart, len(tags))
	for i, tag := range tags {
		parts[i] = minio.CompletePart{PartNumber: i + 1, ETag: tag}
	}
	mark, id, _ := strings.Cut(upload, " ")
	_, err := b.assembly.CompleteMultipartUpload(ctx, b.bucket, b.prefix+key, id, parts, minio.PutObjectOptions{})
	switch code := minio.ToErrorResponse(err).Code; {
	case err == nil:
		return b.look(ctx, key, size)
	case code == minio.NoSuchUpload:
		return b.await(ctx, key, mark, size)
	case code == minio.InvalidPart, code == minio.InvalidPartOrder, code == minio.EntityTooSmall:
		return blob.ErrDamaged
	default:
		return err
	}
}

// await waits for the object of an upload of which the server says that it does not exist. The upload was completed before, maybe by a
// process that did not live to hear of it. The server may still be at work on it.
func (b *Bucket) await(ctx context.Context, key, mark string, size int64) error {
	for begin := time.Now(); ; {
		found, err := b.core.StatObject(ctx, b.bucket, b.prefix+key, minio.StatObjectOptions{})
		switch {
		case err != nil && !errors.Is(missing(err), blob.ErrMissing):
			return err
		case err == nil && found.UserMetadata[marked] == mark && found.Size == size:
			return nil
		case time.Since(begin) >= b.settle:
			return blob.ErrMissing
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(min(b.settle, time.Second)):
		}
	}
}

// look returns nil if there is an object of this size.
func (b *Bucket) look(ctx context.Context, key string, size int64) error {
	found, err := b.core.StatObject(ctx, b.bucket, b.prefix+key, minio.StatObjectOptions{})
	switch {
	case err != nil:
		return missing(err)
	case found.Size != size:
		return blob.ErrDamaged
	}
	return nil
}

// Open looks at the object, and returns a reader that asks for the bytes from where it stands.
func (b *Bucket) Open(ctx context.Context, key string, size int64) (io.ReadSeekCloser, error) {
	if err := b.look(ctx, key, size); err != nil {
		return nil, err
	}
	return &object{ctx: ctx, bucket: b, key: b.prefix + key, size: size}, nil
}

// Remove removes the object and aborts the uploads of its key.
func (b *Bucket) Remove(ctx context.Context, key string) error {
	if err := b.abort(ctx, key); err != nil {
		return err
	}
	err := b.core.RemoveObject(ctx, b.bucket, b.prefix+key, minio.RemoveObjectOptions{})
	if errors.Is(missing(err), blob.ErrMissing) {
		return nil
	}
	return err
}

// abort ends every upload of a key.
func (b *Bucket) abort(ctx context.Context, key string) error {
	return b.uploads(ctx, b.prefix+key, func(u minio.ObjectMultipartInfo) error {
		if u.Key != b.prefix+key { // that of a longer key
			return nil
		}
		err := b.core.AbortMultipartUpload(ctx, b.bucket, u.Key, u.UploadID)
		if errors.Is(missing(err), blob.ErrMissing) {
			return nil
		}
		return err
	})
}

// uploads visits every upload whose key begins with a text.
func (b *Bucket) uploads(ctx context.Context, prefix string, visit func(minio.ObjectMultipartInfo) error) error {
	var afterKey, afterUpload string
	for {
		page, err := b.core.ListMultipartUploads(ctx, b.bucket, prefix, afterKey, afterUpload, "", 1000)
		if errors.Is(missing(err), blob.ErrMissing) { // which some servers call a bucket without uploads
			return nil
		}
		if err != nil {
			return err
		}
		for _, u := range page.Uploads {
			if err := visit(u); err != nil {
				return err
			}
		}
		if !page.IsTruncated {
			return nil
		}
		afterKey, afterUpload = page.NextKeyMarker, page.NextUploadIDMarker
	}
}

// Walk visits objects, then uploads.
func (b *Bucket) Walk(ctx context.Context, visit func(blob.Entry) error) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop() // of who lists
	for o := range b.core.ListObjectsIter(ctx, b.bucket, minio.ListObjectsOptions{Prefix: b.prefix, Recursive: true}) {
		if o.Err != nil {
			return o.Err
		}
		if err := visit(blob.Entry{Key: strings.TrimPrefix(o.Key, b.prefix), Size: o.Size}); err != nil {
			return err
		}
	}
	return b.uploads(ctx, b.prefix, func(u minio.ObjectMultipartInfo) error {
		return visit(blob.Entry{Key: strings.TrimPrefix(u.Key, b.prefix), Unfinished: true})
	})
}

func missing(err error) error {
	switch minio.ToErrorResponse(err).Code {
	case minio.NoSuchKey, minio.NoSuchUpload:
		return blob.ErrMissing
	}
	return err
}
