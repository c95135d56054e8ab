package pages

import "time"

// BePatient lets the pages of a test wait for a document for as long as a busy machine may take.
func (p *Pages) BePatient() { p.documents.patience = 5 * time.Minute }
