// Command sender pushes {"aps":{"alert":"Hello"}} to each device token of a file, one a line, and prints the outcome of each.
//
//	APNS_HOST     https://api.push.apple.com
//	APNS_TOPIC    the app's bundle id
//	APNS_CA       whom to trust; the system's authorities if empty
//	APNS_KEY, APNS_KEY_ID, APNS_TEAM      token key (.p8), its id and team
package main

import (
	"context"
	"crypto/x509"
	"fmt"
	"log"
	"os"
	"strings"
)

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: sender TOKENS")
	}
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		log.Fatal(err)
	}
	sender, err := senderOf(os.Getenv)
	if err != nil {
		log.Fatal(err)
	}
	tokens, failed := strings.Fields(string(text)), false
	outcomes := sender.Send(context.Background(), tokens, []byte(`{"aps":{"alert":"Hello"}}`))
	for _, token := range tokens {
		fmt.Println(token, outcomes[token])
		failed = failed || outcomes[token] != Sent
	}
	if failed {
		os.Exit(1)
	}
}

// senderOf makes a sender of what the environment says.
func senderOf(setting func(string) string) (*Sender, error) {
	p8, err := os.ReadFile(setting("APNS_KEY"))
	if err != nil {
		return nil, err
	}
	token, err := NewProviderToken(p8, setting("APNS_KEY_ID"), setting("APNS_TEAM"))
	if err != nil {
		return nil, err
	}
	var authorities *x509.CertPool
	if file := setting("APNS_CA"); file != "" {
		certificate, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		authorities = x509.NewCertPool()
		authorities.AppendCertsFromPEM(certificate)
	}
	return NewSender(setting("APNS_HOST"), setting("APNS_TOPIC"), authorities, token), nil
}
