package ads_test

import (
	"context"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/tillwright/tillwright/ads"
	"github.com/tillwright/tillwright/store/advert"
)

// watch counts what networks are asked, and can answer in their place.
type watch struct {
	mu     sync.Mutex
	calls  map[string]int
	report [][]string       // the ids of each report
	named  [][]ads.MadeName // whose names were to be tidied
	left   []advert.Member  // who was to leave an audience
	// answer is asked before each write; an error is what the network says then.
	answer func(call string) error
	syncs  atomic.Int64 // stretches that were asked for
	// stretch is asked before each stretch of a walk, if it is set; an error is what the network says then. Stretches are
	// of one campaign.
	stretch func(adAccount, cursor string) error
	// hold is called with what a report has to end by.
	hold func(context.Context)
	// switching is called before and after each switch, if it is set.
	switching func(to advert.Configured, done bool)
	// reply is called when a write has taken place, before its answer, if it is set.
	reply func()
	// lose makes the answer to a write get lost: it takes place.
	lose atomic.Bool
	// die makes the process end when a write has taken place, as far as a panic is an end.
	die atomic.Bool
	// naive makes networks call active what is on, whatever became of the ads in it.
	naive atomic.Bool
	// late makes a write answer nothing, and take place when it arrives.
	late    atomic.Bool
	waiting []func()
	// below makes networks tell of bids with ad groups alone.
	below atomic.Bool
	// empty makes a series have nothing.
	empty atomic.Bool
	// first is what each token has made: a Create that is sent again gets the same answer. Nil ends it.
	first map[string]ads.Created
	// mute makes networks turn switches without telling how things stand afterwards.
	mute atomic.Bool
}

func (w *watch) count(call string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[call]++
	if w.answer != nil {
		return w.answer(call)
	}
	return nil
}

func (w *watch) of(call string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.calls[call]
}

// say makes each call of a kind answer an error; nil ends it.
func (w *watch) say(call string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.answer = func(name string) error {
		if name == call {
			return err
		}
		return nil
	}
}

