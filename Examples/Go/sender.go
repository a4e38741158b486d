package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	// Pushes that are under way at a time. The transport itself keeps to what the server allows.
	width = 100
	// How often a push is tried whose answer did not come, and the pause after the first time, which doubles.
	tries      = 5
	firstPause = 200 * time.Millisecond
	// How long to wait for an answer.
	patience = 20 * time.Second
)

// Sent is the outcome of a push that was accepted. Any other outcome is Apple's reason, or what became of the connection.
const Sent = "sent"

// Sender pushes over HTTP/2 with a provider token.
type Sender struct {
	host, topic string
	authorities *x509.CertPool
	token       *ProviderToken

	mutex  sync.Mutex
	client *http.Client
}

// NewSender takes the host, such as https://api.push.apple.com, the app's bundle id, and whom to trust: nil for the system's authorities.
func NewSender(host, topic string, authorities *x509.CertPool, token *ProviderToken) *Sender {
	return &Sender{host: host, topic: topic, authorities: authorities, token: token}
}

// Send pushes one payload to many device tokens, and answers the outcome of each.
func (s *Sender) Send(ctx context.Context, tokens []string, payload []byte) map[string]string {
	outcomes := make(map[string]string, len(tokens))
	var mutex sync.Mutex
	var all sync.WaitGroup
	places := make(chan struct{}, width)
	if len(tokens) > 0 {
		// It opens the connection: many at once would open one each.
		outcomes[tokens[0]] = s.push(ctx, tokens[0], payload)
		tokens = tokens[1:]
	}
	for _, token := range tokens {
		places <- struct{}{}
		all.Add(1)
		go func(token string) {
			defer func() { <-places; all.Done() }()
			outcome := s.push(ctx, token, payload)
			mutex.Lock()
			defer mutex.Unlock()
			outcomes[token] = outcome
		}(token)
	}
	all.Wait()
	return outcomes
}

// push tries again where that may help at once or soon. 500 and 503 are told: Apple asks to come back after a quarter of an hour.
func (s *Sender) push(ctx context.Context, device string, payload []byte) (outcome string) {
	pause := firstPause
	for try := 0; try < tries; try++ {
		bearer, err := s.token.Text()
		if err != nil {
			return err.Error()
		}
		client := s.connected()
		outcome, err = s.request(ctx, client, device, payload, bearer)
		switch {
		case err != nil:
			// Sent, or not: nobody knows. A collapse id would make a second one harmless.
			outcome = err.Error()
			s.leave(client, err)
		case outcome == "Shutdown":
			// One server of many stops: the next connection is to another.
			s.leave(client, nil)
			continue
		case outcome == "ExpiredProviderToken":
			s.token.Renew(bearer)
			continue
		case outcome != "TooManyRequests" && outcome != "TooManyProviderTokenUpdates":
			return outcome
		}
		select {
		case <-ctx.Done():
			return outcome
		case <-time.After(pause):
			pause *= 2
		}
	}
	return outcome
}

// request answers Sent or Apple's reason. What GOAWAY or REFUSED_STREAM left unread the transport sends again by itself: it can, as the
// body is one that can be read twice.
func (s *Sender) request(ctx context.Context, client *http.Client, device string, payload []byte, bearer string) (string, error) {
	request, err := http.NewRequestWithContext(ctx, "POST", s.host+"/3/device/"+device, bytes.NewReader(payload))
	if err != nil {
		return "", err
	}
	request.Header.Set("authorization", "bearer "+bearer)
	request.Header.Set("apns-topic", s.topic)
	request.Header.Set("apns-push-type", "alert")
	answer, err := client.Do(request)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	if answer.StatusCode == http.StatusOK {
		return Sent, nil
	}
	var why struct {
		Reason string `json:"reason"`
	}
	if err := json.NewDecoder(answer.Body).Decode(&why); err != nil {
		return "", fmt.Errorf("status %d: %w", answer.StatusCode, err)
	}
	return why.Reason, nil
}

// connected answers the client that all pushes share: one connection.
func (s *Sender) connected() *http.Client {
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.client == nil {
		s.client = &http.Client{Timeout: patience, Transport: &http.Transport{
			ForceAttemptHTTP2: true,
			// One that was left closes when nothing is under way on it any more.
			IdleConnTimeout: 90 * time.Second,
			Proxy:           http.ProxyFromEnvironment,
			TLSClientConfig: &tls.Config{RootCAs: s.authorities},
		}}
	}
	return s.client
}

// leave makes the next push open a new connection. A transport would go on with one that is dead, which only a timeout tells.
func (s *Sender) leave(client *http.Client, err error) {
	var timeout interface{ Timeout() bool }
	if err != nil && !(errors.As(err, &timeout) && timeout.Timeout()) {
		return
	}
	s.mutex.Lock()
	defer s.mutex.Unlock()
	if s.client == client {
		s.client = nil
	}
}
