package sandbox

import (
	"math/bits"
	"slices"
	"time"

	"github.com/tillwright/tillwright/store"
	"github.com/tillwright/tillwright/store/core"
)

// Delivery is computed when it is read: there is no job that spends. What an owner of a budget, a campaign or an ad
// group, has spent at any moment follows from its segments alone, the stretches of time in which nothing changed.
// Within one, each day is spent evenly:
//
//   - a daily budget: budget x pace of the day x the part of the day that has passed;
//   - a lifetime budget: what is left x pace x the part of the time left that has passed, and on the last day all of it.
//
// So a day never costs more than its budget, a budget that changes within a day counts for the hours that it stood,
// a lifetime budget is never passed, nothing is spent while no ad delivers, and time only ever adds.

// paceFull is a day on which all that may be spent is spent; no day has less than four fifths.
const (
	paceFull  = 1000
	paceRange = 201
)

// market is what delivery needs to know of an ad account.
type market struct {
	zone    *time.Location // days are its days
	quantum int64          // micros of the smallest amount that is spent: a cent, a yen
	dollar  int64          // micros that are worth a dollar, about
}

// window is a range of moments that is asked about, made of whole days; what follows until is not in it.
type window struct{ since, until core.Time }

// spending is what one ad spent within a stretch of one day.
type spending struct {
	ad     string
	day    int // yyyymmdd
	micros int64
}

// spend walks through the segments of one owner in their order, calls each for what its ads spent within the window,
// day by day, and returns what a lifetime budget has spent until now.
func (m market) spend(segments []store.SandboxSegment, w window, now core.Time, each func(spending)) int64 {
	var total int64
	for _, s := range segments {
		for _, p := range m.stretches(s, w, now) {
			quanta := m.quantaOf(s, p, total)
			total += quanta * m.quantum
			if p.from < w.since || p.from >= w.until {
				continue
			}
			share(quanta, p.ads, func(ad string, n int64) { each(spending{ad, p.day, n * m.quantum}) })
		}
	}
	return total
}

// stretch is a part of one segment and one day in which the same ads deliver.
type stretch struct {
	from, to         core.Time
	day              int
	dayBegin, dayEnd core.Time
	ads              []string
}

// stretches cuts a segment where a day ends and where an ad begins. Stretches without an ad are left out; so
// are days out of the window, which only a lifetime budget looks back at.
func (m market) stretches(s store.SandboxSegment, w window, now core.Time) []stretch {
	from, to := max(s.FromAt, s.StartAt), earlier(earlier(now, s.ToAt), s.EndAt)
	if !s.Lifetime {
		from, to = max(from, w.since), min(to, w.until)
	}
	var all []stretch
	for _, edge := range edges(s.Ads.V, from, to) {
		ads := delivering(s.Ads.V, from)
		for len(ads) > 0 && from < edge {
			p := m.dayOf(from)
			p.from, p.to, p.ads = from, min(edge, p.dayEnd), ads
			all = append(all, p)
			from = p.to
		}
		from = edge
	}
	return all
}

// edges returns where the set of ads changes between two moments, and the later one of these, ascending.
func edges(slots []store.SandboxSlot, from, to core.Time) []core.Time {
	if from >= to {
		return nil
	}
	found := []core.Time{to}
	for _, slot := range slots {
		if at := core.Time(slot.FromAt); at > from && at < to {
			found = append(found, at)
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

func delivering(slots []store.SandboxSlot, at core.Time) []string {
	var ads []string
	for _, slot := range slots {
		if core.Time(slot.FromAt) <= at {
			ads = append(ads, slot.Ad)
		}
	}
	return ads
}

// dayOf returns the day around a moment, without its ads. A day may have 23 or 25 hours.
func (m market) dayOf(at core.Time) stretch {
	year, month, day := at.Time().In(m.zone).Date()
	return stretch{
		day:      year*10000 + int(month)*100 + day,
		dayBegin: m.midnight(year, month, day),
		dayEnd:   m.midnight(year, month, day+1),
	}
}

// midnight returns the first moment of a day.
func (m market) midnight(year int, month time.Month, day int) core.Time {
	return core.TimeOf(time.Date(year, month, day, 0, 0, 0, 0, m.zone))
}

// quantaOf returns how many quanta are spent in a stretch, given what the owner has spent before it.
func (m market) quantaOf(s store.SandboxSegment, p stretch, spent int64) int64 {
	pace := paceFull - int64(hash(s.OwnerID, p.day)%paceRange)
	if !s.Lifetime {
		return scale(int64(s.Budget)/m.quantum, millis(p.from, p.to)*pace, millis(p.dayBegin, p.dayEnd)*paceFull)
	}
	if *s.EndAt <= p.dayEnd {
		pace = paceFull
	}
	left := max(int64(s.Budget)-spent, 0)
	return scale(left/m.quantum, millis(p.from, p.to)*pace, max(millis(p.from, *s.EndAt), 1)*paceFull)
}

// millis returns the whole milliseconds between two moments; finer ones would not fit into an integer with the pace.
func millis(from, to core.Time) int64 { return int64(to-from) / 1000 }

// share divides quanta among ads by their weights, exactly: quantum after quantum is dealt out in a fixed order, so that
// the parts sum up to the whole and more quanta never make any part smaller.
func share(quanta int64, ads []string, each func(ad string, quanta int64)) {
	var round int64
	for _, ad := range ads {
		round += weight(ad)
	}
	full, rest := quanta/round, quanta%round
	for _, ad := range ads {
		w := weight(ad)
		if n := full*w + min(rest, w); n > 0 {
			each(ad, n)
		}
		rest -= min(rest, w)
	}
}

// weight is how much an ad is worth to the network beside the others of its budget, 1 to 4.
func weight(ad string) int64 { return 1 + int64(hash(ad, 0)%4) }

// scale returns n x part / whole, cut down to an integer. No part is larger than its whole.
func scale(n, part, whole int64) int64 {
	hi, lo := bits.Mul64(uint64(n), uint64(part))
	quotient, _ := bits.Div64(hi, lo, uint64(whole))
	return int64(quotient)
}

// earlier returns the earlier of two moments; nil is never.
func earlier(a core.Time, b *core.Time) core.Time {
	if b == nil {
		return a
	}
	return min(a, *b)
}

// hash is the chance of this network: equal questions get equal answers, on every replica and for ever. It is FNV-1a,
// mixed so that neighbours differ.
func hash(name string, n int) uint64 {
	x := uint64(14695981039346656037)
	for i := range len(name) {
		x = (x ^ uint64(name[i])) * 1099511628211
	}
	x += uint64(n) * 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
