package tiktokfake

import (
	"crypto/md5" //nolint:gosec // as TikTok
	"encoding/hex"
	"slices"
	"strings"
)

// people is an audience.
type people struct {
	about  Object
	hashes map[string]bool
	kind   string // of its files
}

// file is a file of people.
type file struct {
	kind   string
	hashes []string
}

// serveAudience serves audiences.
func (n *Network) serveAudience(r *request) (any, *refusal, bool) {
	var data any
	var e *refusal
	switch strings.TrimPrefix(r.operation[strings.Index(r.operation, " ")+1:], "dmp/custom_audience/") {
	case "file/upload":
		data, e = n.uploadFile(r)
	case "create":
		data, e = n.createList(r)
	case "update":
		data, e = n.updateList(r)
	case "rule/create":
		data, e = n.createRule(r)
	case "lookalike/create":
		data, e = n.createLookalike(r)
	case "get":
		data, e = n.getAudiences(r)
	case "list":
		data, e = n.listAudiences(r)
	case "delete":
		data, e = n.deleteAudiences(r)
	default:
		return nil, nil, false
	}
	return data, e, true
}

func (a *Account) audience(id string) *people {
	i := slices.IndexFunc(a.audiences, func(p *people) bool { return p.about.Text("audience_id") == id })
	if i < 0 {
		return nil
	}
	return a.audiences[i]
}

func (n *Network) uploadFile(r *request) (any, *refusal) {
	sum := md5.Sum(r.file) //nolint:gosec // as TikTok
	if hex.EncodeToString(sum[:]) != r.params.Text("file_signature") {
		return nil, invalid("file_signature: not that of the file.")
	}
	lines := strings.Split(string(r.file), "\n")
	for _, line := range lines {
		if !hash.MatchString(line) {
			return nil, invalid("file: %q is no hash.", line)
		}
	}
	path := "p" + n.id()[8:]
	r.account.files[path] = file{r.params.Text("calculate_type"), lines}
	return Object{"file_path": path}, nil
}

// filesOf returns the hashes of files, which are all of one kind (T18).
func (a *Account) filesOf(r *request, kind string) ([]string, *refusal) {
	var hashes []string
	for _, path := range r.params.Texts("file_paths") {
		f, known := a.files[path]
		if !known {
			return nil, invalid("file_paths: no such file.")
		}
		if f.kind != kind {
			return nil, broken("T18", "calculate_type: %s is not %s.", f.kind, kind)
		}
		hashes = append(hashes, f.hashes...)
	}
	if len(hashes) == 0 {
		return nil, invalid("file_paths: 1 to 500.")
	}
	return hashes, nil
}

// keep keeps a new audience.
func (n *Network) keep(r *request, kind string, hashes []string, about Object) (any, *refusal) {
	if e := checkName(r.params.Text("custom_audience_name"), 128); e != nil {
		return nil, e
	}
	p := &people{about: Object{
		"audience_id": "1" + n.id(), "name": r.params.Text("custom_audience_name"), "audience_type": kind, "is_valid": false, "cover_num": 0, "error_msg": "",
		"create_time": n.stamp(), "calculate_type": r.params.Text("calculate_type"),
	}, hashes: map[string]bool{}, kind: r.params.Text("calculate_type")}
	for name, value := range about {
		p.about[name] = value
	}
	for _, one := range hashes {
		p.hashes[one] = true
	}
	r.account.audiences = append(r.account.audiences, p)
	return Object{"custom_audience_id": p.about.Text("audience_id")}, nil
}

func (n *Network) createList(r *request) (any, *refusal) {
	hashes, e := r.account.filesOf(r, r.params.Text("calculate_type"))
	if e != nil {
		return nil, e
	}
	return n.keep(r, "Customer File Audience", hashes, nil)
}

func (n *Network) updateList(r *request) (any, *refusal) {
	p := r.account.audience(r.params.Text("custom_audience_id"))
	if p == nil || p.kind == "" {
		return nil, invalid("custom_audience_id: no such list.")
	}
	hashes, e := r.account.filesOf(r, p.kind)
	if e != nil {
		return nil, e
	}
	if action := r.params.Text("action"); action == "" || action == "REPLACE" {
		clear(p.hashes)
	}
	for _, one := range hashes {
		if r.params.Text("action") == "REMOVE" {
			delete(p.hashes, one)
		} else {
			p.hashes[one] = true
		}
	}
	return Object{}, nil
}

func (n *Network) createRule(r *request) (any, *refusal) {
	rules := objects(r.params.Object("rule_spec").Object("inclusion_rule_set")["rules"])
	if len(rules) == 0 {
		return nil, invalid("rules are needed.")
	}
	for _, one := range rules {
		for _, id := range one.Texts("event_source_ids") {
			if find(r.account.pixels, "pixel_id", id) == nil {
				return nil, invalid("event_source_ids: no such pixel.")
			}
		}
		if days := one.Number("retention_days"); len(one.Texts("event_source_ids")) == 0 || days < 1 || days > 180 {
			return nil, invalid("event_source_ids and retention_days are needed.")
		}
	}
	return n.keep(r, "Website Audience", nil, nil)
}

func (n *Network) createLookalike(r *request) (any, *refusal) {
	spec := r.params.Object("lookalike_spec")
	source := r.account.audience(spec.Text("source_audience_id"))
	if source == nil || source.about.Text("audience_type") == "Lookalike Audience" {
		return nil, broken("T18", "source_audience_id: no such audience, or a lookalike.")
	}
	if places := spec.Texts("placements"); len(places) != 1 || places[0] != "TikTok" || len(spec.Texts("location_ids")) == 0 {
		return nil, invalid("placements: TikTok.")
	}
	return n.keep(r, "Lookalike Audience", nil, Object{"lookalike_spec": spec})
}

func (n *Network) getAudiences(r *request) (any, *refusal) {
	list := []Object{}
	for _, id := range r.params.Texts("custom_audience_ids") {
		if p := r.account.audience(id); p != nil {
			list = append(list, Object{"audience_details": p.about, "audience_history": []Object{}})
		}
	}
	return Object{"list": list}, nil
}

func (n *Network) listAudiences(r *request) (any, *refusal) {
	var list []Object
	for _, p := range r.account.audiences {
		list = append(list, p.about)
	}
	return n.paged(r, list, 100)
}

func (n *Network) deleteAudiences(r *request) (any, *refusal) {
	for _, id := range r.params.Texts("custom_audience_ids") {
		if r.account.audience(id) == nil {
			return nil, invalid("custom_audience_ids: no such audience.")
		}
		r.account.audiences = slices.DeleteFunc(r.account.audiences, func(p *people) bool { return p.about.Text("audience_id") == id })
	}
	return Object{}, nil
}

// Settle ends the calculation of an audience, with a number of people or, if that is below 0, with an error.
func (n *Network) Settle(a *Account, id string, size int) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := a.audience(id)
	if size < 0 {
		p.about["error_msg"] = "The file cannot be read."
		return
	}
	p.about["is_valid"], p.about["cover_num"] = true, size
}
