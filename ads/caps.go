package ads

import "github.com/tillwright/tillwright/store"

// Caps says what a network can do. Validation is driven by it.
type Caps struct {
	Platform store.Platform
}
