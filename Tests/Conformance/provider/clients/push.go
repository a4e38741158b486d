// Go's own client with a certificate: push.go URL TOPIC CERTIFICATE KEY. Where a proxy is and whom to trust the environment says.
package main

import (
	"crypto/tls"
	"fmt"
	"log"
	"net/http"
	"os"
	"strings"
)

func main() {
	pair, err := tls.LoadX509KeyPair(os.Args[3], os.Args[4])
	if err != nil {
		log.Fatal(err)
	}
	transport := http.DefaultTransport.(*http.Transport).Clone()
	transport.TLSClientConfig = &tls.Config{Certificates: []tls.Certificate{pair}}
	request, err := http.NewRequest("POST", os.Args[1], strings.NewReader(`{"aps":{"alert":"Hello"}}`))
	if err != nil {
		log.Fatal(err)
	}
	request.Header.Set("apns-topic", os.Args[2])
	answer, err := (&http.Client{Transport: transport}).Do(request)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(answer.StatusCode, answer.Proto)
}
