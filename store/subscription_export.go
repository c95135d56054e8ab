package store

import "context"

// ExportSubscriptions returns a URL of the subscriptions that the filters let through. What a filter names and does not exist
// is CodeMissing.
func (s *Store) ExportSubscriptions(ctx context.Context, account string, in ListSubscriptions) (*SignedURL, error) {
	in.Page = Page{Limit: 1}
	if _, _, err := s.ListSubscriptions(ctx, account, in); err != nil {
		return nil, err
	}
	return s.SignFile(File{Kind: FileKindSubscriptions, Account: account, Subscriptions: &in})
}
