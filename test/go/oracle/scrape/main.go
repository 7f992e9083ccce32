// Scrape reads metrics from stdin as Prometheus does, and tells in JSON what they are and what its linter says of them.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

type family struct {
	Type   string `json:"type"`
	Help   string `json:"help"`
	Series int    `json:"series"`
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	text, err := io.ReadAll(os.Stdin)
	if err != nil {
		return err
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	parsed, err := parser.TextToMetricFamilies(bytes.NewReader(text))
	if err != nil {
		return err
	}
	families := map[string]family{}
	for name, one := range parsed {
		families[name] = family{Type: one.GetType().String(), Help: one.GetHelp(), Series: len(one.GetMetric())}
	}
	problems, err := promlint.New(bytes.NewReader(text)).Lint()
	if err != nil {
		return err
	}
	lint := []string{}
	for _, problem := range problems {
		lint = append(lint, problem.Metric+": "+problem.Text)
	}
	return json.NewEncoder(os.Stdout).Encode(map[string]any{"families": families, "lint": lint})
}
