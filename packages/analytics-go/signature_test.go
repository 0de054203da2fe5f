package analytics

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"
)

func TestVerifySignatureAgreesWithOpenSSL(t *testing.T) {
	text, err := os.ReadFile("testdata/signatures.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		Name, Secret, Body, Signature string
		Repeat                        *int
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		body := []byte(strings.Repeat(v.Body, orOne(v.Repeat)))
		// The empty secret is tested below.
		if valid := VerifySignature(v.Secret, body, v.Signature); valid != (v.Secret != "") {
			t.Errorf("%s: %v", v.Name, valid)
		}
	}
}

func TestVerifySignatureRefusesEverythingElse(t *testing.T) {
	// printf '{}' | openssl dgst -sha1 -hmac s3cret
	const secret, signature = "s3cret", "e7e0225292f975eab7d48999ea520020ef91b18d"
	body := []byte(`{}`)
	if !VerifySignature(secret, body, signature) {
		t.Fatal("the right signature is refused")
	}
	for name, valid := range map[string]bool{
		"another secret":   VerifySignature("other", body, signature),
		"another body":     VerifySignature(secret, []byte(`{} `), signature),
		"no header":        VerifySignature(secret, body, ""),
		"a shorter header": VerifySignature(secret, body, signature[:39]),
		"a longer header":  VerifySignature(secret, body, signature+"0"),
		"uppercase":        VerifySignature(secret, body, strings.ToUpper(signature)),
		"a prefix":         VerifySignature(secret, body, "sha1="+signature),
		// A receiver without a configured secret must not accept a signature that anyone can make.
		"an empty secret": VerifySignature("", body, "9b9585ab4f87eff122c8cd8e6fd94d358ed56f22"),
	} {
		if valid {
			t.Errorf("%s is taken", name)
		}
	}
}

// printf '{}' | openssl dgst -sha256 -hmac s3cret, and so on
func TestSchemeVerifiesWhatItDescribesAndNothingElse(t *testing.T) {
	github := SignatureScheme{Algorithm: "hmac-sha256", Prefix: "sha256="}
	shopify := SignatureScheme{Algorithm: "hmac-sha256", Encoding: "base64"}
	for name, c := range map[string]struct {
		scheme SignatureScheme
		header string
		valid  bool
	}{
		"GitHub":               {github, "sha256=adbde1ce40c89c14215687d5d762a47df6dfaefcfad61e2e86718ffc8498571b", true},
		"without the prefix":   {github, "adbde1ce40c89c14215687d5d762a47df6dfaefcfad61e2e86718ffc8498571b", false},
		"Shopify":              {shopify, "rb3hzkDInBQhVofV12Kkffbfrvz61h4uhnGP/ISYVxs=", true},
		"another encoding":     {shopify, "adbde1ce40c89c14215687d5d762a47df6dfaefcfad61e2e86718ffc8498571b", false},
		"SHA-512":              {SignatureScheme{Algorithm: "hmac-sha512", Encoding: "base64"}, "gh4+dZArJViBYoPjR8cerPVwdDbTw1AmT2J2cMZY8Hd/wvcXCTy3N+085h1l89WLkrUS74iUUzk8hlAncHpkKA==", true},
		"an unknown algorithm": {SignatureScheme{Algorithm: "sha256", Encoding: "base64"}, "rb3hzkDInBQhVofV12Kkffbfrvz61h4uhnGP/ISYVxs=", false},
	} {
		if valid := c.scheme.Verify("s3cret", []byte(`{}`), c.header); valid != c.valid {
			t.Errorf("%s: %v", name, valid)
		}
	}
}

func TestSchemeWithTimestampAcceptsOneOfSeveralSignaturesNearItsTime(t *testing.T) {
	// printf '1700000000.{}' | openssl dgst -sha256 -hmac s3cret
	const header = "t=1700000000,v1=00,v1=97926816e98fbb41ccb1673225ff29a2f35369099990e1b1561651e7bd097ebf"
	age := time.Since(time.Unix(1700000000, 0))
	stripe := SignatureScheme{Algorithm: "hmac-sha256", Timestamp: true, Tolerance: age + time.Hour}
	body := []byte(`{}`)
	if !stripe.Verify("s3cret", body, header) {
		t.Fatal("the right signature is refused")
	}
	future := fmt.Sprintf("t=%d", time.Now().Unix()+3600)
	for name, valid := range map[string]bool{
		"an old time":     SignatureScheme{Algorithm: "hmac-sha256", Timestamp: true}.Verify("s3cret", body, header),
		"another time":    stripe.Verify("s3cret", body, strings.Replace(header, "t=1700000000", future, 1)),
		"no time":         stripe.Verify("s3cret", body, "v1=97926816e98fbb41ccb1673225ff29a2f35369099990e1b1561651e7bd097ebf"),
		"no number":       stripe.Verify("s3cret", body, strings.Replace(header, "1700000000", "1e9", 1)),
		"no signature":    stripe.Verify("s3cret", body, "t=1700000000"),
		"an empty secret": stripe.Verify("", body, header),
	} {
		if valid {
			t.Errorf("%s is taken", name)
		}
	}
}
