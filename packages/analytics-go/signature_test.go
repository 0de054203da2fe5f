package analytics

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
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
