package analytics

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
)

// PublicKeys are the Ed25519 keys of a destination with ed25519 in its settings.
type PublicKeys []ed25519.PublicKey

var errPublicKeys = errors.New("analytics: neither a JSON Web Key Set with Ed25519 keys nor keys as whpk_ and 32 bytes in base64")

// ParsePublicKeys reads the key set of a destination, which control serves at
// /.well-known/tailrace/jwks.json?destination=<id>, or keys as whpk_ and base64 with spaces between them. The result has
// at least one key.
func ParsePublicKeys(text []byte) (PublicKeys, error) {
	var set struct {
		Keys []struct{ Kty, Crv, X string }
	}
	var keys PublicKeys
	add := func(encoding *base64.Encoding, text string) bool {
		key, err := encoding.DecodeString(text)
		keys = append(keys, key)
		return err == nil && len(key) == ed25519.PublicKeySize
	}
	valid := true
	if trimmed := strings.TrimSpace(string(text)); strings.HasPrefix(trimmed, "whpk_") {
		for _, one := range strings.Fields(trimmed) {
			valid = valid && strings.HasPrefix(one, "whpk_") && add(base64.StdEncoding, one[len("whpk_"):])
		}
	} else if err := json.Unmarshal(text, &set); err != nil {
		return nil, errPublicKeys
	}
	for _, one := range set.Keys {
		valid = valid && one.Kty == "OKP" && one.Crv == "Ed25519" && add(base64.RawURLEncoding, one.X)
	}
	if !valid || len(keys) == 0 {
		return nil, errPublicKeys
	}
	return keys, nil
}

// Verify reports whether the header webhook-signature of a request has an Ed25519 signature (v1a) of its body, the bytes as
// received, that one of the keys made within five minutes. Without keys it returns false.
func (keys PublicKeys) Verify(body []byte, header http.Header) bool {
	id, seconds := header.Get("webhook-id"), header.Get("webhook-timestamp")
	// With a dot in the id, a part of the body could be taken for the time.
	if strings.Contains(id, ".") || !(SignatureScheme{}).isNow(seconds) {
		return false
	}
	message := append([]byte(id+"."+seconds+"."), body...)
	for _, one := range strings.Fields(header.Get("webhook-signature")) {
		signature, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(one, "v1a,"))
		if err != nil || !strings.HasPrefix(one, "v1a,") {
			continue
		}
		for _, key := range keys {
			if len(key) == ed25519.PublicKeySize && ed25519.Verify(key, message, signature) {
				return true
			}
		}
	}
	return false
}
