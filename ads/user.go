package ads

import (
	"slices"

	"github.com/tillwright/tillwright/store/advert"
)

// User is somebody to add to a customer list, as the caller knows them. It is kept in memory only: whatever leaves this
// package is hashed, and no message repeats a value.
type User struct {
	Email       string `json:"email,omitempty"`
	Phone       string `json:"phone,omitempty"`
	EmailSHA256 string `json:"email_sha256,omitempty"`
	PhoneSHA256 string `json:"phone_sha256,omitempty"`
	FirstName   string `json:"first_name,omitempty"`
	LastName    string `json:"last_name,omitempty"`
	City        string `json:"city,omitempty"`
	State       string `json:"state,omitempty"`
	Country     string `json:"country,omitempty"`
	Zip         string `json:"zip,omitempty"`
}

// HashedUsers are the users of an upload, hashed and ready to be stored and sent.
type HashedUsers struct {
	Members    []advert.Member // each identifier once, in the order of the users
	Accepted   int             // users with an identifier that no user before them had
	Duplicates int             // users all of whose identifiers came before
	Invalid    []InvalidUser
	Ignored    []string // fields that were given and that the network does not match
}

// InvalidUser says why a user cannot be added. Index is the user's place in the request.
type InvalidUser struct {
	Index   int    `json:"index"`
	Param   string `json:"param"` // the field at fault, such as email
	Message string `json:"message"`
}

// HashUsers brings the identifiers of users into the form that the network hashes, and hashes them. A hash that the
// caller made is taken as it is. A user with one wrong field is not added at all, because nobody would notice that half
// of somebody is missing.
func (c Caps) HashUsers(users []User) HashedUsers {
	var h HashedUsers
	seen := make(map[identity]bool, len(users))
	ignored := map[string]bool{}
	for i, user := range users {
		hashed, invalid := c.hashUser(user, ignored)
		if invalid != nil {
			invalid.Index = i
			h.Invalid = append(h.Invalid, *invalid)
			continue
		}
		h.add(i, hashed, seen)
	}
	for _, field := range append([]string{"email", "phone"}, userDetails...) {
		if ignored[field] {
			h.Ignored = append(h.Ignored, field)
		}
	}
	return h
}

// identity names a member: two members with the same kind and hash are the same one.
type identity struct {
	kind advert.Identifier
	hash string
}

// add keeps the identifiers of a user that no user before had, and counts the user as accepted or as a duplicate.
func (h *HashedUsers) add(index int, user hashedUser, seen map[identity]bool) {
	before := len(h.Members)
	for _, id := range user.identities {
		if !seen[id] {
			seen[id] = true
			h.Members = append(h.Members, advert.Member{Kind: id.kind, Hash: id.hash, Index: index, Details: user.details})
		}
	}
	if len(h.Members) == before {
		h.Duplicates++
		return
	}
	h.Accepted++
}

// hashedUser is what is kept of a user. The details are sent along with each of the identifiers.
type hashedUser struct {
	identities []identity
	details    map[string]string
}

// hashUser returns the hashes of a user that the network can use, or what is wrong with the user. It notes in ignored
// the fields that the network has no use for.
func (c Caps) hashUser(u User, ignored map[string]bool) (hashedUser, *InvalidUser) {
	var user hashedUser
	for _, id := range []identifier{{advert.IdentifierEmail, u.Email, u.EmailSHA256}, {advert.IdentifierPhone, u.Phone, u.PhoneSHA256}} {
		if id.isEmpty() {
			continue
		}
		if !slices.Contains(c.Users.Identifiers, id.kind) {
			ignored[string(id.kind)] = true
			continue
		}
		hash, invalid := id.hashed(c.Users.Phone)
		if invalid != nil {
			return hashedUser{}, invalid
		}
		user.identities = append(user.identities, identity{id.kind, hash})
	}
	if len(user.identities) == 0 {
		return hashedUser{}, c.noIdentifier()
	}
	details, invalid := c.hashDetails(u, ignored)
	user.details = details
	return user, invalid
}

// hashDetails returns the hashes of the fields that the network matches besides an identifier, or nil if none was sent.
// If one is wrong, it says which.
func (c Caps) hashDetails(u User, ignored map[string]bool) (map[string]string, *InvalidUser) {
	var details map[string]string
	for i, value := range []string{u.FirstName, u.LastName, u.City, u.State, u.Country, u.Zip} {
		field := userDetails[i]
		switch {
		case value == "":
			continue
		case !slices.Contains(c.Users.Details, field):
			ignored[field] = true
			continue
		}
		hash, invalid := hashDetail(field, value)
		if invalid != nil {
			return nil, invalid
		}
		if details == nil {
			details = map[string]string{}
		}
		details[field] = hash
	}
	return details, nil
}

// hashDetail returns the hash of a field of userDetails, or what is wrong with it. A hash is taken as it is.
func hashDetail(field, value string) (string, *InvalidUser) {
	if hash, ok := advert.GivenHash(value); ok {
		return hash, nil
	}
	plain, problem := advert.NormalizeDetail(field, value)
	if problem != "" {
		return "", &InvalidUser{Param: field, Message: problem}
	}
	return advert.HashOf(plain), nil
}

// noIdentifier returns the error for a user without any identifier that the network finds people by.
func (c Caps) noIdentifier() *InvalidUser {
	first := string(c.Users.Identifiers[0])
	message := "Send email or email_sha256."
	if len(c.Users.Identifiers) > 1 {
		message = "Send email, phone, email_sha256 or phone_sha256."
	}
	return &InvalidUser{Param: first, Message: message}
}
