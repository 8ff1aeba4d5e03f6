package measure

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Range and precision of the histograms in a result.
const (
	histogramDigits = 3
	histogramHigh   = int64(time.Hour)
	bucketBits      = 10 // below the highest bit of a time, which choose its bucket: 2^10 > 10^histogramDigits
)

// histogram returns the distribution of sorted times in HdrHistogram's compressed form (V2,
// base64), from 1 ns to an hour or, if that is not enough, to the largest time. Negative times
// have no place in it and are left out. Empty if there is nothing to show.
//
// It returns what [hdrhistogram.Histogram.Encode] does, but that allocates a table of all buckets and
// a compressor of 0.8 MB for each histogram, which took most of the time of a short simulation.
func histogram(sorted []int64) string {
	first, _ := slices.BinarySearch(sorted, 0)
	sorted = sorted[first:]
	if len(sorted) == 0 {
		return ""
	}
	// Bucket limits are computed in int64: the last factor of two stays free.
	high := min(max(histogramHigh, sorted[len(sorted)-1]), math.MaxInt64/2)
	var counts []byte // of the buckets, in order; −n stands for n empty ones
	next := int64(0)  // the bucket after the last one written
	for len(sorted) > 0 {
		bucket := bucketOf(min(sorted[0], high))
		same := 1
		for same < len(sorted) && bucketOf(min(sorted[same], high)) == bucket {
			same++
		}
		if empty := bucket - next; empty == 1 {
			counts = append(counts, 0)
		} else if empty > 1 {
			counts = binary.AppendVarint(counts, -empty)
		}
		counts = binary.AppendVarint(counts, int64(same))
		sorted, next = sorted[same:], bucket+1
	}
	const leb128 = 0x10 // in both cookies: a count takes as many bytes as it needs
	big := binary.BigEndian
	plain := big.AppendUint32(nil, uint32(hdrhistogram.V2EncodingCookieBase|leb128))
	plain = big.AppendUint32(plain, uint32(len(counts)))
	plain = big.AppendUint32(plain, 0) // no bucket is moved
	plain = big.AppendUint32(plain, histogramDigits)
	plain = big.AppendUint64(plain, 1) // the least time
	plain = big.AppendUint64(plain, uint64(high))
	plain = big.AppendUint64(plain, math.Float64bits(1)) // what a count stands for
	packed := deflated(append(plain, counts...))
	whole := big.AppendUint32(nil, uint32(hdrhistogram.V2CompressedEncodingCookieBase|leb128))
	whole = big.AppendUint32(whole, uint32(len(packed)))
	return base64.StdEncoding.EncodeToString(append(whole, packed...))
}

// bucketOf returns the place of a time's bucket among all. Buckets of small times are 1 ns wide,
// and from each power of two on, beginning with the 2^11th, twice as wide.
func bucketOf(ns int64) int64 {
	wider := max(0, bits.Len64(uint64(ns))-bucketBits-1)
	return int64(wider)<<bucketBits + ns>>wider
}

var compressors = sync.Pool{New: func() any {
	w, _ := zlib.NewWriterLevel(nil, zlib.BestCompression) // fails at unknown levels only
	return w
}}

func deflated(plain []byte) []byte {
	var packed bytes.Buffer // its Write never fails
	w := compressors.Get().(*zlib.Writer)
	defer compressors.Put(w)
	w.Reset(&packed)
	w.Write(plain)
	w.Close()
	return packed.Bytes()
}
