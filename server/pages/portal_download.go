package pages

import (
	"errors"
	"net/http"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store/core"
	"github.com/tillwright/tillwright/store/grant"
)

// downloadTime is how long the address works to which a link of the portal leads. A download that began in time may take longer.
const downloadTime = 15 * time.Minute

// download is a file, with the link by which the customer gets it.
type download struct {
	Path string // below the overview, empty if the file is for buyers alone
	Name string
	Size string
	Left string // how often they may download it still, empty for any number

	Version string // in words
	IsNewer bool   // than the one that they downloaded
}

// newDownload returns the link of a version of a file by a grant, which may be "" for none. Had is the version that they downloaded, nil for none.
func newDownload(l *locale.Locale, grantID string, f *grant.File, version int64, had *int64) *download {
	d := &download{Name: f.Name, Size: fileSize(f.Size), Version: l.T("download.version", "number", version), IsNewer: had != nil && *had < version}
	if grantID != "" {
		d.Path = "/downloads/" + grantID + "/" + f.ID
	}
	return d
}

// limit says how often a file may be downloaded, nil for any number, and how often it was.
func (d *download) limit(l *locale.Locale, most, count *int64) {
	if most != nil {
		d.Left = l.T("download.left", "number", max(0, *most-core.Deref(count)), "limit", *most)
	}
}

// fileSize returns a number of bytes in words.
func fileSize(bytes int64) string { return humanize.IBytes(uint64(max(0, bytes))) }

// portalDownload sends a customer who presses the link of a file to the file. Only from there on it counts as a download. A grant that is over is
// 410, with the way back; one of somebody else is missing.
func (p *Pages) portalDownload(v *visit) error {
	ctx, account := v.ctx(), v.Session.AccountID
	g, err := p.store.Grant.GrantNamed(ctx, account, v.Param("grant"), "grant")
	if err != nil {
		return p.refuse(v, err)
	}
	if g.CustomerID != v.Customer.ID {
		return p.tell(v, http.StatusNotFound, missing(p.spoken(v)))
	}
	signed, err := p.store.GetGrantDownload(ctx, account, g.ID, v.Param("file"), downloadTime)
	if e, ok := errors.AsType[*core.Error](err); ok && e.Code == core.CodeInvalid {
		over := said(v.l, "message.download_over")
		over.Back, over.To = v.Home+v.Ask, v.l.T("portal.title")
		return p.tellAt(v, http.StatusGone, shopOf(v.Seller), over)
	}
	if err != nil {
		return p.refuse(v, err)
	}
	p.private(v)
	return v.Redirect(http.StatusSeeOther, signed.URL)
}
