package contract

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/tillwright/tillwright/sdk"
	"github.com/tillwright/tillwright/tests/harness"
)

// on is what a program shows to have a key made active on a device.
func on(k *sdk.LicenseKey, device string) *sdk.LicenseKeyActivate {
	return &sdk.LicenseKeyActivate{Key: *k.Key, Product: k.Product.ID, Fingerprint: device}
}

func TestActivateLicenseKey_TakesAPlaceOnce(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		k := license(t, c, program(t, c), 1)
		first := on(k, "mac")
		first.Name, first.Metadata = new("Ada's laptop"), &sdk.Metadata{"os": "mac"}
		made := ok[*sdk.LicenseActivation](t)(c.LicenseKeys.Activate(background, first))
		assert.Equal(t, k.ID, made.LicenseKey, "the activation")
		assert.Equal(t, "Ada's laptop", *made.Name, "the activation")
		require.NotNil(t, made.Token, "the activation")
		assert.Equal(t, "mac", made.Metadata["os"], "the activation")
		again := ok[*sdk.LicenseActivation](t)(c.LicenseKeys.Activate(background, on(k, "mac")))
		assert.Equal(t, made.ID, again.ID, "the same device")
		assert.Equal(t, "Ada's laptop", *again.Name, "the same device")
		assert.NotNil(t, again.Token, "the same device")
		_, err := c.LicenseKeys.Activate(background, on(k, "windows"))
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "activation_limit")
		_, err = c.LicenseKeys.Update(background, k.ID, &sdk.LicenseKeyUpdate{ActivationLimit: sdk.Set(int64(0))})
		refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "activation_limit")
		validate := &sdk.LicenseKeyValidate{Key: *k.Key, Product: k.Product.ID, Fingerprint: new("windows")}
		v := ok[*sdk.LicenseValidation](t)(c.LicenseKeys.Validate(background, validate))
		assert.EqualValues(t, "not_activated", v.Code, "the validation")
		require.Nil(t, v.Activation, "the validation")
		assert.Nil(t, v.Token, "the validation")
		gone := ok[*sdk.Deleted](t)(c.LicenseKeys.Deactivate(background, &sdk.LicenseKeyDeactivate{Key: *k.Key, Product: k.Product.ID, Fingerprint: new("mac")}))
		if gone.ID != made.ID {
			t.Errorf("%s was deactivated, not %s", gone.ID, made.ID)
		}
		other := ok[*sdk.LicenseActivation](t)(c.LicenseKeys.Activate(background, on(k, "windows")))
		list := ok[*sdk.LicenseActivationList](t)(c.LicenseKeys.ListActivations(background, k.ID, nil)).Data
		require.Len(t, list, 1, "the activations")
		assert.Equal(t, other.ID, list[0].ID, "the activations")
		assert.Nil(t, list[0].Token, "the activations")
		ok[*sdk.Deleted](t)(c.LicenseKeys.DeleteActivation(background, k.ID, other.ID))
		got := ok[*sdk.LicenseKey](t)(c.LicenseKeys.Get(background, k.ID))
		assert.Zero(t, got.ActivationsCount, "the key")
		assert.NotNil(t, got.LastValidatedAt, "the key")
	})
}

func TestActivateLicenseKey_OfManyAtOnceOneGetsTheLastPlace(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		k := license(t, c, program(t, c), 2)
		ok[*sdk.LicenseActivation](t)(c.LicenseKeys.Activate(background, on(k, "first")))
		const programs = 20
		results := make(chan error, programs)
		var all sync.WaitGroup
		for i := range programs {
			all.Go(func() {
				_, err := c.LicenseKeys.Activate(background, on(k, "device "+string(rune('a'+i))))
				results <- err
			})
		}
		all.Wait()
		won := 0
		for range programs {
			if err := <-results; err == nil {
				won++
			} else {
				refused(t, err, http.StatusUnprocessableEntity, "validation_failed", "activation_limit")
			}
		}
		got := ok[*sdk.LicenseKey](t)(c.LicenseKeys.Get(background, k.ID)).ActivationsCount
		assert.Equal(t, 1, won)
		assert.EqualValues(t, 2, got)
	})
}

func TestActivateLicenseKey_OfOneDeviceAtOnceIsOneActivation(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		k := license(t, c, program(t, c), 1)
		ids := make(chan string, 20)
		var all sync.WaitGroup
		for range cap(ids) {
			all.Go(func() {
				a, err := c.LicenseKeys.Activate(background, on(k, "mac"))
				if err != nil {
					t.Error(err)
					return
				}
				ids <- a.ID
			})
		}
		all.Wait()
		close(ids)
		first := <-ids
		for id := range ids {
			if id != first {
				t.Errorf("the device has the activations %s and %s", first, id)
			}
		}
	})
}

