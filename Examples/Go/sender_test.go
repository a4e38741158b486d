package main

// Run by `apns-emulator exec`, which tells in the environment where the emulator is.

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const topic = "com.example.app"

var hello = []byte(`{"aps":{"alert":"Hello"}}`)

// api asks the emulator's console, and puts its answer into result.
func api(t *testing.T, method, path string, body any, result any) {
	t.Helper()
	text, err := json.Marshal(body)
	if err != nil {
		t.Fatal(err)
	}
	request, err := http.NewRequest(method, "http://"+os.Getenv("APNS_EMULATOR_CONSOLE")+"/api/v1"+path, bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("content-type", "application/json")
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	if answer.StatusCode >= 300 {
		t.Fatalf("%s %s: %s", method, path, answer.Status)
	}
	if err := json.NewDecoder(answer.Body).Decode(result); err != nil {
		t.Fatal(err)
	}
}

// phones answers the device tokens of this many phones.
func phones(t *testing.T, count int) (tokens []string) {
	t.Helper()
	api(t, "POST", "/reset", map[string]any{}, &struct{}{})
	for number := 0; number < count; number++ {
		var installed struct{ Token string }
		api(t, "POST", fmt.Sprintf("/devices/phone-%d/apps/%s/install", number, topic), map[string]any{}, &installed)
		tokens = append(tokens, installed.Token)
	}
	return tokens
}

func newSender(t *testing.T) *Sender {
	t.Helper()
	var key struct{ KeyID, Team, P8 string }
	api(t, "POST", "/keys", map[string]any{"team": "TEAM123456"}, &key)
	file := filepath.Join(t.TempDir(), "key.p8")
	if err := os.WriteFile(file, []byte(key.P8), 0o600); err != nil {
		t.Fatal(err)
	}
	_, port, _ := strings.Cut(os.Getenv("APNS_EMULATOR_PROVIDER"), ":")
	sender, err := senderOf(func(name string) string {
		return map[string]string{
			"APNS_HOST": "https://localhost:" + port, "APNS_TOPIC": topic, "APNS_CA": os.Getenv("APNS_EMULATOR_CA"),
			"APNS_KEY": file, "APNS_KEY_ID": key.KeyID, "APNS_TEAM": key.Team}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	return sender
}

// accepted counts how often a push to each device token was.
func accepted(t *testing.T) map[string]int {
	t.Helper()
	var history struct {
		Notifications []struct {
			Token   string
			Verdict struct{ Accepted bool }
		}
	}
	api(t, "GET", "/notifications?limit=1000", nil, &history)
	counts := map[string]int{}
	for _, push := range history.Notifications {
		if push.Verdict.Accepted {
			counts[push.Token]++
		}
	}
	return counts
}

func TestABatchReachesEveryPhoneAndTellsWhoIsNone(t *testing.T) {
	tokens := append(phones(t, 30), strings.Repeat("17", 32))
	outcomes := newSender(t).Send(context.Background(), tokens, hello)
	counts := accepted(t)
	for _, token := range tokens[:30] {
		if outcomes[token] != Sent || counts[token] != 1 {
			t.Errorf("%s: %s, %d times", token, outcomes[token], counts[token])
		}
	}
	if outcomes[tokens[30]] != "BadDeviceToken" {
		t.Errorf("a token that is none: %s", outcomes[tokens[30]])
	}
}

// What a good sender sends again, so that it arrives all the same.
func TestNothingIsLostWhere(t *testing.T) {
	for name, effect := range map[string]string{
		"a connection ends with GOAWAY": `{"goaway": {}}`, "a stream is refused": `{"rstStream": 7}`,
		"a connection is reset": `{"reset": true}`, "a server shuts down": `{"reason": "Shutdown"}`,
		"a provider token has expired": `{"reason": "ExpiredProviderToken"}`, "a phone got too many": `{"reason": "TooManyRequests"}`,
	} {
		t.Run(name, func(t *testing.T) {
			tokens := phones(t, 30)
			api(t, "POST", "/faults", map[string]any{
				"name": "one", "match": map[string]any{"interface": "provider", "token": tokens[10]}, "when": map[string]any{"next": 1},
				"effect": json.RawMessage(effect)}, &struct{}{})
			outcomes := newSender(t).Send(context.Background(), tokens, hello)
			counts := accepted(t)
			for number, token := range tokens {
				if outcomes[token] != Sent || counts[token] == 0 {
					t.Errorf("phone-%d: %s, %d times", number, outcomes[token], counts[token])
				}
				// After a reset nobody knows what was sent.
				if counts[token] > 1 && !strings.Contains(effect, "reset") {
					t.Errorf("phone-%d has it %d times", number, counts[token])
				}
			}
		})
	}
}

func TestABusyServiceIsTold(t *testing.T) {
	tokens := phones(t, 1)
	api(t, "POST", "/faults", map[string]any{"name": "busy", "effect": map[string]any{"reason": "ServiceUnavailable"}}, &struct{}{})
	outcomes := newSender(t).Send(context.Background(), tokens, hello)
	var history struct{ Notifications []struct{} }
	if api(t, "GET", "/notifications", nil, &history); outcomes[tokens[0]] != "ServiceUnavailable" || len(history.Notifications) != 1 {
		t.Errorf("%s after %d pushes", outcomes[tokens[0]], len(history.Notifications))
	}
}
