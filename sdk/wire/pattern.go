package wire

// PatternWords says in words which texts a pattern of the document takes, as the end of "must be". It is the pattern itself if nobody has put it
// into words.
func PatternWords(pattern string) string {
	if words := patternWords(pattern); words != "" {
		return words
	}
	return "text that matches " + pattern
}

func patternWords(pattern string) string {
	switch pattern {
	case `^[a-z]{3}$`:
		return "three lower-case letters"
	case `^[A-Z]{2}$`:
		return "two capital letters"
	case `^[A-Za-z]{2}$`:
		return "two letters"
	case `^[A-Z0-9]{3,12}$`:
		return "3 to 12 capital letters and digits"
	case `^[a-z][a-z0-9_]{0,39}$`:
		return "1 to 40 lower-case letters, digits and underscores, the first a letter"
	case `^[a-z0-9](-?[a-z0-9])*$`:
		return "lower-case letters and digits, with single hyphens between them, such as summer-sale"
	case `^[A-Za-z0-9_-]+$`:
		return "letters, digits, hyphens and underscores"
	case `^[A-Za-z0-9._~=-]+$`:
		return "letters, digits and . _ ~ = -"
	case `^[ -~]*$`:
		return "printable ASCII characters"
	case `\S`:
		return "text that is not only white space"
	case `^#[0-9a-fA-F]{6}$`:
		return "a # and six hexadecimal digits, such as #1f6feb"
	case `^[0-9a-f]{64}$`:
		return "64 hexadecimal digits in lower case"
	case `^[A-Za-z]{2,3}(-[A-Za-z0-9]{1,8})*$`:
		return "a language tag such as en or pt-BR"
	case `^[^@\s]+@[^@\s]+$`:
		return "an e-mail address"
	case `^https?://[^\s/?#]\S*$`:
		return "a URL that begins with http:// or https:// and has no spaces"
	case `^https?://[^\s/?#@]+([/?#]\S*)?$`:
		return "a URL that begins with http:// or https://, without spaces and without a user name"
	case `^https://[^\s/?#]\S*$`:
		return "a URL that begins with https:// and has no spaces"
	case `^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z][a-z0-9-]{0,61}[a-z0-9]$`:
		return "a host name in lower case, such as shop.example.com"
	case `^[^/\s]+/[^/\s]+$`:
		return "two names with a slash between them, such as ada/shop"
	case `^[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*/[A-Za-z0-9][A-Za-z0-9!#$&^_.+-]*$`:
		return "a media type without parameters, such as application/pdf"
	case `^pk_(test|live)_[A-Za-z0-9_]{4,240}$`:
		return "a publishable key of Stripe, which begins with pk_test_ or pk_live_"
	case `^(sk|rk)_(test|live)_[A-Za-z0-9_]{4,240}$`:
		return "a secret or restricted key of Stripe, which begins with sk_ or rk_"
	case `^whsec_[A-Za-z0-9+/=_-]{4,240}$`:
		return "the signing secret of a Stripe webhook endpoint, which begins with whsec_"
	}
	return ""
}
