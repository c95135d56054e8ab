package signed

import (
	"strconv"
	"strings"
	"time"

	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/internal/db"
)

// Every order has a page that shows its receipt, and every invoice has one on which it can be paid. Whoever has the address of
// a page can open it. Addresses are not stored but computed when the row is read. They name the object and its account, the row's link version and
// the day on which they end. They carry a signature of all that. They go on working when the secret key is rotated, as long as the old key stays in
// the list. A row that is read later has an address that ends later, and raising the row's version ends all addresses that were made before.

const (
	// linkMonths is for how many months an address opens its page, at least. All addresses that are made in a month end
	// together, so that a row has the same one whenever it is read in that month.
	linkMonths = 6
	// linkRest is how long an address whose time is over still opens a row that was paid, or called off, only now. Whoever has just paid on the
	// page sees there that it is paid.
	linkRest = 30 * 24 * time.Hour
)

// bareLinksEnd is when the addresses end that programs before schema 43 made: they carry neither a version nor an end.
var bareLinksEnd = core.TimeOf(time.Date(2027, time.July, 1, 0, 0, 0, 0, time.UTC))

// PageURL returns the address of a page of a row. It ends with the month that is linkMonths after this one.
func PageURL(d *db.DB, page, account, id string, version int64) string {
	year, month, _ := d.Now().Time().UTC().Date()
	end := time.Date(year, month+linkMonths+1, 1, 0, 0, 0, 0, time.UTC)
	return d.Options.PublicURL + "/" + page + "/" + pageToken(d.Options.Sealer, account, id, version, end)
}

// pageToken returns the last part of a page's address, which has underscores between its parts. These are the object's id, the account's id
// without its prefix, the version, the day on which it ends, and the signature of all that. Version and day are in base 36, and the day is
// counted from 1970.
func pageToken(sealer *core.Sealer, account, id string, version int64, end time.Time) string {
	named := id + "_" + strings.TrimPrefix(account, core.KindAccount.Prefix()) + "_" +
		strconv.FormatInt(version, 36) + "_" + strconv.FormatInt(end.Unix()/secondsOfDay, 36)
	return named + "_" + core.TokenEncoding.EncodeToString(sealer.Sign(pageContext+named))
}

const (
	pageContext  = "page\x00"
	secondsOfDay = 24 * 60 * 60
)

// Page is what the token of a page says: which object of which account it opens, by which version, and until when.
type Page struct {
	Account, ID string
	version     int64
	end         core.Time
}

// ReadPage returns what the token of a page says. A token that this server has not signed, or that is for an object of another
// kind, is CodeMissing.
func (s *Store) ReadPage(k core.Kind, token string) (*Page, error) {
	missing := core.Missing("page", "", "")
	at := strings.LastIndexByte(token, '_')
	if at < 0 {
		return nil, missing
	}
	named := token[:at]
	signature, err := core.TokenEncoding.DecodeString(token[at+1:])
	if err != nil || !s.db.Options.Sealer.Signed(pageContext+named, signature) || core.TokenEncoding.EncodeToString(signature) != token[at+1:] {
		return nil, missing
	}
	parts := strings.Split(named, "_") // the prefix of the id, the id, the account, and since schema 43 the version and the end
	if len(parts) != 3 && len(parts) != 5 {
		return nil, missing
	}
	page := &Page{end: bareLinksEnd}
	var known, knownAccount bool
	page.ID, known = core.ParseID(k, parts[0]+"_"+parts[1])
	page.Account, knownAccount = core.ParseID(core.KindAccount, core.KindAccount.Prefix()+parts[2])
	if !known || !knownAccount {
		return nil, missing
	}
	if len(parts) == 5 {
		version, versionErr := strconv.ParseInt(parts[3], 36, 64)
		days, daysErr := strconv.ParseInt(parts[4], 36, 32)
		if versionErr != nil || daysErr != nil {
			return nil, missing
		}
		page.version, page.end = version, core.TimeOf(time.Unix(days*secondsOfDay, 0))
	}
	return page, nil
}

// Opens reports whether an address still opens a row that has this version. Settled is when nothing was left to be paid any more, nil if
// something still is. As long as that is so, the address has no end.
func (p *Page) Opens(version int64, settled *core.Time, now core.Time) bool {
	return p.version == version && (settled == nil || now < max(p.end, settled.Add(linkRest)))
}
