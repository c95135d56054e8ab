package caller

import (
	"net/http"
	"net/url"
	"strings"
)

// NewForms returns what tells forms of our own pages from those that another site has a browser send. A proxy may ask us for another host than the
// browser did, or leave out its port. So what comes from the public URL of the server is ours, too; an empty one says nothing.
func NewForms(publicURL string) *http.CrossOriginProtection {
	forms := http.NewCrossOriginProtection()
	u, err := url.Parse(strings.ToLower(publicURL)) // as browsers write it
	if err != nil || u.Host == "" {
		return forms
	}
	if port := map[string]string{"http": ":80", "https": ":443"}[u.Scheme]; port != "" {
		u.Host = strings.TrimSuffix(u.Host, port)
	}
	if err := forms.AddTrustedOrigin(u.Scheme + "://" + u.Host); err != nil {
		return http.NewCrossOriginProtection()
	}
	return forms
}
