package store

import "strings"

// Every order has a page that is its receipt, and every invoice one on which it can be paid. Their addresses open them to
// whoever has one, for ever: they name the object and its account, and carry a signature, so that nothing is stored for
// them and a rotated secret key keeps them.

// linked is a row, or what an event inlines, whose addresses follow from it.
type linked interface{ link(s *Store) }

func (o *Order) link(s *Store)   { o.ReceiptURL = s.pageURL("receipt", o.AccountID, o.ID) }
func (i *Invoice) link(s *Store) { i.HostedURL = s.pageURL("invoice", i.AccountID, i.ID) }

func (d *OrderDetail) link(s *Store)   { d.Order.link(s) }
func (d *InvoiceDetail) link(s *Store) { d.Invoice.link(s) }

func (s *Store) pageURL(page, account, id string) string {
	return s.options.PublicURL + "/" + page + "/" + s.pageToken(account, id)
}

// pageToken is the id, the account's without its prefix, and the signature, with underscores between.
func (s *Store) pageToken(account, id string) string {
	named := id + "_" + strings.TrimPrefix(account, KindAccount.Prefix())
	return named + "_" + tokenEncoding.EncodeToString(s.options.Sealer.Sign(pageContext+named))
}

const pageContext = "page\x00"

// OpenPage returns the account and the id that the token of a page names, or CodeMissing if it was not made here for an
// object of the kind.
func (s *Store) OpenPage(k Kind, token string) (account, id string, err error) {
	at := strings.LastIndexByte(token, '_')
	if at < 0 {
		return "", "", Missing("page", "", "")
	}
	named := token[:at]
	signature, err := tokenEncoding.DecodeString(token[at+1:])
	if err != nil || !s.options.Sealer.Signed(pageContext+named, signature) || tokenEncoding.EncodeToString(signature) != token[at+1:] {
		return "", "", Missing("page", "", "")
	}
	at = strings.LastIndexByte(named, '_')
	account, knownAccount := ParseID(KindAccount, KindAccount.Prefix()+named[at+1:])
	id, known := ParseID(k, named[:at])
	if !known || !knownAccount {
		return "", "", Missing("page", "", "")
	}
	return account, id, nil
}
