package acme

import (
	"context"
	"fmt"
	"io/fs"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/caddyserver/certmagic"

	"github.com/tillwright/tillwright/server/domains"
	"github.com/tillwright/tillwright/store/content"
	"github.com/tillwright/tillwright/store/core"
)

const (
	lockLease = domains.CertificateTime + 30*time.Second // whoever holds a lock is done before
	lockPause = time.Second                              // between two tries to get one
)

// storage keeps the files of certmagic in the database, sealed, so that every replica has them. Its locks end by themselves if
// their holder is killed.
type storage struct {
	store *content.Store
	lease time.Duration
	mu    sync.Mutex
	owned map[string]string // locks that this process holds, with what they are held by
}

var _ certmagic.Storage = (*storage)(nil)

func newStorage(s *content.Store) *storage {
	return &storage{store: s, lease: lockLease, owned: map[string]string{}}
}

// Lock waits until it has the lock of a name, or ctx ends.
func (s *storage) Lock(ctx context.Context, name string) error {
	owner := core.NewULID()
	for {
		held, err := s.store.LockCertificate(ctx, name, owner, s.lease)
		switch {
		case err != nil && ctx.Err() != nil: // which the database reports as a statement or a connection that was ended
			return ctx.Err()
		case err != nil:
			return err
		case held:
			s.mu.Lock()
			defer s.mu.Unlock()
			s.owned[name] = owner
			return nil
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(lockPause):
		}
	}
}

// Unlock gives back a lock, also if ctx has ended. One that ran out and is somebody else's stays theirs.
func (s *storage) Unlock(ctx context.Context, name string) error {
	s.mu.Lock()
	owner := s.owned[name]
	delete(s.owned, name)
	s.mu.Unlock()
	return s.store.UnlockCertificate(context.WithoutCancel(ctx), name, owner)
}

func (s *storage) Store(ctx context.Context, key string, value []byte) error {
	return s.store.PutCertificateFile(ctx, key, value)
}

func (s *storage) Load(ctx context.Context, key string) ([]byte, error) {
	f, err := s.file(ctx, key)
	if err != nil {
		return nil, err
	}
	return f.Text, nil
}

// Delete deletes what is at a key and below it. A challenge is cleaned up also when its time is over.
func (s *storage) Delete(ctx context.Context, key string) error {
	return s.store.DeleteCertificateFiles(context.WithoutCancel(ctx), key)
}

func (s *storage) Exists(ctx context.Context, key string) bool {
	_, err := s.file(ctx, key)
	return err == nil
}

func (s *storage) List(ctx context.Context, folder string, recursive bool) ([]string, error) {
	folder = strings.TrimSuffix(folder, "/")
	all, err := s.store.CertificatePaths(ctx, folder)
	if err != nil || recursive {
		return all, err
	}
	var direct []string
	for _, p := range all {
		name, _, _ := strings.Cut(strings.TrimPrefix(p, folder+"/"), "/")
		if child := path.Join(folder, name); len(direct) == 0 || direct[len(direct)-1] != child {
			direct = append(direct, child)
		}
	}
	return direct, nil
}

func (s *storage) Stat(ctx context.Context, key string) (certmagic.KeyInfo, error) {
	f, err := s.file(ctx, key)
	if err != nil {
		return certmagic.KeyInfo{}, err
	}
	return certmagic.KeyInfo{Key: key, Modified: f.ModifiedAt.Time(), Size: int64(len(f.Text)), IsTerminal: true}, nil
}

// file returns what is at a key, or fs.ErrNotExist.
func (s *storage) file(ctx context.Context, key string) (*content.CertificateFile, error) {
	f, err := s.store.GetCertificateFile(ctx, key)
	if err == nil && f == nil {
		err = fmt.Errorf("%s: %w", key, fs.ErrNotExist)
	}
	return f, err
}
