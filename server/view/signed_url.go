package view

import (
	"github.com/tillwright/tillwright/gen/api"
	"github.com/tillwright/tillwright/store/signed"
)

// SignedURL renders the address of a file and when it expires.
func SignedURL(u *signed.URL) api.SignedURL {
	return api.SignedURL{Object: "signed_url", URL: u.URL, ExpiresAt: at(u.ExpiresAt)}
}
