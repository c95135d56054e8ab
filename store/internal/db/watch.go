package db

import "context"

// Watch has look called once in the request of ctx, in its transaction and just before the first statement of it that may change
// something. Use cases lock what they change before they change it. So look finds it as it was, and nobody else changes it any more. An error of look
// is that statement's. What look reads is not the request's: a refusal of a use case in it undoes nothing.
func Watch(ctx context.Context, look func(context.Context) error) {
	r := requestOf(ctx)
	if r.watched = true; !r.looked {
		r.look, r.changed = look, false
	}
}

// IsWatched reports whether ctx is that of a request for which Watch was called.
func IsWatched(ctx context.Context) bool {
	r := requestOf(ctx)
	return r != nil && r.watched
}

// HasChanged reports whether the request of ctx has changed a row since Watch.
func HasChanged(ctx context.Context) bool { return requestOf(ctx).changed }

// beforeChange is called before a statement that may change something.
func (u *Unit) beforeChange(ctx context.Context) error {
	r := u.request
	if r.look == nil {
		return nil
	}
	look := r.look
	r.look, r.looked = nil, true
	failed := r.failed
	err := look(context.WithValue(ctx, requestKey{}, r))
	r.failed = failed
	return err
}

// noteChange notes that so many rows were changed; AnyRows may have been.
func (u *Unit) noteChange(rows int64) { u.request.changed = u.request.changed || rows != 0 }

// Unnoted runs fn, and HasChanged does not count what it changes: for what a request leaves behind that nobody asks about.
func Unnoted(ctx context.Context, fn func() error) error {
	r := requestOf(ctx)
	if r == nil {
		return fn()
	}
	changed := r.changed
	defer func() { r.changed = changed }()
	return fn()
}

// forgetChanges makes a request that is run again begin anew with what Watch and HasChanged are about, unless a step has committed.
func (r *request) forgetChanges() {
	if !r.stepped {
		r.look, r.looked, r.changed = nil, false, false
	}
}
