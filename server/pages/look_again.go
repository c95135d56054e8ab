package pages

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
