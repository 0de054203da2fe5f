package analytics

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/hex"
)

// VerifySignature reports whether the header X-Signature of a webhook is the signature of its body with the shared
// secret: the HMAC-SHA1 of the body's bytes as received, in lowercase hexadecimal. It compares in constant time.
// Without a header, or with an empty secret, it returns false.
func VerifySignature(secret string, body []byte, header string) bool {
	if secret == "" {
		return false
	}
	mac := hmac.New(sha1.New, []byte(secret))
	mac.Write(body)
	expected := hex.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(expected), []byte(header))
}
