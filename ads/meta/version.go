package meta

import (
	"fmt"
	"time"
)

// DefaultVersion is the version of the Graph API that this driver was tested with.
const DefaultVersion = "v26.0"

// ends says when Meta's Marketing API stops answering in a version. That of v24.0 was a year after it had come, long before the Graph API ends it.
// Where Meta has not told the end of a version, the same is taken. From the changelog, "Versions".
var ends = map[string]string{
	"v21.0": "2025-10-02", "v22.0": "2026-01-21", "v23.0": "2026-05-29", "v24.0": "2026-10-06", "v25.0": "2027-02-18", "v26.0": "2027-07-29",
}

// warningDays is how long before its end a version is warned of.
const warningDays = 90

// Warning returns a sentence about the end of a version, from 90 days before it, and "" otherwise.
func Warning(version string, now time.Time) string {
	end, err := time.Parse(time.DateOnly, ends[version])
	if err != nil || now.Before(end.AddDate(0, 0, -warningDays)) {
		return ""
	}
	return fmt.Sprintf("Meta's API %s ends about %s: set TILLWRIGHT_META_VERSION to a newer one, or update the program.", version, end.Format(time.DateOnly))
}
