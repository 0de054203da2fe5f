package journal

import (
	"bufio"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	suffix        = ".queue"
	positionFile  = "position"
	positionBytes = 20
)

// Damage is the end of a segment that cannot be read, such as the last record of a process that was killed while it
// wrote.
type Damage struct {
	File  string
	Bytes int64
	// Cause is ErrTorn or ErrChecksum.
	Cause error
}

func (d Damage) Error() string {
	return fmt.Sprintf("%d bytes of %s are skipped: %v", d.Bytes, d.File, d.Cause)
}

func (d Damage) Unwrap() error { return d.Cause }

var (
	// ErrTorn is a record that ends early.
	ErrTorn = errors.New("the last record is incomplete")
	// ErrChecksum is a record with another content than was written.
	ErrChecksum = errors.New("a record is damaged")
)

// readFolder finds the segments and the position.
func (j *Journal) readFolder() error {
	entries, err := os.ReadDir(j.folder)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		name, isSegment := strings.CutSuffix(entry.Name(), suffix)
		number, err := strconv.ParseUint(name, 10, 64)
		if !isSegment || err != nil {
			continue
		}
		j.segments = append(j.segments, segment{number: number})
		j.next = max(j.next, number+1)
	}
	slices.SortFunc(j.segments, func(a, b segment) int { return cmp.Compare(a.number, b.number) })
	j.position, err = os.OpenFile(filepath.Join(j.folder, positionFile), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	number, settled := j.readPosition()
	// A new segment has never the number of an earlier one, which the position may name.
	j.next = max(j.next, number+1)
	for len(j.segments) > 0 && j.segments[0].number < number {
		// Settled completely, but not removed.
		_ = os.Remove(j.path(j.segments[0].number))
		j.segments = j.segments[1:]
	}
	if len(j.segments) > 0 && j.segments[0].number == number {
		j.settled = settled
	}
	return nil
}

// readPosition returns 0 and 0 where there is none. Then messages may be replayed that were settled.
func (j *Journal) readPosition() (number, settled uint64) {
	var read [positionBytes]byte
	if _, err := j.position.ReadAt(read[:], 0); err != nil {
		return 0, 0
	}
	if binary.LittleEndian.Uint32(read[16:]) != crc32.Checksum(read[:16], castagnoli) {
		return 0, 0
	}
	return binary.LittleEndian.Uint64(read[:]), binary.LittleEndian.Uint64(read[8:])
}

func (j *Journal) writePosition() error {
	if len(j.segments) == 0 {
		return nil
	}
	record := binary.LittleEndian.AppendUint64(make([]byte, 0, positionBytes), j.segments[0].number)
	record = binary.LittleEndian.AppendUint64(record, j.settled)
	record = binary.LittleEndian.AppendUint32(record, crc32.Checksum(record, castagnoli))
	_, err := j.position.WriteAt(record, 0)
	return err
}

// Replay passes each stored message that is not settled to `add`, in order, with its time and its number. It is called before the
// first Append. The message is valid during the call.
func (j *Journal) Replay(add func(message []byte, at time.Time, number uint64)) (damages []Damage, err error) {
	skip, number := j.settled, uint64(0)
	for i := range j.segments {
		s := &j.segments[i]
		damage, err := j.replaySegment(s, func(message []byte, at time.Time) {
			number++
			if skip > 0 {
				skip--
				return
			}
			j.live += headBytes + timeBytes + int64(len(message))
			add(message, at, number-1)
		})
		if err != nil {
			return damages, err
		}
		if damage != nil {
			damages = append(damages, *damage)
		}
		if i == 0 {
			// Fewer records than are settled are left, if the last ones were not on the disk.
			skip, j.settled = 0, min(j.settled, s.records)
		}
	}
	return damages, nil
}

func (j *Journal) replaySegment(s *segment, add func([]byte, time.Time)) (*Damage, error) {
	file, err := os.Open(j.path(s.number))
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	reader := bufio.NewReaderSize(file, 64<<10)
	var record []byte
	for at := int64(0); at < info.Size(); {
		record, err = readRecord(reader, record)
		if errors.Is(err, ErrTorn) || errors.Is(err, ErrChecksum) {
			return &Damage{File: file.Name(), Bytes: info.Size() - at, Cause: err}, nil
		}
		if err != nil {
			return nil, err
		}
		at += headBytes + int64(len(record))
		s.records++
		s.bytes = at
		add(record[timeBytes:], time.UnixMilli(int64(binary.LittleEndian.Uint64(record))))
	}
	return nil, nil
}

// readRecord reads the time and the message into the memory of `record`.
func readRecord(reader io.Reader, record []byte) ([]byte, error) {
	var head [headBytes]byte
	if err := readFull(reader, head[:]); err != nil {
		return record, err
	}
	length := binary.LittleEndian.Uint32(head[:])
	if length == 0 || length > maxMessageBytes {
		return record, ErrChecksum
	}
	record = slices.Grow(record[:0], timeBytes+int(length))[:timeBytes+int(length)]
	if err := readFull(reader, record); err != nil {
		return record, err
	}
	if crc32.Checksum(record, castagnoli) != binary.LittleEndian.Uint32(head[4:]) {
		return record, ErrChecksum
	}
	return record, nil
}

func readFull(reader io.Reader, into []byte) error {
	_, err := io.ReadFull(reader, into)
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return ErrTorn
	}
	return err
}
