package store

import (
	"context"
	"time"

	"github.com/tillwright/tillwright/store/signed"
)

// GetFileDownload returns a URL that opens a stored file to the seller for some time. Version 0 is the current one; the errors are those of
// grant.Store.GetFileVersion.
func (s *Store) GetFileDownload(ctx context.Context, account, ref string, version int64, expiresIn time.Duration) (*signed.URL, error) {
	f, v, err := s.Grant.GetFileVersion(ctx, account, ref, version)
	if err != nil {
		return nil, err
	}
	return s.Signed.SignFor(signed.File{Kind: signed.FileKindStored, Account: account, ID: f.ID, Version: v.Version}, expiresIn)
}

// GetGrantDownload returns a URL that opens a file of a grant to its customer for some time. The errors are those of
// grant.Store.GetOpenedFile.
func (s *Store) GetGrantDownload(ctx context.Context, account, ref, file string, expiresIn time.Duration) (*signed.URL, error) {
	g, f, v, err := s.Grant.GetOpenedFile(ctx, account, ref, file)
	if err != nil {
		return nil, err
	}
	return s.Signed.SignFor(signed.File{Kind: signed.FileKindStored, Account: account, ID: f.ID, Version: v.Version, Grant: g.ID}, expiresIn)
}
