package store

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"time"

	"github.com/tillwright/tillwright/store/core"
)

// signedURLLifetime is how long a signed URL opens what it was made for.
const signedURLLifetime = time.Hour

// FileKind says what a signed URL opens.
type FileKind string

// The kinds of files.
const (
	FileKindInvoice       FileKind = "invoice"       // the one with the id, as PDF
	FileKindReceipt       FileKind = "receipt"       // of the order with the id, as PDF
	FileKindOrders        FileKind = "orders"        // those that the filter lets through, as CSV
	FileKindCustomers     FileKind = "customers"     // those that the filter lets through, as CSV
	FileKindSubscriptions FileKind = "subscriptions" // those that the filter lets through, as CSV
)

// File is what a signed URL opens. It is written when it is fetched, as things stand then.
type File struct {
	Kind          FileKind           `json:"kind"`
	Account       string             `json:"account"`
	ID            string             `json:"id,omitempty"`
	LinkVersion   int64              `json:"link_version,omitempty"` // of the order or invoice: another one ends the URL
	Orders        *ListOrders        `json:"orders,omitempty"`
	Customers     *ListCustomers     `json:"customers,omitempty"`
	Subscriptions *ListSubscriptions `json:"subscriptions,omitempty"`
	ExpiresAt     core.Time          `json:"expires_at"`
}

// SignedURL opens a file to whoever has it, without a key, until it expires.
type SignedURL struct {
	URL       string
	ExpiresAt core.Time
}

// fileContext is what files are sealed under.
const fileContext = "file"

// fileEncoding has one form for each token, but for line breaks.
var fileEncoding = base64.RawURLEncoding.Strict()

// SignFile returns a URL of a file that the account may see. The URL holds all that it says, sealed: it cannot be read,
// changed or made by others.
func (s *Store) SignFile(f File) (*SignedURL, error) {
	f.ExpiresAt = s.Now().Add(signedURLLifetime)
	text, err := json.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("sign file: %w", err)
	}
	token := fileEncoding.EncodeToString(s.db.Options.Sealer.Seal(text, fileContext))
	return &SignedURL{URL: s.db.Options.PublicURL + "/files/" + token, ExpiresAt: f.ExpiresAt}, nil
}

// OpenFile returns the file of a signed URL's token, or CodeMissing. Expired says that its time is over: then the file
// is not returned. A token that was not made here tells nothing.
func (s *Store) OpenFile(token string) (file *File, expired bool, err error) {
	sealed, err := fileEncoding.DecodeString(token)
	if err != nil || fileEncoding.EncodeToString(sealed) != token { // decoding steps over line breaks
		return nil, false, core.Missing("file", "", "")
	}
	text, err := s.db.Options.Sealer.Open(sealed, fileContext)
	if err != nil {
		return nil, false, core.Missing("file", "", "")
	}
	file = &File{}
	if err := json.Unmarshal(text, file); err != nil {
		return nil, false, fmt.Errorf("read file token: %w", err)
	}
	if file.ExpiresAt <= s.Now() {
		return nil, true, nil
	}
	return file, false, nil
}
