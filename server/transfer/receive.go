package transfer

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding"
	"errors"
	"fmt"
	"hash"
	"io"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/tillwright/tillwright/server/blob"
	"github.com/tillwright/tillwright/store/grant"
)

// receive stores a request's bytes from an offset on, part by part: each is in the bucket before it counts. It returns the upload as it is
// then. A part that did not arrive whole is forgotten.
func (s *Service) receive(c echo.Context, p *grant.Upload, offset int64) (*grant.Upload, error) {
	r := c.Request()
	if offset != 0 && offset != p.Received {
		return nil, grant.UploadElsewhere(p.Received)
	}
	if err := checkLength(p, offset, r.ContentLength); err != nil {
		return nil, err
	}
	leave, ok := s.uploads.take(p.AccountID)
	if !ok {
		return nil, busy()
	}
	defer leave()
	ctx := context.WithoutCancel(r.Context()) // what has arrived is noted, although the client is gone
	p, err := s.store.ClaimUpload(ctx, p, offset)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err := s.store.LeaveUpload(ctx, p); err != nil {
			s.log.WarnContext(ctx, "leave upload", "account", p.AccountID, "upload", p.ID, "error", err)
		}
	}()
	watched, alive, stop := watch(ctx)
	defer stop()
	in := &incoming{body: r.Body, deadlines: s.deadlinesOf(c), alive: alive, held: time.Now(), hold: func() error { return s.store.HoldUpload(ctx, p) }}
	return p, s.parts(watched, p, offset, bufio.NewReaderSize(in, 32<<10))
}

// parts stores what is read, until it ends or all is there.
func (s *Service) parts(ctx context.Context, p *grant.Upload, offset int64, in *bufio.Reader) error {
	if offset == 0 {
		if err := s.begin(ctx, p); err != nil {
			return err
		}
	}
	digest, err := digestOf(p)
	if err != nil {
		return err
	}
	for stored := 0; p.Received < p.Size; stored++ {
		if _, err := in.Peek(1); errors.Is(err, io.EOF) {
			return nil
		}
		err := s.part(ctx, p, digest, in)
		if errors.Is(err, errShort) && stored > 0 {
			return nil // the whole parts before it are there, and the answer says so
		}
		if err != nil {
			return err
		}
	}
	if _, err := in.Peek(1); err == nil {
		return tooMuch(p)
	}
	return nil
}

// begin begins an upload anew in the bucket.
func (s *Service) begin(ctx context.Context, p *grant.Upload) error {
	ref, err := s.bucket.Begin(ctx, p.Key())
	if err != nil {
		return fmt.Errorf("begin upload: %w", err)
	}
	return s.store.BeginUpload(ctx, p, ref)
}

// startOver forgets what an upload has, which the bucket has no more, and returns the refusal that says so.
func (s *Service) startOver(ctx context.Context, p *grant.Upload) error {
	if err := s.store.BeginUpload(ctx, p, ""); err != nil {
		return err
	}
	s.log.WarnContext(ctx, "the bucket has lost parts of an upload", "account", p.AccountID, "upload", p.ID)
	return grant.UploadElsewhere(0)
}

// digestOf returns the SHA-256 of what an upload has, to be gone on with.
func digestOf(p *grant.Upload) (hash.Hash, error) {
	digest := sha256.New()
	if p.Digest == nil {
		return digest, nil
	}
	return digest, digest.(encoding.BinaryUnmarshaler).UnmarshalBinary(p.Digest)
}

// part stores the next part. Before the last one counts, nothing may follow it.
func (s *Service) part(ctx context.Context, p *grant.Upload, digest hash.Hash, in *bufio.Reader) error {
	part := blob.Part{Number: p.Parts() + 1, Offset: p.Received, Size: min(grant.PartSize, p.Size-p.Received)}
	tag, err := s.bucket.Put(ctx, p.Key(), p.BucketRef, part, io.TeeReader(&whole{in, part.Size}, digest))
	if errors.Is(err, blob.ErrMissing) {
		return s.startOver(ctx, p)
	}
	if err != nil {
		return err
	}
	received := p.Received + part.Size
	if received == p.Size {
		if _, err := in.Peek(1); err == nil {
			return tooMuch(p)
		}
	}
	state, err := digest.(encoding.BinaryMarshaler).MarshalBinary()
	if err != nil {
		return err
	}
	return s.store.AddPart(ctx, p, part.Number, tag, received, state)
}

// errShort says that a body ended within a part.
var errShort = tooShort()

// whole reads a part. A body that ends within it is errShort.
type whole struct {
	reader io.Reader
	rest   int64
}

func (w *whole) Read(b []byte) (int, error) {
	if w.rest == 0 {
		return 0, io.EOF
	}
	n, err := w.reader.Read(b[:min(int64(len(b)), w.rest)])
	if w.rest -= int64(n); w.rest > 0 && errors.Is(err, io.EOF) {
		err = errShort
	}
	return n, err
}

// incoming reads a body as long as bytes come. While they do, the upload stays the writer's.
type incoming struct {
	body      io.Reader
	deadlines deadlines
	alive     func()
	hold      func() error
	held      time.Time
}

func (i *incoming) Read(b []byte) (int, error) {
	i.alive()
	if err := i.deadlines.move(); err != nil {
		return 0, err
	}
	n, err := i.body.Read(b)
	i.alive()
	if err != nil && !errors.Is(err, io.EOF) {
		return n, brokenOff(err)
	}
	if time.Since(i.held) > holdEvery {
		if err := i.hold(); err != nil {
			return 0, err
		}
		i.held = time.Now()
	}
	return n, err
}
