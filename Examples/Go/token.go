package main

import (
	"crypto/ecdsa"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"sync"
	"time"
)

// Apple refuses provider tokens that are older than an hour, and providers that make new ones more often than every 20 minutes.
const tokenLifetime = 50 * time.Minute

// ProviderToken signs with a token key (.p8), and keeps what it has signed for all pushes until it is old.
type ProviderToken struct {
	key           *ecdsa.PrivateKey
	keyID, teamID string

	mutex  sync.Mutex
	text   string
	signed time.Time
}

// NewProviderToken reads the key from PEM.
func NewProviderToken(p8 []byte, keyID, teamID string) (*ProviderToken, error) {
	block, _ := pem.Decode(p8)
	if block == nil {
		return nil, errors.New("the token key is not in PEM")
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, err
	}
	key, isEC := parsed.(*ecdsa.PrivateKey)
	if !isEC {
		return nil, errors.New("the token key is none for ES256")
	}
	return &ProviderToken{key: key, keyID: keyID, teamID: teamID}, nil
}

// Text answers the token that is good now.
func (t *ProviderToken) Text() (string, error) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.text != "" && time.Since(t.signed) < tokenLifetime {
		return t.text, nil
	}
	now := time.Now()
	unsigned := part(map[string]any{"alg": "ES256", "kid": t.keyID}) + "." + part(map[string]any{"iss": t.teamID, "iat": now.Unix()})
	digest := sha256.Sum256([]byte(unsigned))
	r, s, err := ecdsa.Sign(rand.Reader, t.key, digest[:])
	if err != nil {
		return "", err
	}
	signature := make([]byte, 64)
	r.FillBytes(signature[:32])
	s.FillBytes(signature[32:])
	t.text, t.signed = unsigned+"."+base64.RawURLEncoding.EncodeToString(signature), now
	return t.text, nil
}

// Renew gives up a token that has expired, unless another push has done so already.
func (t *ProviderToken) Renew(expired string) {
	t.mutex.Lock()
	defer t.mutex.Unlock()
	if t.text == expired {
		t.text = ""
	}
}

func part(value map[string]any) string {
	text, _ := json.Marshal(value)
	return base64.RawURLEncoding.EncodeToString(text)
}
