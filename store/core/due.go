package core

// Due names something that somebody may have to do by now. It is a candidate: what it is by then shows under its lock.
type Due struct {
	AccountID string `db:"account_id"`
	ID        string `db:"id"`
}
