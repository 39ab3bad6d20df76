package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
)

// A Record is one entry of the log. Numbers go up by one.
type Record struct {
	Seq  uint64
	Data []byte
}

const (
	headerSize = 8              // checksum and length
	overhead   = headerSize + 8 // and number
)

// Size is how many bytes a record of so much data takes in a segment.
func Size(data int) int { return overhead + data }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendRecord appends the record as it is in a segment.
func appendRecord(b []byte, r Record) []byte {
	start := len(b)
	b = append(b, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint32(b, uint32(8+len(r.Data)))
	b = binary.LittleEndian.AppendUint64(b, r.Seq)
	b = append(b, r.Data...)
	binary.LittleEndian.PutUint32(b[start:], crc32.Checksum(b[start+4:], castagnoli))
	return b
}

var (
	errEnd     = errors.New("no more records")
	errDamaged = errors.New("damaged record")
)

// parseRecord returns the first record in b and how much of b it takes; errEnd at
// zeroes or the end of b, errDamaged if what is there is not what was written.
// The record's data is b's.
func parseRecord(b []byte, bug Bug) (r Record, size int, err error) {
	if len(b) < headerSize {
		return r, 0, errEnd
	}
	n := int64(binary.LittleEndian.Uint32(b[4:]))
	switch {
	case n == 0:
		return r, 0, errEnd
	case n < 8 || n > int64(len(b)-headerSize):
		return r, 0, fmt.Errorf("%w: %d bytes long, %d are there", errDamaged, n, len(b)-headerSize)
	}
	size = headerSize + int(n)
	if bug != TornAccepted && crc32.Checksum(b[4:size], castagnoli) != binary.LittleEndian.Uint32(b) {
		return r, 0, fmt.Errorf("%w: its checksum is not that of its %d bytes", errDamaged, n)
	}
	return Record{Seq: binary.LittleEndian.Uint64(b[headerSize:]), Data: b[overhead:size]}, size, nil
}
