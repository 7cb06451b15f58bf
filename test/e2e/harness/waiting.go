package harness

import (
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net/http"
	"testing"
	"time"
)

// Hopeless is an error that no waiting mends.
type Hopeless string

func (h Hopeless) Error() string { return string(h) }

// Eventually asks again and again until the condition holds, and fails the scenario when the time is over.
func Eventually(t *testing.T, limit time.Duration, what string, condition func() error) {
	t.Helper()
	start := time.Now()
	for {
		err := condition()
		if err == nil {
			return
		}
		var hopeless Hopeless
		if errors.As(err, &hopeless) || time.Since(start) > limit {
			t.Fatalf("waited %.1f s of %v until %s: %v", time.Since(start).Seconds(), limit, what, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// Throughout asks again and again for some time, and fails the scenario when the condition does not hold.
func Throughout(t *testing.T, during time.Duration, what string, condition func() error) {
	t.Helper()
	start := time.Now()
	for time.Since(start) < during {
		if err := condition(); err != nil {
			t.Fatalf("after %.1f s, not so: %s: %v", time.Since(start).Seconds(), what, err)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

func insecureClient() *http.Client {
	return &http.Client{
		Timeout:   5 * time.Second,
		Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true},
	}
}

func getOK(client *http.Client, url string) error {
	answer, err := client.Get(url)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %.300s", url, answer.Status, body)
	}
	return nil
}
