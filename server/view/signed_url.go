package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store"
)

// SignedURL renders where a file is.
func SignedURL(u *store.SignedURL) api.SignedURL {
	return api.SignedURL{Object: "signed_url", URL: u.URL, ExpiresAt: at(u.ExpiresAt)}
}
