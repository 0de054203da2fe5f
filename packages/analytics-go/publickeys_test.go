package analytics

import (
	"crypto/ed25519"
	"encoding/base64"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestPublicKeysVerifyWhatTheirDestinationSignedAndNothingElse(t *testing.T) {
	public, private, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	other, _, err := ed25519.GenerateKey(nil)
	if err != nil {
		t.Fatal(err)
	}
	set := fmt.Sprintf(`{"keys":[{"kty":"OKP","crv":"Ed25519","x":%q,"kid":"k","use":"sig","alg":"EdDSA"}]}`,
		base64.RawURLEncoding.EncodeToString(public))
	keys, err := ParsePublicKeys([]byte(set))
	if err != nil {
		t.Fatal(err)
	}
	both, err := ParsePublicKeys([]byte(whpk(other) + " " + whpk(public) + "\n"))
	if err != nil {
		t.Fatal(err)
	}
	body := []byte(`{}`)
	headerOf := func(id string, at time.Time) http.Header {
		seconds := fmt.Sprint(at.Unix())
		signature := ed25519.Sign(private, []byte(id+"."+seconds+".{}"))
		header := http.Header{}
		header.Set("webhook-id", id)
		header.Set("webhook-timestamp", seconds)
		header.Set("webhook-signature", "v1,AAAA v1a,? v1a,AAAA v1a,"+base64.StdEncoding.EncodeToString(signature))
		return header
	}
	now := headerOf("d-1", time.Now())
	if !keys.Verify(body, now) || !both.Verify(body, now) {
		t.Fatal("the right signature is refused")
	}
	changed := func(name, value string) http.Header {
		header := now.Clone()
		header.Set(name, value)
		return header
	}
	for name, valid := range map[string]bool{
		"another body":      keys.Verify([]byte(`{} `), now),
		"another key":       PublicKeys{other}.Verify(body, now),
		"no key":            PublicKeys{}.Verify(body, now),
		"a short key":       PublicKeys{public[:31]}.Verify(body, now),
		"another id":        keys.Verify(body, changed("webhook-id", "d-2")),
		"another time":      keys.Verify(body, changed("webhook-timestamp", fmt.Sprint(time.Now().Unix()-60))),
		"no time":           keys.Verify(body, changed("webhook-timestamp", "")),
		"another algorithm": keys.Verify(body, changed("webhook-signature", strings.ReplaceAll(now.Get("webhook-signature"), "v1a,", "v1,"))),
		"no header":         keys.Verify(body, http.Header{}),
		"an old request":    keys.Verify(body, headerOf("d-1", time.Now().Add(-time.Hour))),
		"an id with a dot":  keys.Verify(body, headerOf("d.1", time.Now())),
	} {
		if valid {
			t.Errorf("%s is taken", name)
		}
	}
}

func TestParsePublicKeysRefusesWhatIsNoKey(t *testing.T) {
	for _, text := range []string{
		"", "{", "[]", `{"keys":[]}`, `{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AAAA"}]}`, `{"keys":[{"kty":"RSA","n":"AAAA"}]}`,
		"whpk_", "whpk_AAAA", whpk(make([]byte, 32)) + " whsec_AAAA", "s3cret",
	} {
		if keys, err := ParsePublicKeys([]byte(text)); err == nil || keys != nil {
			t.Errorf("%q: %v %v", text, keys, err)
		}
	}
}

func whpk(key ed25519.PublicKey) string {
	return "whpk_" + base64.StdEncoding.EncodeToString(key)
}
