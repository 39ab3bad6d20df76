package ledger

import (
	"errors"
	"sync"
)

// An Order is what a client wants done.
type Order struct {
	Account string `json:"account"`
	Amount  int64  `json:"amount"`
}

// A Receipt says that an order was applied, and when in the order of all.
type Receipt struct {
	Seq     int   `json:"seq"`
	Balance int64 `json:"balance"` // of the account, right afterwards
}

// errOtherOrder is for a key that came before with another order.
var errOtherOrder = errors.New("this idempotency key was used for another order")

// A book is the state of all accounts.
type book struct {
	mu       sync.Mutex
	j        *journal
	entries  []Entry
	byKey    map[string]int // index in entries
	balances map[string]int64
	failed   error // of the journal: nothing is applied after it
}

func openBook(dir string, flaw Flaw) (*book, error) {
	j, entries, err := openJournal(dir, flaw)
	if err != nil {
		return nil, err
	}
	b := &book{j: j, byKey: map[string]int{}, balances: map[string]int64{}}
	for _, e := range entries {
		b.enter(e)
	}
	if flaw == KeysInMemory {
		clear(b.byKey)
	}
	return b, nil
}

func (b *book) enter(e Entry) {
	b.byKey[e.Key] = len(b.entries)
	b.entries = append(b.entries, e)
	b.balances[e.Account] = e.Balance
}

// apply applies an order, unless one came under the key before: then it returns
// the receipt of that.
func (b *book) apply(key string, o Order) (Receipt, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if i, ok := b.byKey[key]; ok {
		e := b.entries[i]
		if e.Account != o.Account || e.Amount != o.Amount {
			return Receipt{}, errOtherOrder
		}
		return Receipt{e.Seq, e.Balance}, nil
	}
	if b.failed != nil {
		return Receipt{}, b.failed
	}
	e := Entry{Seq: len(b.entries) + 1, Key: key, Account: o.Account, Amount: o.Amount, Balance: b.balances[o.Account] + o.Amount}
	if err := b.j.add(e); err != nil {
		b.failed = err // whether the line is there is not known
		return Receipt{}, err
	}
	b.enter(e)
	return Receipt{e.Seq, e.Balance}, nil
}

func (b *book) balance(account string) int64 {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.balances[account]
}

// list returns the entries from the i-th on; they do not change any more.
func (b *book) list(i int) []Entry {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.entries[i:len(b.entries):len(b.entries)]
}
