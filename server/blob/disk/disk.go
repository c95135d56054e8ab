// Package disk keeps objects in a folder. Several processes may share it, also by a network's file system.
package disk

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"

	"github.com/tillwright/tillwright/server/blob"
)

// unfinished is what the name of an upload's file ends in.
const unfinished = ".upload"

// Bucket is a folder. Nothing outside of it can be reached, whatever a key is.
type Bucket struct{ root *os.Root }

var _ blob.Bucket = (*Bucket)(nil)

// Open returns the bucket of a folder, which is made if it is missing.
func Open(folder string) (*Bucket, error) {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return nil, err
	}
	root, err := os.OpenRoot(folder)
	return &Bucket{root}, err
}

// Close lets go of the folder.
func (b *Bucket) Close() error { return b.root.Close() }

// Begin makes an empty file beside where the object is going to be.
func (b *Bucket) Begin(_ context.Context, key string) (string, error) {
	if err := b.root.MkdirAll(path.Dir(key), 0o700); err != nil {
		return "", err
	}
	file, err := b.root.OpenFile(key+unfinished, os.O_CREATE|os.O_WRONLY|os.O_TRUNC, 0o600)
	if err != nil {
		return "", err
	}
	if err := file.Close(); err != nil {
		return "", err
	}
	for folder := path.Dir(key); ; folder = path.Dir(folder) { // a folder survives a crash once the one above it is written
		if err := b.sync(folder); err != nil || folder == "." {
			return "1", err
		}
	}
}

// Put writes a part to where it stands in the object.
func (b *Bucket) Put(_ context.Context, key, _ string, p blob.Part, r io.Reader) (tag string, err error) {
	file, err := b.root.OpenFile(key+unfinished, os.O_WRONLY, 0)
	if err != nil {
		return "", missing(err)
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	written, err := io.Copy(io.NewOffsetWriter(file, p.Offset), io.LimitReader(r, p.Size))
	switch {
	case err != nil:
		return "", err
	case written < p.Size:
		return "", io.ErrUnexpectedEOF
	}
	return fmt.Sprint(p.Size), file.Sync()
}

// Complete gives the file its name. An upload that was begun after its object was made replaces it.
func (b *Bucket) Complete(_ context.Context, key, _ string, size int64, _ []string) error {
	info, err := b.root.Stat(key + unfinished)
	if err == nil && info.Size() != size {
		return blob.ErrDamaged
	}
	if err == nil {
		err = b.root.Rename(key+unfinished, key)
	}
	if errors.Is(err, fs.ErrNotExist) {
		if done, err := b.root.Stat(key); err != nil || done.Size() != size {
			return cmp.Or(missing(err), blob.ErrMissing)
		}
	} else if err != nil {
		return err
	}
	return b.sync(path.Dir(key)) // whoever was before us may not have come that far
}

// Open opens the file.
func (b *Bucket) Open(_ context.Context, key string, size int64) (io.ReadSeekCloser, error) {
	file, err := b.root.Open(key)
	if err != nil {
		return nil, missing(err)
	}
	if info, err := file.Stat(); err != nil || info.Size() != size {
		return nil, errors.Join(cmp.Or(err, blob.ErrDamaged), file.Close())
	}
	return file, nil
}

// Remove removes the file, and the folders above it that nothing else is in.
func (b *Bucket) Remove(_ context.Context, key string) error {
	for _, name := range []string{key, key + unfinished} {
		if err := b.root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	for folder := path.Dir(key); folder != "."; folder = path.Dir(folder) {
		if b.root.Remove(folder) != nil { // something is in it, or another one was first
			break
		}
	}
	return nil
}

// Walk visits all files.
func (b *Bucket) Walk(ctx context.Context, visit func(blob.Entry) error) error {
	return fs.WalkDir(b.root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			return nil
		}
		if err != nil || d.IsDir() {
			return errors.Join(err, ctx.Err())
		}
		info, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		key, isUpload := strings.CutSuffix(name, unfinished)
		if isUpload {
			return visit(blob.Entry{Key: key, Unfinished: true})
		}
		return visit(blob.Entry{Key: key, Size: info.Size()})
	})
}

// sync has the names in a folder survive a crash.
func (b *Bucket) sync(folder string) error {
	file, err := b.root.Open(folder)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

func missing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return blob.ErrMissing
	}
	return err
}
