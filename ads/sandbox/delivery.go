package sandbox

import (
	"math/bits"
	"slices"
	"time"

	"github.com/tillwright/tillwright/store/advert"
	"github.com/tillwright/tillwright/store/core"
)

// Delivery is computed when it is read: there is no job that spends. An owner of a budget is a campaign or an ad group.
// What it has spent at any moment follows from its segments alone, the stretches of time in which nothing changed. Within
// one, each day is spent evenly:
//
//   - a daily budget: budget x pace of the day x the part of the day that has passed;
//   - a lifetime budget: what is left x pace x the part of the time left that has passed. On the last day that is all of it.
//
// So a day never costs more than its budget, and a budget that changes within a day counts for the hours that it stood. A
// lifetime budget is never passed. Nothing is spent while no ad delivers, and time only ever adds.

// paceFull is the pace of a day on which all that may be spent is spent. No day has a pace of less than four fifths.
const (
	paceFull  = 1000
	paceRange = 201
)

// market holds what delivery has to know of an ad account.
type market struct {
	zone    *time.Location // days are its days
	quantum int64          // micros of the smallest amount that is spent: a cent, a yen
	dollar  int64          // micros that are worth a dollar, about
}

// window is a range of moments that figures are wanted for. It consists of whole days; until is no longer in it.
type window struct{ since, until core.Time }

// spending is what one ad spent within a stretch of one day.
type spending struct {
	ad     string
	day    int // yyyymmdd
	micros int64
}

// spend works out what one owner has spent. It walks through the owner's segments in their order. For a part of a day
// within the window it calls each for what every ad spent. It returns what was spent in the parts that it looked at,
// which for a lifetime budget is everything until now.
func (m market) spend(segments []advert.SandboxSegment, w window, now core.Time, each func(spending)) int64 {
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

// stretch is a part of one segment, within one day, in which the same ads deliver.
type stretch struct {
	from, to         core.Time
	day              int
	dayBegin, dayEnd core.Time
	ads              []string
}

// stretches cuts a segment at the ends of days and at the moments when an ad begins to deliver. Parts without an ad are
// left out. So are days outside the window, except of a lifetime budget, for which earlier spending counts.
func (m market) stretches(s advert.SandboxSegment, w window, now core.Time) []stretch {
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

// edges returns the moments between `from` and `to` at which another ad begins to deliver, and `to` itself, in ascending
// order.
func edges(slots []advert.SandboxSlot, from, to core.Time) []core.Time {
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

// delivering returns the ads that deliver at a moment.
func delivering(slots []advert.SandboxSlot, at core.Time) []string {
	var ads []string
	for _, slot := range slots {
		if core.Time(slot.FromAt) <= at {
			ads = append(ads, slot.Ad)
		}
	}
	return ads
}

// dayOf returns the day that a moment is in, without ads. A day may have 23 or 25 hours.
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

// quantaOf returns how many quanta are spent in a stretch, given what the owner has spent before. A quantum is the
// smallest amount that is spent.
func (m market) quantaOf(s advert.SandboxSegment, p stretch, spent int64) int64 {
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

// millis returns the whole milliseconds between two moments. Multiplied by the pace, anything finer would not fit into
// an integer.
func millis(from, to core.Time) int64 { return int64(to-from) / 1000 }

// share divides quanta among ads by their weights. They are dealt out one by one in a fixed order. So the parts add up
// exactly to the whole, and no part becomes smaller when there are more quanta.
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

// weight returns how much of a budget an ad gets compared with the others, 1 to 4.
func weight(ad string) int64 { return 1 + int64(hash(ad, 0)%4) }

// scale returns n x part / whole, rounded down. part must not be larger than whole.
func scale(n, part, whole int64) int64 {
	hi, lo := bits.Mul64(uint64(n), uint64(part))
	quotient, _ := bits.Div64(hi, lo, uint64(whole))
	return int64(quotient)
}

// earlier returns the earlier of two moments; nil stands for never.
func earlier(a core.Time, b *core.Time) core.Time {
	if b == nil {
		return a
	}
	return min(a, *b)
}

// hash is where this network's chance comes from: the same question gets the same answer, on every replica and for ever.
// It is FNV-1a, mixed so that similar questions get very different answers.
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
