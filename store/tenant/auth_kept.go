package tenant

import (
	"encoding/json"
	"errors"
	"io/fs"
	"maps"
	"os"
	"time"
)

// keepInterval is how often the windows are written to their file: a process that is killed forgets no more than that.
const keepInterval = time.Second

// keptWindows is the content of a file beside an embedded database. It holds the windows of the current minute, so that a
// restart does not begin them anew. It is written every keepInterval, apart from the requests and without waiting for the disk. An ordinary stop
// leaves all of it, a kill loses the last second, a power cut may lose the minute. In the database each second would be a commit.
type keptWindows struct {
	Minute int64          `json:"minute"`
	Used   map[string]int `json:"used"`
}

// maxKeptWindows is how many windows the file holds at most. If more subjects came within the minute, those with the fewest
// requests are left out.
const maxKeptWindows = 10_000

// keep reads the windows that the process before this one left in the file. From then on it writes them there every keepInterval,
// until end is called.
func (q *localQuota) keep(path string) {
	q.path, q.stop, q.ended = path, make(chan struct{}), make(chan error, 1)
	q.restore()
	stop := q.stop
	go func() {
		ticker := time.NewTicker(keepInterval)
		defer ticker.Stop()
		for {
			select {
			case <-ticker.C:
				_ = q.save() // tried again a second later, and at the end
			case <-stop:
				q.ended <- q.save()
				return
			}
		}
	}()
}

// end stops what keep began, and writes the windows a last time. Without keep it does nothing.
func (q *localQuota) end() error {
	if q.stop == nil {
		return nil
	}
	close(q.stop)
	q.stop = nil
	return <-q.ended
}

// restore reads the windows from the file and takes them over if they are of the current minute. A file that is missing or
// cannot be read counts as none.
func (q *localQuota) restore() {
	content, err := os.ReadFile(q.path)
	var kept keptWindows
	if err != nil || json.Unmarshal(content, &kept) != nil || kept.Minute != q.store.Now().Time().Unix()/rateWindow {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.minute, q.used = kept.Minute, map[string]int{}
	maps.Copy(q.used, kept.Used)
}

// save writes the windows to the file, whole or not at all, if anything was counted since the last time. Of more than
// maxKeptWindows it leaves out those with the fewest requests. It is no error if the folder of the database is gone.
func (q *localQuota) save() error {
	q.mu.Lock()
	kept, counted := keptWindows{Minute: q.minute, Used: maps.Clone(q.used)}, q.counted
	q.counted = false
	q.mu.Unlock()
	if !counted {
		return nil
	}
	for least := 1; len(kept.Used) > maxKeptWindows; least++ {
		maps.DeleteFunc(kept.Used, func(_ string, used int) bool { return used <= least })
	}
	content, err := json.Marshal(kept)
	if err == nil {
		err = os.WriteFile(q.path+".new", content, 0o600)
	}
	if err == nil {
		err = os.Rename(q.path+".new", q.path)
	}
	if err != nil {
		q.mu.Lock()
		q.counted = true
		q.mu.Unlock()
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil // the database's folder is gone
	}
	return err
}
