package metafake

import "encoding/json"

// SetReach makes Meta guess how many people a targeting reaches. Without it nobody knows yet.
func (f *Fake) SetReach(lower, upper int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bounds = &[2]int64{lower, upper}
}

// reach guesses how many people a targeting reaches. The targeting needs a place and must not name what is no more: rules G1 and G5.
func (f *Fake) reach(r *request) (any, *Error) {
	var t targeting
	if r.decode("targeting_spec", &t); len(t.Geo) < len("{}")+1 || !json.Valid(t.Geo) {
		return nil, broken("G1", 1885364, "Choose at least one place.")
	}
	if e := t.checkRetired(); e != nil {
		return nil, e
	}
	if f.bounds == nil {
		return map[string]any{"data": map[string]any{"users_lower_bound": -1, "users_upper_bound": -1, "estimate_ready": false}}, nil
	}
	return map[string]any{"data": map[string]any{"users_lower_bound": f.bounds[0], "users_upper_bound": f.bounds[1], "estimate_ready": true}}, nil
}
