package grant

import (
	"context"

	"github.com/tillwright/tillwright/store/internal/db"
)

// Delivery is something that a grant opens, as its customer sees it.
type Delivery struct {
	Deliverable
	GrantID   string
	ProductID string
	Key       *string // the text of a licence key, once there is one; nil too if no secret key opens it
}

// Deliveries returns what active grants, that were read with what they open, open to their customer: of each grant in the order of the
// product. It takes one statement if there are licence keys, however many, and none otherwise.
func (s *Store) Deliveries(ctx context.Context, account string, grants []Grant) ([]Delivery, error) {
	var all []Delivery
	var ids []string
	for i := range grants {
		if grants[i].StatusNow() != StatusActive {
			continue
		}
		for _, d := range grants[i].Deliverables {
			all = append(all, Delivery{Deliverable: d, GrantID: grants[i].ID, ProductID: grants[i].ProductID})
			if d.LicenseKey != nil {
				ids = append(ids, *d.LicenseKey)
			}
		}
	}
	keys, err := db.ByID(ctx, s.db, licenseKeyColumns, account, ids)
	if err != nil {
		return nil, err
	}
	for i := range all {
		if all[i].LicenseKey == nil || keys[*all[i].LicenseKey] == nil {
			continue
		}
		k := keys[*all[i].LicenseKey]
		if all[i].Key, err = s.text(k); err != nil {
			return nil, err
		}
	}
	return all, nil
}
