package wire

import (
	"bufio"
	"bytes"
	"errors"
	"reflect"
	"testing"
)

func TestFrames(t *testing.T) {
	var b bytes.Buffer
	all := []*Message{
		{Kind: Put, ID: 1 << 63, Req: 2, Key: "k", Value: "v"},
		{Kind: Append, Seq: 7, Records: [][]byte{[]byte("one"), []byte("two")}},
		{Kind: Held, Seq: 300},
	}
	for _, m := range all {
		if err := Write(&b, m); err != nil {
			t.Fatal(err)
		}
	}
	r := bufio.NewReader(&b)
	for _, want := range all {
		if got, err := Read(r); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v, want %+v", got, err, want)
		}
	}
	// No beginning of a message is one.
	whole := all[1].Encode(nil)
	for n := range whole {
		if m, err := Decode(whole[:n]); !errors.Is(err, ErrMalformed) {
			t.Errorf("%d bytes of %d: %+v, %v", n, len(whole), m, err)
		}
	}
	if _, err := Read(bufio.NewReader(bytes.NewReader([]byte{255, 255, 255, 255}))); !errors.Is(err, ErrMalformed) {
		t.Errorf("a frame of 4 GB: %v", err)
	}
}
