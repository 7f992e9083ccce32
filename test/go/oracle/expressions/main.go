// Expressions compiles and evaluates expressions of admission policies with Kubernetes' own library. It reads a JSON array of
// cases from stdin, and prints a JSON array of their results.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	plugincel "k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"
)

type variable struct {
	Name       string `json:"name"`
	Expression string `json:"expression"`
}

func (v variable) GetExpression() string    { return v.Expression }
func (v variable) GetName() string          { return v.Name }
func (v variable) ReturnTypes() []*cel.Type { return []*cel.Type{cel.AnyType, cel.DynType} }

type accessor struct {
	source string
	wanted []*cel.Type
}

func (a accessor) GetExpression() string    { return a.source }
func (a accessor) ReturnTypes() []*cel.Type { return a.wanted }

type testCase struct {
	Source    string     `json:"source"`
	Wanted    string     `json:"wanted"` // "" for any type
	Variables []variable `json:"variables"`
	Object    any        `json:"object"`
}

type result struct {
	Problem string `json:"problem,omitempty"` // error of the compilation
	Error   string `json:"error,omitempty"`   // error of the evaluation
	Value   any    `json:"value,omitempty"`
}

var wanted = map[string][]*cel.Type{
	"":       {cel.AnyType},
	"bool":   {cel.BoolType},
	"string": {cel.StringType},
	"audit":  {cel.StringType, cel.NullType},
	"object": {types.NewObjectType("Object")},
	"patch":  {cel.ListType(types.NewObjectType("JSONPatch"))},
}

func evaluate(one testCase) (result, error) {
	compiler, err := plugincel.NewCompositedCompiler(environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()))
	if err != nil {
		return result{}, err
	}
	options := plugincel.OptionalVariableDeclarations{HasAuthorizer: true, HasParams: true}
	for _, v := range one.Variables {
		if compiled := compiler.CompileAndStoreVariable(v, options, environment.NewExpressions); compiled.Error != nil {
			return result{Problem: compiled.Error.Detail}, nil
		}
	}
	options.HasPatchTypes = one.Wanted == "object" || one.Wanted == "patch"
	compiled := compiler.CompileCELExpression(accessor{one.Source, wanted[one.Wanted]}, options, environment.NewExpressions)
	if compiled.Error != nil {
		return result{Problem: compiled.Error.Detail}, nil
	}
	ctx := compiler.CreateContext(context.Background())
	activation := map[string]any{"object": one.Object, "oldObject": nil, "params": nil, "namespaceObject": nil, "request": map[string]any{}}
	activation["variables"] = ctx.Variables(activation)
	value, _, err := compiled.Program.ContextEval(ctx, activation)
	if err != nil {
		return result{Error: err.Error()}, nil
	}
	if object, ok := value.(*dynamic.ObjectVal); ok {
		if err := object.CheckTypeNamesMatchFieldPathNames(); err != nil {
			return result{Error: err.Error()}, nil
		}
	}
	return result{Value: value.Value()}, nil
}

// number turns whole numbers into integers, as in objects of Kubernetes.
func number(value any) any {
	switch value := value.(type) {
	case json.Number:
		if whole, err := value.Int64(); err == nil {
			return whole
		}
		float, _ := value.Float64()
		return float
	case map[string]any:
		for name, member := range value {
			value[name] = number(member)
		}
	case []any:
		for at, element := range value {
			value[at] = number(element)
		}
	}
	return value
}

func run() error {
	var cases []testCase
	decoder := json.NewDecoder(os.Stdin)
	decoder.UseNumber()
	if err := decoder.Decode(&cases); err != nil {
		return err
	}
	results := make([]result, len(cases))
	for at, one := range cases {
		one.Object = number(one.Object)
		var err error
		if results[at], err = evaluate(one); err != nil {
			return err
		}
	}
	return json.NewEncoder(os.Stdout).Encode(results)
}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
