package analytics

import (
	"crypto/hmac"
	"crypto/sha1"
	"encoding/hex"
)

// VerifySignature tells whether the header X-Signature of a webhook was made from its body by one who has the shared secret: the
// HMAC-SHA1 of the body's bytes as they arrived, in lowercase hexadecimal. It takes as long for a wrong signature as for the right
// one. Without a header, or with an empty secret, it is false.
func VerifySignature(secret string, body []byte, header string) bool {
	if secret == "" {
		return false
	}
	mac := hmac.New(sha1.New, []byte(secret))
	mac.Write(body)
	expected := hex.EncodeToString(mac.Sum(nil))
	return hmac.Equal([]byte(expected), []byte(header))
}
