// golang.org/x/net/http2: one client, a goroutine for each device token, and a push certificate.
package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"
)

func setting(name string) string { return os.Getenv("APNS_EMULATOR_" + name) }

func push(client *http.Client, url string) error {
	request, err := http.NewRequest("POST", url, strings.NewReader(`{"aps":{"alert":"Hello"}}`))
	if err != nil {
		return err
	}
	request.Header.Set("apns-topic", setting("TOPIC"))
	request.Header.Set("apns-push-type", "alert")
	answer, err := client.Do(request)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err == nil && answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s", body)
	}
	return err
}

func main() {
	pair, err := tls.LoadX509KeyPair(setting("CERT"), setting("CERT_KEY"))
	if err != nil {
		log.Fatal(err)
	}
	authority, err := os.ReadFile(setting("CA"))
	if err != nil {
		log.Fatal(err)
	}
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(authority)
	list, err := os.ReadFile(setting("TOKEN_FILE"))
	if err != nil {
		log.Fatal(err)
	}
	report, err := os.Create(setting("REPORT"))
	if err != nil {
		log.Fatal(err)
	}
	client := &http.Client{Timeout: 30 * time.Second, Transport: &http2.Transport{
		TLSClientConfig: &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: authorities}}}
	_, port, _ := net.SplitHostPort(setting("PROVIDER"))
	var all sync.WaitGroup
	for _, line := range strings.Split(strings.TrimSpace(string(list)), "\n") {
		all.Add(1)
		go func(token string) {
			defer all.Done()
			if err := push(client, "https://localhost:"+port+"/3/device/"+token); err != nil {
				fmt.Fprintln(report, token, err)
			}
		}(strings.Fields(line)[0])
	}
	all.Wait()
}
