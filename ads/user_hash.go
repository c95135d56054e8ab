package ads

import (
	"strings"

	"github.com/tillwright/tillwright/store/advert"
)

// userDetails are the fields that a network may match besides an identifier, in the order of User.
var userDetails = []string{"first_name", "last_name", "city", "state", "country", "zip"}

// identifier is an email address or a phone number of a user: plain, hashed by the caller, or both.
type identifier struct {
	kind        advert.Identifier
	plain, hash string
}

func (i identifier) isEmpty() bool { return i.plain == "" && i.hash == "" }

// hashed returns the hash of the identifier, or what is wrong with it. If it was sent plain and hashed, the two must
// agree. A hash in the plain field is taken as a hash.
func (i identifier) hashed(form PhoneForm) (string, *InvalidUser) {
	given := strings.ToLower(i.hash)
	param := string(i.kind) + "_sha256"
	if given != "" && !advert.IsSHA256(given) {
		return "", &InvalidUser{Param: param, Message: "A SHA-256 has 64 hexadecimal digits."}
	}
	if i.plain == "" {
		return given, nil
	}
	hash, ok := advert.GivenHash(i.plain)
	if !ok {
		plain, problem := i.normalized(form)
		if problem != "" {
			return "", &InvalidUser{Param: string(i.kind), Message: problem}
		}
		hash = advert.HashOf(plain)
	}
	if given != "" && given != hash {
		return "", &InvalidUser{Param: param, Message: "This is not the hash of the " + string(i.kind) + " beside it. Send one of them."}
	}
	return hash, nil
}

// normalized returns the plain identifier in the form that the network hashes, or what is wrong with it.
func (i identifier) normalized(form PhoneForm) (plain, problem string) {
	if i.kind == advert.IdentifierEmail {
		return advert.NormalizeEmail(i.plain)
	}
	return advert.NormalizePhone(i.plain, form)
}
