package pages

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"time"
)

const (
	// documentsAtOnce is how many documents of a kind are made at the same time. A PDF takes up to 60 MB meanwhile.
	documentsAtOnce = 2
	// documentPatience is how long somebody waits for a document at most. Making the largest one takes about two seconds.
	documentPatience = 10 * time.Second
	// keptBytes is the most that the documents of a kind which are kept may take together. Most have 20 to 50 kB.
	keptBytes = 32 << 20
)

// errBusy says that a document could not be made in time because of others.
var errBusy = errors.New("too many documents are asked for")

// documents makes documents, such as PDFs, of what they say, and keeps those that were asked for last. It makes a few at a time,
// shared fairly among accounts. The key of a document is a hash of all that it says. So a document is kept for as long as the rows
// it is made from say the same. Nothing has to be thrown away when they change. Each replica keeps its own.
type documents[T any] struct {
	write func(ctx context.Context, says T) ([]byte, error)
	turns *workTurns

	patience time.Duration // how long to wait for a document, or for an export to begin

	mu     sync.Mutex
	byKey  map[documentKey]*list.Element
	recent *list.List // *madeDocument, the one that was asked for last in front
	bytes  int
	making map[documentKey]chan struct{} // closed when it is made, or was given up
}

// documentKey is the hash of an account and of what a document says. Two accounts never share one.
type documentKey [sha256.Size]byte

type madeDocument struct {
	key  documentKey
	file []byte
}

func newDocuments[T any](write func(ctx context.Context, says T) ([]byte, error)) *documents[T] {
	return &documents[T]{
		write: write, turns: newWorkTurns(documentsAtOnce), patience: documentPatience,
		byKey: map[documentKey]*list.Element{}, recent: list.New(), making: map[documentKey]chan struct{}{},
	}
}

// get returns the document that says this. It stops waiting, and making, when ctx ends. If others came first for too long, it is
// errBusy.
func (d *documents[T]) get(ctx context.Context, who asker, says T) ([]byte, error) {
	key, err := keyOf(who.account, says)
	if err != nil {
		return nil, err
	}
	patience, cancel := context.WithTimeoutCause(ctx, d.patience, errBusy)
	defer cancel()
	for {
		file, made, err := d.getOnce(patience, who, key, says)
		switch {
		case made == nil && errors.Is(err, errCrowded), err != nil && errors.Is(context.Cause(patience), errBusy):
			return nil, errBusy
		case made == nil:
			return file, err
		}
		select { // somebody else makes it
		case <-made:
		case <-patience.Done():
		}
	}
}

// getOnce returns the document, from those that are kept or newly made. If somebody else is making it at this moment,
// it returns only made, a channel that is closed when they are done.
func (d *documents[T]) getOnce(ctx context.Context, who asker, key documentKey, says T) (file []byte, made <-chan struct{}, err error) {
	if file := d.kept(key); file != nil {
		return file, nil, nil
	}
	release, err := d.turns.waitTurn(ctx, who)
	if err != nil {
		return nil, nil, err
	}
	defer release()
	done, made, file := d.begin(key)
	if file != nil || made != nil {
		return file, made, nil
	}
	defer func() { done(file) }()
	file, err = d.write(ctx, says)
	return file, nil, err
}

// begin says that the caller is going to make a document, and returns done. The caller has to call done with the file, or with nil
// if it failed. If the document was made meanwhile, begin returns the file instead. If somebody else is making it, begin returns a
// channel that is closed when they are done.
func (d *documents[T]) begin(key documentKey) (done func(file []byte), made <-chan struct{}, file []byte) {
	if file := d.kept(key); file != nil {
		return nil, nil, file
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if made := d.making[key]; made != nil {
		return nil, made, nil
	}
	ended := make(chan struct{})
	d.making[key] = ended
	return func(file []byte) {
		d.mu.Lock()
		defer d.mu.Unlock()
		delete(d.making, key)
		d.keep(key, file)
		close(ended)
	}, nil, nil
}

// kept returns a document that is kept, nil if it is not, and notes that it was asked for.
func (d *documents[T]) kept(key documentKey) []byte {
	d.mu.Lock()
	defer d.mu.Unlock()
	element := d.byKey[key]
	if element == nil {
		return nil
	}
	d.recent.MoveToFront(element)
	return element.Value.(*madeDocument).file
}

// keep keeps a file, and drops those that were asked for the longest ago until all fit into keptBytes. The caller holds d.mu. A
// nil file is not kept.
func (d *documents[T]) keep(key documentKey, file []byte) {
	if file == nil || d.byKey[key] != nil {
		return
	}
	d.byKey[key] = d.recent.PushFront(&madeDocument{key, file})
	d.bytes += len(file)
	for d.bytes > keptBytes {
		oldest := d.recent.Remove(d.recent.Back()).(*madeDocument)
		delete(d.byKey, oldest.key)
		d.bytes -= len(oldest.file)
	}
}

// keyOf returns the key of a document of an account.
func keyOf(account string, says any) (documentKey, error) {
	text, err := json.Marshal(says)
	if err != nil {
		return documentKey{}, fmt.Errorf("write down a document: %w", err)
	}
	return sha256.Sum256(append([]byte(account+"\x00"), text...)), nil
}
