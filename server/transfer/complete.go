package transfer

import (
	"context"
	"encoding/hex"
	"errors"
	"io"
	"strings"
	"time"

	"github.com/gabriel-vasile/mimetype"

	"github.com/tillwright/tillwright/server/blob"
	"github.com/tillwright/tillwright/server/caller"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
)

const (
	// answerMargin is how long before a request's deadline it is answered that its file is still being completed.
	answerMargin = 10 * time.Second
	// assembleTime is how long a bucket may take to put an object together.
	assembleTime = time.Hour
)

// completed is what came of completing an upload.
type completed struct {
	file *grant.File
	err  error
}

// Complete makes the bytes of a file's upload its version. A file of which nothing is being uploaded is returned as it is. Bytes that are
// missing are CodeInvalid on `size`, bytes with another hash than was promised on `sha256`; the upload stays then. A crash in between leaves
// the upload too, and completing it again goes on. A bucket may need longer than a request has: then it is CodeInProgress, and the work goes
// on without the request. Completing the file again returns what came of it.
func (s *Service) Complete(ctx context.Context, account, ref string) (*grant.File, error) {
	leave, ok := s.completions.take(account)
	if !ok {
		return nil, busy()
	}
	f, v, p, err := s.store.ClaimComplete(ctx, account, ref)
	if err != nil || p == nil {
		leave()
		return f, err
	}
	done := make(chan completed, 1)
	go func() {
		defer leave()
		f, err := s.complete(v, p)
		done <- completed{f, err}
	}()
	turn := caller.Of(ctx).Turn
	turn.Wait()
	defer turn.GoOn()
	ctx, cancel := waiting(ctx)
	defer cancel()
	select {
	case c := <-done:
		return c.file, c.err
	case <-ctx.Done():
		go s.logOutcome(p, done)
		return nil, grant.Completing()
	}
}

// waiting returns a context that ends early enough for a request to be answered.
func waiting(ctx context.Context) (context.Context, context.CancelFunc) {
	if deadline, ok := ctx.Deadline(); ok {
		return context.WithDeadline(ctx, deadline.Add(-answerMargin))
	}
	return context.WithCancel(ctx)
}

// logOutcome logs a failure of which no request heard. What is the client's to mend it hears of when it completes the file again.
func (s *Service) logOutcome(p *grant.Upload, done <-chan completed) {
	if c := <-done; c.err != nil && errorCode(c.err) == "" {
		s.log.Error("complete file", "account", p.AccountID, "file", p.FileID, "error", c.err)
	}
}

// complete has an upload's bytes put together and its version made ready, whatever becomes of the request that asked for it.
func (s *Service) complete(v *grant.FileVersion, p *grant.Upload) (*grant.File, error) {
	ctx, cancel := context.WithTimeout(context.Background(), assembleTime)
	defer cancel()
	ctx, abandon := context.WithCancelCause(ctx)
	defer abandon(nil)
	go s.keep(ctx, abandon, p)
	sum, contentType, err := s.assemble(ctx, v, p)
	var f *grant.File
	if err == nil {
		f, err = s.store.FinishComplete(ctx, v, p, sum, contentType)
	}
	if err == nil {
		return f, nil
	}
	if cause := context.Cause(ctx); errorCode(cause) != "" {
		err = cause
	}
	return nil, errors.Join(err, s.store.LeaveUpload(context.WithoutCancel(ctx), p))
}

// keep prolongs the lease of an upload's writer until ctx ends. It abandons the work when the server stops, or when the upload has become
// somebody else's.
func (s *Service) keep(ctx context.Context, abandon context.CancelCauseFunc, p *grant.Upload) {
	ticker := time.NewTicker(holdEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.stopped:
			abandon(grant.Completing())
		case <-ticker.C:
			if err := s.store.HoldUpload(ctx, p); errorCode(err) != "" {
				abandon(err)
			}
		}
	}
}

// assemble has the bucket make an object of the parts, and returns its hash and what it is.
func (s *Service) assemble(ctx context.Context, v *grant.FileVersion, p *grant.Upload) (sum, contentType string, err error) {
	digest, err := digestOf(p)
	if err != nil {
		return "", "", err
	}
	sum = hex.EncodeToString(digest.Sum(nil))
	if v.SHA256 != nil && *v.SHA256 != sum {
		return "", "", core.Invalid("sha256", "The bytes that arrived have the SHA-256 "+sum+". Send them again, or make a version with this hash.")
	}
	tags, err := s.store.PartTags(ctx, p)
	if err != nil {
		return "", "", err
	}
	err = s.bucket.Complete(ctx, p.Key(), p.BucketRef, p.Size, tags)
	if errors.Is(err, blob.ErrMissing) || errors.Is(err, blob.ErrDamaged) {
		if err := s.startOver(ctx, p); errorCode(err) != core.CodeUploadConflict {
			return "", "", err
		}
		return "", "", core.Invalid("size", "The bytes were lost where they are kept. Send them again.")
	}
	if err != nil {
		return "", "", err
	}
	contentType, err = s.sniff(ctx, p, v.ContentType)
	return sum, contentType, err
}

func errorCode(err error) core.Code {
	if e, ok := errors.AsType[*core.Error](err); ok {
		return e.Code
	}
	return ""
}

// sniffed is how many bytes of a file are looked at to find out what it is.
const sniffed = 3072

// sniff returns what an object is by its first bytes, or what was declared if they do not contradict it.
func (s *Service) sniff(ctx context.Context, p *grant.Upload, declared string) (string, error) {
	object, err := s.bucket.Open(ctx, p.Key(), p.Size)
	if err != nil {
		return "", err
	}
	defer object.Close()
	head := make([]byte, min(sniffed, p.Size))
	if _, err := io.ReadFull(object, head); err != nil {
		return "", err
	}
	return typeOf(head, declared), nil
}

// anyBytes is the type of bytes of which nothing is known.
const anyBytes = "application/octet-stream"

// typeOf returns the media type of bytes, without parameters. A declared type stands if it is a kind of what the bytes look like, or the other
// way round. A type that nobody here knows stands if what they look like says little.
func typeOf(head []byte, declared string) string {
	found := mimetype.Detect(head)
	looks, _, _ := strings.Cut(found.String(), ";")
	switch known := mimetype.Lookup(declared); {
	case declared == anyBytes:
		return looks
	case looks == anyBytes, known != nil && (isKindOf(known, found) || isKindOf(found, known)), known == nil && isVague(looks, declared):
		return declared
	}
	return looks
}

// isKindOf reports whether a type is the other one or a special case of it, as a word processor's file is a zip.
func isKindOf(one, other *mimetype.MIME) bool {
	for ; one != nil; one = one.Parent() {
		if one.Is(other.String()) {
			return true
		}
	}
	return false
}

// isVague reports whether bytes that look like this may be of a declared type that is not known.
func isVague(looks, declared string) bool {
	switch looks {
	case "text/plain":
		return strings.HasPrefix(declared, "text/") || strings.HasPrefix(declared, "application/")
	case "application/zip":
		return strings.HasPrefix(declared, "application/")
	}
	return false
}
