package analytics

import (
	"crypto/hmac"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"strconv"
	"strings"
	"time"
)

// VerifySignature reports whether the header X-Signature of a webhook is the signature of its body with the shared
// secret: the HMAC-SHA1 of the body's bytes as received, in lowercase hexadecimal. It compares in constant time.
// Without a header, or with an empty secret, it returns false.
func VerifySignature(secret string, body []byte, header string) bool {
	return SignatureScheme{}.Verify(secret, body, header)
}

// SignatureScheme is how a destination signs its requests, with the values of its settings.signature.
type SignatureScheme struct {
	// Algorithm is hmac-sha1 (the default), hmac-sha256 or hmac-sha512.
	Algorithm string
	// Encoding is hex (the default) or base64.
	Encoding string
	// Prefix stands before the signature. The default is none, or v1= with Timestamp.
	Prefix string
	// Timestamp says that the header has the time of the request, which is signed too.
	Timestamp bool
	// Tolerance is how far that time may be from now, by default five minutes.
	Tolerance time.Duration
}

var hashes = map[string]func() hash.Hash{
	"":            sha1.New,
	"hmac-sha1":   sha1.New,
	"hmac-sha256": sha256.New,
	"hmac-sha512": sha512.New,
}

// Verify is VerifySignature for the header of this scheme. With an unknown algorithm it returns false.
func (s SignatureScheme) Verify(secret string, body []byte, header string) bool {
	newHash := hashes[s.Algorithm]
	if secret == "" || newHash == nil {
		return false
	}
	mac := hmac.New(newHash, []byte(secret))
	prefix, given := s.Prefix, []string{header}
	if s.Timestamp {
		if prefix == "" {
			prefix = "v1="
		}
		given = strings.Split(header, ",")
		seconds := strings.TrimPrefix(given[0], "t=")
		if seconds == given[0] || !s.isNow(seconds) {
			return false
		}
		mac.Write([]byte(seconds + "."))
		given = given[1:]
	}
	mac.Write(body)
	expected := []byte(prefix + s.encode(mac.Sum(nil)))
	for _, signature := range given {
		if hmac.Equal(expected, []byte(signature)) {
			return true
		}
	}
	return false
}

func (s SignatureScheme) isNow(seconds string) bool {
	at, err := strconv.ParseInt(seconds, 10, 64)
	tolerance := s.Tolerance
	if tolerance == 0 {
		tolerance = 5 * time.Minute
	}
	age := time.Since(time.Unix(at, 0))
	return err == nil && -tolerance <= age && age <= tolerance
}

func (s SignatureScheme) encode(digest []byte) string {
	if s.Encoding == "base64" {
		return base64.StdEncoding.EncodeToString(digest)
	}
	return hex.EncodeToString(digest)
}
