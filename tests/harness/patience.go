package harness

import "time"

// Patience is how long a test waits for what must come. It is no limit for anything. A machine that is ten times slower is through in time, even where it
// first waits for the end of a claim.
const Patience = 5 * time.Minute
