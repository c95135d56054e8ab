package pages

import (
	"context"
	"sync/atomic"
	"time"
)

// BePatient lets the pages of a test wait for a document for as long as a busy machine may take.
func (p *Pages) BePatient() { p.documents.patience, p.sites.patience = 5*time.Minute, 5*time.Minute }

// CountSites counts the pages of sites that are made from now on.
func (p *Pages) CountSites() *atomic.Int64 {
	made, write := new(atomic.Int64), p.sites.write
	p.sites.write = func(ctx context.Context, page sitePage) ([]byte, error) {
		made.Add(1)
		return write(ctx, page)
	}
	return made
}
