package payments

import "slices"

// Registry holds the providers of a server by name, guarded as by Outside. Which one a payment begins with is a setting of the
// account; the payment itself remembers which one it goes on with. A Registry never changes.
type Registry struct {
	providers map[string]Provider
	notifiers map[string]Notifier
	testers   map[string]Tester
	names     []string
}

// NewRegistry returns a Registry of these providers.
func NewRegistry(providers ...Provider) *Registry {
	r := &Registry{providers: map[string]Provider{}, notifiers: map[string]Notifier{}, testers: map[string]Tester{}}
	for _, p := range providers {
		r.names = append(r.names, p.Name())
		r.providers[p.Name()] = Outside(p)
		if n, ok := p.(Notifier); ok {
			r.notifiers[p.Name()] = n
		}
		if t, ok := p.(Tester); ok {
			r.testers[p.Name()] = outsideTester{t}
		}
	}
	return r
}

// Provider returns the provider of a name, and whether there is one.
func (r *Registry) Provider(name string) (Provider, bool) {
	p, ok := r.providers[name]
	return p, ok
}

// Notifier returns the provider of a name that sends notifications, and whether there is one.
func (r *Registry) Notifier(name string) (Notifier, bool) {
	n, ok := r.notifiers[name]
	return n, ok
}

// Tester returns the provider of a name that moves no money, and whether there is one.
func (r *Registry) Tester(name string) (Tester, bool) {
	t, ok := r.testers[name]
	return t, ok
}

// Names returns the names of all providers, in the order that NewRegistry was given.
func (r *Registry) Names() []string { return slices.Clone(r.names) }