// delay keeps a write back, if it is to be late.
func (w *watch) delay(do func()) bool {
	if !w.late.Load() {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.waiting = append(w.waiting, do)
	return true
}

// arrive lets the writes that are late take place.
func (w *watch) arrive() {
	w.late.Store(false)
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, do := range w.waiting {
		do()
	}
	w.waiting = nil
}

// writes is how often something was changed.
func (w *watch) writes() int {
	sum := 0
	for _, call := range []string{"Create", "SetStatus", "Update", "Delete", "CreateAudience", "DeleteAudience", "UploadUsers"} {
		sum += w.of(call)
	}
	return sum
}

// watched is a network behind a watch.
type watched struct {
	ads.Network
	*watch
}

func (n watched) SendConversions(ctx context.Context, c ads.Conn, b ads.ConversionBatch) ([]error, error) {
	if err := n.count("SendConversions"); err != nil {
		return nil, err
	}
	results, err := n.Network.SendConversions(ctx, c, b)
	return lost(n.watch, results, err)
}

func lost[T any](w *watch, v T, err error) (T, error) {
	if w.die.Load() {
		panic("the process ends")
	}
	if w.reply != nil {
		w.reply()
	}
	if err == nil && w.lose.Load() {
		var none T
		return none, ads.ErrIndeterminate
	}
	return v, err
}

func (n watched) Caps() ads.Caps {
	caps := n.Network.Caps()
	if n.first != nil {
		caps.Reconcile, caps.RepeatFor = ads.ReconcileRepeat, 24*time.Hour
	}
	return caps
}

func (n watched) Create(ctx context.Context, c ads.Conn, p ads.Plan) (ads.Created, error) {
	if err := n.count("Create"); err != nil {
		return ads.Created{}, err
	}
	if n.delay(func() { _, _ = n.Network.Create(context.WithoutCancel(ctx), c, p) }) {
		return ads.Created{}, ads.ErrIndeterminate
	}
	if first, again := n.first[p.Token]; again {
		return first, nil
	}
	created, err := n.Network.Create(ctx, c, p)
	if n.first != nil && err == nil {
		n.first[p.Token] = created
	}
	return lost(n.watch, created, err)
}

func (n watched) UploadVideo(ctx context.Context, c ads.Conn, adAccount, address string) (string, error) {
	if err := n.count("UploadVideo"); err != nil {
		return "", err
	}
	return n.Network.UploadVideo(ctx, c, adAccount, address)
}

func (n watched) VideoReady(ctx context.Context, c ads.Conn, adAccount, id string) (bool, error) {
	if err := n.count("VideoReady"); err != nil {
		return false, err
	}
	return n.Network.VideoReady(ctx, c, adAccount, id)
}

func (n watched) Posts(ctx context.Context, c ads.Conn) ([]advert.SocialPost, error) {
	if err := n.count("Posts"); err != nil {
		return nil, err
	}
	return n.Network.Posts(ctx, c)
}

func (n watched) Find(ctx context.Context, c ads.Conn, adAccount, token string) (ads.Created, bool, error) {
	if err := n.count("Find"); err != nil {
		return ads.Created{}, false, err
	}
	return n.Network.Find(ctx, c, adAccount, token)
}

func (n watched) Report(ctx context.Context, c ads.Conn, adAccount string, level advert.Level, ids []string, from, to ads.Date) (map[string]ads.Report, error) {
	if err := n.count("Report"); err != nil {
		return nil, err
	}
	if err := n.count("Report " + c.Channel); err != nil {
		return nil, err
	}
	if n.hold != nil {
		n.hold(ctx)
	}
	n.mu.Lock()
	n.report = append(n.report, ids)
	n.mu.Unlock()
	heard, err := n.Network.Report(ctx, c, adAccount, level, ids, from, to)
	for id, r := range heard {
		if n.naive.Load() && level != advert.LevelAd && r.Configured == advert.ConfiguredActive {
			r.Status = advert.StatusActive
			heard[id] = r
		}
	}
	return heard, err
}

func (n watched) Sync(ctx context.Context, c ads.Conn, adAccount, cursor string) (advert.Batch, string, error) {
	n.syncs.Add(1)
	if n.stretch != nil {
		return n.syncOne(ctx, c, adAccount, cursor)
	}
	batch, next, err := n.Network.Sync(ctx, c, adAccount, cursor)
	if n.below.Load() {
		bidBelow(&batch)
	}
	for i := range batch.Campaigns {
		if n.naive.Load() && batch.Campaigns[i].ConfiguredStatus == advert.ConfiguredActive {
			batch.Campaigns[i].Status = advert.StatusActive
		}
	}
	return batch, next, err
}

// syncOne returns the campaign that a cursor counts, of an ad account that has few.
func (n watched) syncOne(ctx context.Context, c ads.Conn, adAccount, cursor string) (advert.Batch, string, error) {
	if err := n.stretch(adAccount, cursor); err != nil {
		return advert.Batch{}, "", err
	}
	at, err := strconv.Atoi("0" + cursor)
	if err != nil {
		return advert.Batch{}, "", err
	}
	b, _, err := n.Network.Sync(ctx, c, adAccount, "")
	if err != nil || at >= len(b.Campaigns) {
		return advert.Batch{}, "", err
	}
	campaign := b.Campaigns[at]
	b.Campaigns = b.Campaigns[at : at+1]
	b.Groups = slices.DeleteFunc(b.Groups, func(g advert.Group) bool { return g.CampaignID != campaign.PlatformID })
	b.Ads = slices.DeleteFunc(b.Ads, func(a advert.Ad) bool { return a.CampaignID != campaign.PlatformID })
	return b, strconv.Itoa(at + 1), nil
}

// bidBelow moves the caps and floors of campaigns to their ad groups.
func bidBelow(b *advert.Batch) {
	for i := range b.Campaigns {
		c := &b.Campaigns[i]
		for j := range b.Groups {
			if b.Groups[j].CampaignID == c.PlatformID && c.BidAmount > 0 {
				b.Groups[j].BidAmount, b.Groups[j].RoasFloor = c.BidAmount, c.RoasFloor
			}
		}
		c.BidAmount, c.RoasFloor = 0, 0
	}
}

func (n watched) SetStatus(ctx context.Context, c ads.Conn, refs []ads.Ref, to advert.Configured) ([]ads.ItemResult, error) {
	if err := n.count("SetStatus"); err != nil {
		return nil, err
	}
	if n.switching != nil {
		n.switching(to, false)
	}
	results, err := n.Network.SetStatus(ctx, c, refs, to)
	if n.switching != nil {
		n.switching(to, true)
	}
	for i := range results {
		if n.mute.Load() {
			results[i].State = advert.Batch{}
		}
	}
	return lost(n.watch, results, err)
}

func (n watched) Update(ctx context.Context, c ads.Conn, r ads.Ref, p ads.Patch) (ads.Entity, error) {
	if err := n.count("Update"); err != nil {
		return ads.Entity{}, err
	}
	if n.delay(func() { _, _ = n.Network.Update(context.WithoutCancel(ctx), c, r, p) }) {
		return ads.Entity{}, ads.ErrIndeterminate
	}
	entity, err := n.Network.Update(ctx, c, r, p)
	return lost(n.watch, entity, err)
}

func (n watched) Delete(ctx context.Context, c ads.Conn, r ads.Ref) (ads.Deleted, error) {
	if err := n.count("Delete"); err != nil {
		return ads.Deleted{}, err
	}
	deleted, err := n.Network.Delete(ctx, c, r)
	return lost(n.watch, deleted, err)
}

func (n watched) CreateAudience(ctx context.Context, c ads.Conn, p ads.AudiencePlan) (advert.Audience, error) {
	if err := n.count("CreateAudience"); err != nil {
		return advert.Audience{}, err
	}
	a, err := n.Network.CreateAudience(ctx, c, p)
	return lost(n.watch, a, err)
}

func (n watched) DeleteAudience(ctx context.Context, c ads.Conn, adAccount, id string) error {
	if err := n.count("DeleteAudience"); err != nil {
		return err
	}
	_, err := lost(n.watch, true, n.Network.DeleteAudience(ctx, c, adAccount, id))
	return err
}

func (n watched) UploadUsers(ctx context.Context, c ads.Conn, u ads.Upload) (ads.Uploaded, error) {
	if err := n.count("UploadUsers"); err != nil {
		return ads.Uploaded{}, err
	}
	uploaded, err := n.Network.UploadUsers(ctx, c, u)
	return lost(n.watch, uploaded, err)
}

func (n watched) RemoveUsers(ctx context.Context, c ads.Conn, u ads.Upload) (advert.Audience, error) {
	if err := n.count("RemoveUsers"); err != nil {
		return advert.Audience{}, err
	}
	n.mu.Lock()
	n.left = append(n.left, u.Members...)
	n.mu.Unlock()
	left, err := n.Network.RemoveUsers(ctx, c, u)
	return lost(n.watch, left, err)
}
