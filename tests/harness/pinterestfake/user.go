package pinterestfake

// getUser answers with the account of whoever gave the token.
func (c *call) getUser() answer {
	return ok(Object{"id": c.user.id, "username": c.user.name, "business_name": "Shop of " + c.user.name})
}

// User returns the id and the name of whoever has a token.
func (n *Network) User(token string) (id, name string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.userOf(token).id, n.userOf(token).name
}
