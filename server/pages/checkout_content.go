package pages

import (
	"github.com/tillwright/tillwright/server/locale"
	"github.com/tillwright/tillwright/store/catalog"
)

// includedIn says what the buyer of a product by a price variant receives, empty for nothing.
func includedIn(l *locale.Locale, p *catalog.Product, v *catalog.PriceVariant) string {
	if p.Type == catalog.ProductTypeTip { // which gives nothing
		return ""
	}
	var parts []string
	if p.DeliveredFiles > 0 {
		parts = append(parts, l.T("includes.files", "count", p.DeliveredFiles))
	}
	if p.DeliveredKeys > 0 || v.License.V != nil && v.License.V.Enabled {
		parts = append(parts, l.T("includes.key"))
	}
	if p.DeliveredAccess > 0 {
		parts = append(parts, l.T("includes.access"))
	}
	if parts == nil {
		return ""
	}
	return l.T("includes.all", "what", l.List(parts...))
}
