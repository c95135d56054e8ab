package conformance

import (
	"maps"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestMatch_FindsEachOperationByItsOwnPath(t *testing.T) {
	t.Parallel()
	for _, o := range Promised().Operations {
		path, want := o.Path, map[string]string{}
		for _, name := range o.PathParameters() {
			path, want[name] = strings.Replace(path, "{"+name+"}", "of_"+name, 1), "of_"+name
		}
		found, params := Promised().Match(o.Method, path)
		assert.Same(t, o, found, path)
		assert.True(t, maps.Equal(params, want), path)
		if found, _ := Promised().Match("PUT", path); found != nil {
			t.Errorf("PUT %s is taken for %s", path, found.ID)
		}
		if found, _ := Promised().Match(o.Method, path+"/of/no/operation"); found != nil {
			t.Errorf("a longer path is taken for %s", found.ID)
		}
		if len(want) == 0 {
			continue
		}
		if empty := strings.Replace(path, "of_"+o.PathParameters()[0], "", 1); empty != path {
			if found, _ := Promised().Match(o.Method, empty); found == o {
				t.Errorf("%s is taken for %s", empty, found.ID)
			}
		}
	}
}

func TestMakes_IsNotMisledByAnAnswerThatIsNoJSON(t *testing.T) {
	t.Parallel()
	d, err := Read([]byte(`{"openapi":"3.0.3","info":{"title":"t","version":"1"},"paths":{"/v1/things":{"post":{"operationId":"exportThings","responses":{
		"200":{"description":"The things.","content":{"text/csv":{"schema":{"type":"string"}}}}}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range d.Operations {
		if o.makes() {
			t.Errorf("%s is said to make objects", o.ID)
		}
	}
}

// A server in production is asked for no letter.
func TestHarmless_SendsNoLetter(t *testing.T) {
	t.Parallel()
	known := 0
	for _, o := range Promised().Operations {
		switch o.ID {
		case "createProductNews", "resendLetter", "resendOrderReceipt", "sendInvoice", "verifyPublicCheckoutEmail":
			known++
			assert.False(t, o.harmless(), o.ID)
		}
	}
	assert.Equal(t, 5, known)
}
