package ads

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/tests/harness/effort"
)

// sha256 of foo@foo.com.
const fooHash = "c3a4e32134f513530996852c6fa1b0856972414a2b993bc252f936a27c6cdf1a"

// hashOne hashes one user that must be sound.
func hashOne(t *testing.T, platform advert.Platform, user User) []advert.Member {
	t.Helper()
	h := CapsOf(platform).HashUsers([]User{user})
	require.Empty(t, h.Invalid)
	require.Equal(t, 1, h.Accepted)
	return h.Members
}

// paramOf returns what is wrong with a user, "" for nothing.
func paramOf(platform advert.Platform, user User) string {
	h := CapsOf(platform).HashUsers([]User{user})
	if len(h.Invalid) == 0 {
		return ""
	}
	return h.Invalid[0].Param
}

func TestHashUsers_HashesTheCanonicalEmail(t *testing.T) {
	t.Parallel()
	for _, platform := range advert.Platforms {
		for _, email := range []string{"foo@foo.com", "  foo@foo.com  ", "FOO@Foo.com", "\tfoo@foo.com\n"} {
			assert.Equal(t, []advert.Member{{Kind: advert.IdentifierEmail, Hash: fooHash}}, hashOne(t, platform, User{Email: email}), email)
		}
		for _, email := range []string{"TEST", "@foo.com", "foo@", "foo@foo@foo.com", "fo o@foo.com", " "} {
			assert.Equal(t, "email", paramOf(platform, User{Email: email}), email)
		}
	}
	dots, without := hashOne(t, advert.PlatformGoogle, User{Email: "f.oo@gmail.com"}), hashOne(t, advert.PlatformGoogle, User{Email: "foo@gmail.com"})
	assert.NotEqual(t, dots, without, "one form serves all networks")
}

func TestNormalizePhone_IsCanonicalPerNetwork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ text, digits, e164 string }{
		{"(123)-456-7890", "1234567890", ""},
		{"12345", "", ""},
		{"+1 (616) 954-78 88", "16169547888", "+16169547888"},
		{"  +49 30 1234567 ", "49301234567", "+49301234567"},
		{"0049 30 1234567", "0049301234567", "+49301234567"},
		{"16169547888", "16169547888", ""},
		{"+1234567890123456", "1234567890123456", ""},
		{"12345678901234567", "", ""},
		{"+0123456789", "0123456789", ""},
		{"call me 1234567", "", ""},
		{"", "", ""}, {"+", "", ""}, {"00", "", ""},
	} {
		got, problem := advert.NormalizePhone(c.text, PhoneDigits)
		assert.Equal(t, c.digits, got, c.text)
		assert.Equal(t, c.digits == "", problem != "", c.text)
		got, problem = advert.NormalizePhone(c.text, PhoneE164)
		assert.Equal(t, c.e164, got, c.text)
		assert.Equal(t, c.e164 == "", problem != "", c.text)
	}
}

func TestHashUsers_HashesThePhoneAsItsNetworkWritesIt(t *testing.T) {
	t.Parallel()
	user := User{Phone: "+1 (616) 954-78 88"}
	for platform, plain := range map[advert.Platform]string{
		advert.PlatformFacebook: "16169547888", advert.PlatformInstagram: "16169547888",
		advert.PlatformTikTok: "+16169547888", advert.PlatformGoogle: "+16169547888", advert.PlatformTwitter: "+16169547888",
	} {
		assert.Equal(t, []advert.Member{{Kind: advert.IdentifierPhone, Hash: advert.HashOf(plain)}}, hashOne(t, platform, user), platform)
	}
	for _, platform := range []advert.Platform{advert.PlatformPinterest, advert.PlatformLinkedIn} {
		assert.Equal(t, "email", paramOf(platform, user), "%s finds nobody by phone", platform)
	}
}

func TestNormalizeDetail_FollowsTheVectorsOfTheNetwork(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ field, text, want string }{
		{"zip", "98 121-9431", "98121"}, {"zip", "NR9 5AL", "nr95al"}, {"zip", "-", ""},
		{"city", "San José", "sanjosé"}, {"city", "Washington, D.C.", "washingtondc"}, {"city", "123", ""},
		{"state", " C.A. ", "ca"}, {"state", "New York", "newyork"},
		{"country", "Germany", ""}, {"country", " US ", "us"}, {"country", "de", "de"}, {"country", "ü", ""},
		{"first_name", "  Mary Ann ", "mary ann"}, {"last_name", "Straße", "straße"}, {"first_name", "  ", ""},
	} {
		got, problem := advert.NormalizeDetail(c.field, c.text)
		assert.Equal(t, c.want == "", problem != "", "%s %q", c.field, c.text)
		if problem == "" {
			assert.Equal(t, c.want, got, "%s %q", c.field, c.text)
		}
	}
}

func TestHashUsers_SendsDetailsAlongWhereTheyAreMatched(t *testing.T) {
	t.Parallel()
	user := User{Email: "foo@foo.com", FirstName: "Mary", LastName: "Smith", City: "San José", State: "CA", Country: "US", Zip: "98 121-9431"}
	member := hashOne(t, advert.PlatformFacebook, user)[0]
	assert.Equal(t, map[string]string{
		"first_name": advert.HashOf("mary"), "last_name": advert.HashOf("smith"), "city": advert.HashOf("sanjosé"), "state": advert.HashOf("ca"),
		"country": advert.HashOf("us"), "zip": advert.HashOf("98121"),
	}, member.Details)

	h := CapsOf(advert.PlatformGoogle).HashUsers([]User{user, user})
	assert.Equal(t, []string{"first_name", "last_name", "city", "state", "country", "zip"}, h.Ignored)
	assert.Nil(t, h.Members[0].Details)
	assert.Equal(t, "country", paramOf(advert.PlatformFacebook, User{Email: "foo@foo.com", Country: "Germany"}))
	assert.Empty(t, paramOf(advert.PlatformGoogle, User{Email: "foo@foo.com", Country: "Germany"}))
}

