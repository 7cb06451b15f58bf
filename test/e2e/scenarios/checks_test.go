package scenarios

import "fmt"

// wantEqual is an error that says what was expected, or nil.
func wantEqual[T comparable](what string, have, want T) error {
	if have != want {
		return fmt.Errorf("%s: %v, want %v", what, have, want)
	}
	return nil
}
