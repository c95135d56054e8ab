package main

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// uploadProgress says how far an upload is. It is kept in a file beside the uploaded one until all of that is uploaded.
type uploadProgress struct {
	path string

	// Size and time of the uploaded file. If they differ, it is another file, with other rows.
	Size       int64     `json:"size"`
	ModifiedAt time.Time `json:"modified_at"`

	Rows   int          `json:"rows"` // that were answered
	Key    string       `json:"key"`  // the Idempotency-Key of the rows after them
	Counts uploadCounts `json:"counts"`
}

// openProgress reads where an earlier run of an upload has stopped, or begins with the first row. It is an error if the uploaded
// file was changed in between.
func openProgress(file *os.File, audience string) (*uploadProgress, error) {
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s must be a file that can be read again, in case that the upload is interrupted", file.Name())
	}
	p := &uploadProgress{path: file.Name() + "." + audience + ".progress"}
	text, err := os.ReadFile(p.path)
	if errors.Is(err, fs.ErrNotExist) {
		p.Size, p.ModifiedAt = info.Size(), info.ModTime()
		return p, p.proceed()
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, p); err != nil || p.Key == "" {
		return nil, fmt.Errorf("%s is spoiled: delete it to upload the file from its beginning, which adds nobody twice", p.path)
	}
	if p.Size != info.Size() || !p.ModifiedAt.Equal(info.ModTime()) {
		return nil, fmt.Errorf("%s was changed since its upload stopped after %s rows: delete %s to upload it from its beginning, which adds nobody twice",
			file.Name(), grouped(int64(p.Rows)), p.path)
	}
	return p, nil
}

// answered notes that the rows of a chunk are done.
func (p *uploadProgress) answered(c *chunk) error {
	p.Rows += c.rows
	p.Counts.add(c.found)
	return p.proceed()
}

// proceed gives the next request an Idempotency-Key of its own, and writes the file. Whenever the machine stops, the file has
// either the old or the new state.
func (p *uploadProgress) proceed() error {
	p.Key = rand.Text()
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	draft, err := os.CreateTemp(filepath.Dir(p.path), filepath.Base(p.path)+".*")
	if err != nil {
		return fmt.Errorf("keep the progress beside the file: %w", err)
	}
	defer os.Remove(draft.Name())
	_, err = draft.Write(text)
	if err := errors.Join(err, draft.Sync(), draft.Close()); err != nil {
		return fmt.Errorf("keep the progress beside the file: %w", err)
	}
	return os.Rename(draft.Name(), p.path)
}

// finish removes the file, once the upload is complete.
func (p *uploadProgress) finish() error { return os.Remove(p.path) }