func TestHashUsers_TakesTheCallersHashes(t *testing.T) {
	t.Parallel()
	want := []advert.Member{{Kind: advert.IdentifierEmail, Hash: fooHash}, {Kind: advert.IdentifierPhone, Hash: strings.Repeat("ab", 32)}}
	for _, email := range []string{fooHash, strings.ToUpper(fooHash)} {
		assert.Equal(t, want, hashOne(t, advert.PlatformTikTok, User{EmailSHA256: email, PhoneSHA256: strings.Repeat("ab", 32)}))
	}
	assert.Len(t, hashOne(t, advert.PlatformTikTok, User{Email: "foo@foo.com", EmailSHA256: fooHash}), 1)
	for _, bad := range []string{"abc", fooHash + "0", fooHash[:63], "g" + fooHash[1:], " " + fooHash[1:]} {
		assert.Equal(t, "email_sha256", paramOf(advert.PlatformTikTok, User{EmailSHA256: bad}), bad)
		assert.Equal(t, "phone_sha256", paramOf(advert.PlatformTikTok, User{Email: "foo@foo.com", PhoneSHA256: bad}), bad)
	}
	assert.Equal(t, "email_sha256", paramOf(advert.PlatformTikTok, User{Email: "bar@foo.com", EmailSHA256: fooHash}))
}

func TestHashUsers_TakesAHashForAnyField(t *testing.T) {
	t.Parallel()
	phone, name := strings.Repeat("ab", 32), strings.Repeat("0c", 32)
	want := []advert.Member{{Kind: advert.IdentifierEmail, Hash: fooHash}, {Kind: advert.IdentifierPhone, Hash: phone}}
	assert.Equal(t, want, hashOne(t, advert.PlatformTikTok, User{Email: " " + strings.ToUpper(fooHash), Phone: phone}))
	member := hashOne(t, advert.PlatformFacebook, User{Email: fooHash, EmailSHA256: fooHash, FirstName: name, Country: name})[0]
	assert.Equal(t, advert.Member{Kind: advert.IdentifierEmail, Hash: fooHash, Details: map[string]string{"first_name": name, "country": name}}, member)
	assert.Equal(t, "email_sha256", paramOf(advert.PlatformTikTok, User{Email: phone, EmailSHA256: fooHash}))
	for _, bad := range []string{fooHash[:63], fooHash + "0", "g" + fooHash[1:]} {
		assert.Equal(t, "email", paramOf(advert.PlatformTikTok, User{Email: bad}), bad)
	}
}

func TestHashUsers_CountsEachUserOnce(t *testing.T) {
	t.Parallel()
	h := CapsOf(advert.PlatformFacebook).HashUsers([]User{
		{Email: "foo@foo.com"},
		{},
		{Email: "FOO@foo.com"},
		{Email: "foo@foo.com", Phone: "+16169547888"},
		{Phone: "12345"},
		{Phone: "16169547888", Email: "foo@foo.com"},
		{FirstName: "Mary"},
	})
	assert.Equal(t, 2, h.Accepted, "the second one has a new phone number")
	assert.Equal(t, 2, h.Duplicates)
	assert.Equal(t, []advert.Member{
		{Kind: advert.IdentifierEmail, Hash: fooHash, Index: 0},
		{Kind: advert.IdentifierPhone, Hash: advert.HashOf("16169547888"), Index: 3},
	}, h.Members)
	var invalid []string
	for _, user := range h.Invalid {
		invalid = append(invalid, fmt.Sprint(user.Index, " ", user.Param))
	}
	assert.Equal(t, []string{"1 email", "4 phone", "6 email"}, invalid)
}

func TestHashUsers_KeepsNothingPlain(t *testing.T) {
	t.Parallel()
	secret := "sesame"
	users := []User{
		{Email: secret}, {Email: secret + "@foo.com"}, {Phone: secret}, {EmailSHA256: secret}, {PhoneSHA256: secret},
		{Email: secret + "@foo.com", EmailSHA256: fooHash}, {FirstName: secret}, {Email: "a@foo.com", Country: secret, City: secret},
		{Email: "b@foo.com", FirstName: secret, LastName: secret, City: secret, State: secret, Zip: secret},
	}
	for _, platform := range advert.Platforms {
		assert.NotContains(t, fmt.Sprintf("%+v", CapsOf(platform).HashUsers(users)), secret, platform)
	}
}

func TestHashUsers_Hashes10000UsersInNoTime(t *testing.T) {
	t.Parallel()
	users := make([]User, 10_000)
	for i := range users {
		users[i] = User{
			Email: fmt.Sprintf(" Buyer.%d@Example.com ", i), Phone: fmt.Sprintf("+1 (555) %07d", i),
			FirstName: "Mary", LastName: "Smith", City: "San José", Country: "US", Zip: "98121",
		}
	}
	took := effort.Of(func() {
		h := CapsOf(advert.PlatformFacebook).HashUsers(users)
		require.Equal(t, 10_000, h.Accepted)
		require.Len(t, h.Members, 20_000)
	})
	assert.Less(t, took, 10*time.Second) // the race detector has its part in it
}
