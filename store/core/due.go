package core

// Due names an object for which something may have to be done by now. It is only a candidate: somebody else may have done it
// already, which shows once the object is locked.
type Due struct {
	AccountID string `db:"account_id"`
	ID        string `db:"id"`
}
