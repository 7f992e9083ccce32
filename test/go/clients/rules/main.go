// Rules tells which RBAC rules cover which others, as Kubernetes does before somebody may give away rights: a JSON object
// on a line of stdin is a question, a line of stdout its answer.
package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/component-helpers/auth/rbac/validation"
)

// question asks whether the rules allow what a single rule is about.
type question struct {
	Rules []rbacv1.PolicyRule `json:"rules"`
	Asked rbacv1.PolicyRule   `json:"asked"`
}

func main() {
	if err := answer(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func answer(from io.Reader, to io.Writer) error {
	questions, answers := json.NewDecoder(from), json.NewEncoder(to)
	for {
		var q question
		if err := questions.Decode(&q); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		covers, _ := validation.Covers(q.Rules, []rbacv1.PolicyRule{q.Asked})
		if err := answers.Encode(covers); err != nil {
			return err
		}
	}
}