func TestLicenseKey_OfAnotherProductOrAccountIsUnknown(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, s *harness.Server) {
		theirs := s.SDK(t)
		product, other := program(t, c), program(t, c)
		foreign := license(t, theirs, program(t, theirs), 1)
		mine := license(t, c, other, 1)
		ok[*sdk.LicenseActivation](t)(theirs.LicenseKeys.Activate(background, on(foreign, "mac")))
		ok[*sdk.LicenseActivation](t)(c.LicenseKeys.Activate(background, on(mine, "mac")))
		var answers []string
		for _, key := range []string{"AAAAA-AAAAA", *mine.Key, *foreign.Key} {
			v := ok[*sdk.LicenseValidation](t)(c.LicenseKeys.Validate(background, &sdk.LicenseKeyValidate{Key: key, Product: product, Fingerprint: new("mac")}))
			assert.False(t, v.Valid, "the validation")
			assert.EqualValues(t, "not_found", v.Code, "the validation")
			require.Nil(t, v.LicenseKey, "the validation")
			require.Nil(t, v.Activation, "the validation")
			assert.Nil(t, v.Token, "the validation")
			_, err := c.LicenseKeys.Activate(background, &sdk.LicenseKeyActivate{Key: key, Product: product, Fingerprint: "mac"})
			answers = append(answers, refused(t, err, http.StatusNotFound, "resource_missing", "key").Message)
			_, err = c.LicenseKeys.Deactivate(background, &sdk.LicenseKeyDeactivate{Key: key, Product: product, Fingerprint: new("mac")})
			answers = append(answers, refused(t, err, http.StatusNotFound, "resource_missing", "key").Message)
		}
		for _, answer := range answers {
			if answer != answers[0] {
				t.Errorf("one is answered %q, another %q", answers[0], answer)
			}
		}
	})
}

// TestLicenseToken_IsCheckedByAnotherLibrary has go-jose check what the server signed, by the key that it publishes.
func TestLicenseToken_IsCheckedByAnotherLibrary(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		product := program(t, c)
		k := license(t, c, product, 3)
		before := *ok[*sdk.LicenseActivation](t)(c.LicenseKeys.Activate(background, on(k, "mac"))).Token
		ok[*sdk.LicenseSigningKey](t)(c.LicenseKeys.CreateSigningKey(background))
		after := *ok[*sdk.LicenseValidation](t)(c.LicenseKeys.Validate(background, &sdk.LicenseKeyValidate{Key: *k.Key, Product: product, Fingerprint: new("mac")})).Token
		signing := ok[*sdk.LicenseSigningKeyList](t)(c.LicenseKeys.ListSigningKeys(background, nil)).Data
		if len(signing) != 2 {
			t.Fatalf("the signing keys are %+v", signing)
		}
		for token, published := range map[string]sdk.LicenseSigningKey{before: signing[1], after: signing[0]} {
			text, err := json.Marshal(published.Jwk)
			var jwk jose.JSONWebKey
			require.NoError(t, err)
			require.NoError(t, jwk.UnmarshalJSON(text))
			require.True(t, jwk.Valid())
			require.True(t, jwk.IsPublic())
			signed, err := jose.ParseSignedCompact(token, []jose.SignatureAlgorithm{jose.EdDSA})
			if err != nil {
				t.Fatal(err)
			}
			kid := signed.Signatures[0].Header.KeyID
			assert.Equal(t, published.Kid, kid)
			assert.Equal(t, jwk.KeyID, kid)
			payload, err := signed.Verify(jwk)
			var claims map[string]any
			require.NoError(t, err)
			require.NoError(t, json.Unmarshal(payload, &claims))
			assert.Equal(t, k.ID, claims["sub"], "the token")
			assert.Equal(t, product, claims["prd"], "the token")
			assert.Equal(t, "mac", claims["fpr"], "the token")
			assert.True(t, strings.HasPrefix(claims["iss"].(string), "acct_"), "the token")
			if days := (claims["exp"].(float64) - claims["iat"].(float64)) / 86400; days != 30 {
				t.Errorf("the token lasts %v days", days)
			}
			l, err := sdk.VerifyLicense(token, published.Jwk.X, "mac")
			require.NoError(t, err)
			assert.Equal(t, product, l.Product)
			assert.Equal(t, k.ID, l.LicenseKey)
			altered := token[:len(token)-10] + "AAAA" + token[len(token)-6:]
			if other, err := jose.ParseSignedCompact(altered, []jose.SignatureAlgorithm{jose.EdDSA}); err == nil {
				if _, err := other.Verify(jwk); err == nil {
					t.Error("an altered token is good to go-jose")
				}
			}
			if _, err := sdk.VerifyLicense(altered, published.Jwk.X, "mac"); !errors.Is(err, sdk.ErrBadLicense) {
				t.Errorf("an altered token is %v", err)
			}
		}
		if _, err := sdk.VerifyLicense(after, signing[1].Jwk.X, "mac"); !errors.Is(err, sdk.ErrBadLicense) {
			t.Errorf("a token of the new key is %v to the old one", err)
		}
	})
}

func TestLicenseToken_EndsWithItsKey(t *testing.T) {
	onEach(t, func(t *testing.T, c *sdk.Client, _ *harness.Server) {
		ends := time.Now().Add(48 * time.Hour).UTC().Truncate(time.Second)
		k := ok[*sdk.LicenseKey](t)(c.LicenseKeys.Create(background, &sdk.LicenseKeyCreate{Product: program(t, c), ExpiresAt: new(sdk.TimeOf(ends))}))
		token := *ok[*sdk.LicenseActivation](t)(c.LicenseKeys.Activate(background, on(k, "mac"))).Token
		x := ok[*sdk.LicenseSigningKeyList](t)(c.LicenseKeys.ListSigningKeys(background, nil)).Data[0].Jwk.X
		if l := ok[*sdk.License](t)(sdk.VerifyLicense(token, x, "mac")); !l.ExpiresAt.Equal(ends) {
			t.Errorf("the key ends at %s, its token at %s", ends, l.ExpiresAt)
		}
	})
}
