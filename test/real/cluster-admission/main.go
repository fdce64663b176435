// Judges objects as a Kubernetes API server would, with the server's own code: CustomResourceDefinitions are validated (cost of the rules
// included), and each object is pruned, defaulted, checked against the schema and the rules.
//
// Arguments are CustomResourceDefinition files. Every line of standard input is {"kind","object","old"?}; every line of standard output is
// {"ok","object"?,"messages"?} in the same order. A definition that the server would refuse ends the program with 1.
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	objects "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	celbudget "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/yaml"
)

type object = map[string]interface{}

type question struct {
	Kind   string `json:"kind"`
	Object object `json:"object"`
	Old    object `json:"old"`
}

type answer struct {
	Ok       bool     `json:"ok"`
	Object   object   `json:"object,omitempty"`
	Messages []string `json:"messages,omitempty"`
}

type judge struct {
	structural *schema.Structural
	types      objects.SchemaValidator
	rules      *cel.Validator
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func load(path string) (string, judge) {
	text, err := os.ReadFile(path)
	must(err)
	var given v1.CustomResourceDefinition
	must(yaml.UnmarshalStrict(text, &given))
	v1.SetDefaults_CustomResourceDefinition(&given)
	v1.SetDefaults_CustomResourceDefinitionSpec(&given.Spec)
	given.Status.StoredVersions = []string{given.Spec.Versions[0].Name}
	var definition apiextensions.CustomResourceDefinition
	must(v1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&given, &definition, nil))
	if problems := validation.ValidateCustomResourceDefinition(context.Background(), &definition); len(problems) > 0 {
		must(fmt.Errorf("%s: %w", path, problems.ToAggregate()))
	}
	var whole apiextensions.CustomResourceValidation
	must(v1.Convert_v1_CustomResourceValidation_To_apiextensions_CustomResourceValidation(given.Spec.Versions[0].Schema, &whole, nil))
	structural, err := schema.NewStructural(whole.OpenAPIV3Schema)
	must(err)
	types, _, err := objects.NewSchemaValidator(whole.OpenAPIV3Schema)
	must(err)
	return given.Spec.Names.Kind, judge{structural, types, cel.NewValidator(structural, true, celbudget.PerCallLimit)}
}

// whole turns numbers without a fraction into integers, as the server's decoder does.
func whole(value interface{}) interface{} {
	switch inner := value.(type) {
	case object:
		for key := range inner {
			inner[key] = whole(inner[key])
		}
	case []interface{}:
		for index := range inner {
			inner[index] = whole(inner[index])
		}
	case float64:
		if inner == float64(int64(inner)) {
			return int64(inner)
		}
	}
	return value
}

func (j judge) prepare(given object) object {
	if given == nil {
		return nil
	}
	whole(given)
	defaulting.PruneNonNullableNullsWithoutDefaults(given, j.structural)
	defaulting.Default(given, j.structural)
	pruning.Prune(given, j.structural, true)
	return given
}

func (j judge) ask(q question) answer {
	given, old := j.prepare(q.Object), j.prepare(q.Old)
	var messages []string
	for _, problem := range objects.ValidateCustomResource(nil, given, j.types) {
		messages = append(messages, "schema: "+problem.Error())
	}
	if len(messages) == 0 && j.rules != nil {
		var before interface{}
		if old != nil {
			before = old
		}
		problems, _ := j.rules.Validate(context.Background(), nil, j.structural, given, before, celbudget.RuntimeCELCostBudget)
		for _, problem := range problems {
			messages = append(messages, strings.TrimPrefix(problem.Field, "<nil>")+": "+problem.Detail)
		}
	}
	if len(messages) > 0 {
		return answer{Messages: messages}
	}
	return answer{Ok: true, Object: given}
}

func main() {
	judges := map[string]judge{}
	for _, path := range os.Args[1:] {
		kind, made := load(path)
		judges[kind] = made
	}
	lines := bufio.NewScanner(os.Stdin)
	lines.Buffer(make([]byte, 1<<20), 1<<24)
	out := json.NewEncoder(os.Stdout)
	for lines.Scan() {
		var q question
		must(json.Unmarshal(lines.Bytes(), &q))
		must(out.Encode(judges[q.Kind].ask(q)))
	}
	must(lines.Err())
}
