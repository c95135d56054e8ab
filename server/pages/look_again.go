package pages

import (
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"
)

// After how many seconds a page looks again at what changes by itself. Where there is a link to press, its reader gets more time for that.
const (
	lookAgain     = 3
	lookAgainLink = 15
)

// again returns after how many seconds the page of a payment in a state looks again, 0 for never. The buyer may answer their bank in another tab.
// A page that sends its buyer on at once, to the address forward, does not look again. On the page of a test card the buyer is the bank.
func again(state, forward string) int {
	switch {
	case forward != "":
		return 0
	case state == "processing":
		return lookAgain
	case state == "elsewhere":
		return lookAgainLink
	}
	return 0
}

// isLate reports whether a form came when a payment was under way already. Its page answers then, which looks again: at the form's address is none.
func isLate(c echo.Context, state string) bool {
	return c.Request().Method == http.MethodPost && again(state, "") > 0
}

// againLater returns after how many seconds a page that is refused for a while looks again, 0 for never. So a page that waits for a bank goes on
// waiting when one of its looks met a server with too much to do. No form is sent again.
func againLater(c echo.Context) int {
	wait, err := strconv.Atoi(c.Response().Header().Get(echo.HeaderRetryAfter))
	if err != nil || c.Request().Method != http.MethodGet {
		return 0
	}
	return max(wait, lookAgainLink)
}
