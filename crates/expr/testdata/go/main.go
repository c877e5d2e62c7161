// Records what Go's text/template prints for the cases of templates.json.
//
//	go run . < ../templates.json > recorded.json
//
// The functions are sprig's, overridden by those of the Go adapter (string
// first). Reads the cases on stdin and writes them with "want" or "error".
package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/template"
	"time"

	"github.com/Masterminds/sprig/v3"
	"github.com/google/uuid"
	"sigs.k8s.io/yaml"
)

type Case struct {
	Template string  `json:"template"`
	Data     string  `json:"data,omitempty"`
	Want     *string `json:"want,omitempty"`
	Error    string  `json:"error,omitempty"`
	// What this project prints instead (nothing: it reports an error), and why.
	Ours *string `json:"ours,omitempty"`
	Why  string  `json:"why,omitempty"`
}

type File struct {
	Now   string                     `json:"now"`
	Data  map[string]json.RawMessage `json:"data"`
	Cases []Case                     `json:"cases"`
}

// Integral JSON numbers are integers, as in this project; plain Go would make
// all of them float64.
func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := strconv.Atoi(string(v)); err == nil {
			return i
		}
		if u, err := strconv.ParseUint(string(v), 10, 64); err == nil {
			return u
		}
		f, _ := v.Float64()
		return f
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	}
	return v
}

func decode(raw []byte) any {
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(err)
	}
	return numbers(v)
}

func toInt(v any) int64 {
	switch v := v.(type) {
	case int:
		return int64(v)
	case int64:
		return v
	case float64:
		return int64(v)
	case bool:
		if v {
			return 1
		}
	case string:
		if i, err := strconv.ParseInt(v, 10, 64); err == nil {
			return i
		}
		f, _ := strconv.ParseFloat(v, 64)
		return int64(f)
	}
	return 0
}

func toFloat(v any) float64 {
	switch v := v.(type) {
	case int:
		return float64(v)
	case int64:
		return float64(v)
	case float64:
		return v
	case string:
		f, _ := strconv.ParseFloat(v, 64)
		return f
	}
	return 0
}

func functions(now time.Time) template.FuncMap {
	f := sprig.TxtFuncMap()
	delete(f, "slice") // the builtin also cuts strings
	f["now"] = func() time.Time { return now }
	f["date"] = func(layout string, t time.Time) string { return t.Format(layout) }
	f["dateFormat"] = f["date"]
	f["lower"], f["upper"], f["title"] = strings.ToLower, strings.ToUpper, strings.Title
	f["trim"] = strings.TrimSpace
	f["trimPrefix"], f["trimSuffix"] = strings.TrimPrefix, strings.TrimSuffix
	f["replace"] = strings.ReplaceAll
	f["contains"], f["hasPrefix"], f["hasSuffix"] = strings.Contains, strings.HasPrefix, strings.HasSuffix
	f["quote"] = func(v any) string { return fmt.Sprintf("%q", fmt.Sprint(v)) }
	f["default"] = func(def, v any) any {
		if v == nil || v == "" {
			return def
		}
		return v
	}
	f["int"], f["int64"] = toInt, toInt
	f["float"], f["float64"] = toFloat, toFloat
	f["string"] = func(v any) string { return fmt.Sprintf("%v", v) }
	// Not in sprig, but in Helm and so in manifests.
	f["toYaml"] = func(v any) (string, error) {
		b, err := yaml.Marshal(v)
		return strings.TrimSuffix(string(b), "\n"), err
	}
	f["fromYaml"] = func(s string) (any, error) {
		j, err := yaml.YAMLToJSON([]byte(s))
		if err != nil {
			return nil, err
		}
		return decode(j), nil
	}
	f["fromJson"] = func(s string) (any, error) {
		if !json.Valid([]byte(s)) {
			return nil, fmt.Errorf("no JSON")
		}
		return decode([]byte(s)), nil
	}
	f["required"] = func(msg string, v any) (any, error) {
		if v == nil || v == "" {
			return nil, fmt.Errorf("%s", msg)
		}
		return v, nil
	}
	f["uuidv5"] = func(ns, name string) (string, error) {
		space := map[string]uuid.UUID{"dns": uuid.NameSpaceDNS, "url": uuid.NameSpaceURL}[ns]
		if space == uuid.Nil {
			var err error
			if space, err = uuid.Parse(ns); err != nil {
				return "", err
			}
		}
		return uuid.NewSHA1(space, []byte(name)).String(), nil
	}
	return f
}

func run(c *Case, data any, funcs template.FuncMap) (out string, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	t, err := template.New("t").Option("missingkey=error").Funcs(funcs).Parse(c.Template)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	err = t.Execute(&b, data)
	return b.String(), err
}

func main() {
	in, err := io.ReadAll(os.Stdin)
	if err != nil {
		panic(err)
	}
	var f File
	if err := json.Unmarshal(in, &f); err != nil {
		panic(err)
	}
	now, err := time.Parse(time.RFC3339Nano, f.Now)
	if err != nil {
		panic(err)
	}
	for i := range f.Cases {
		c := &f.Cases[i]
		c.Want, c.Error = nil, ""
		var data any = map[string]any{}
		if c.Data != "" {
			data = decode(f.Data[c.Data])
		}
		out, err := run(c, data, functions(now))
		if err != nil {
			c.Error = err.Error()
		} else {
			c.Want = &out
		}
	}
	// One case a line keeps the diff of a new recording readable.
	o := os.Stdout
	encode := func(v any) string {
		var b strings.Builder
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		if err := e.Encode(v); err != nil {
			panic(err)
		}
		return strings.TrimSpace(b.String())
	}
	fmt.Fprintf(o, "{\n  \"now\": %s,\n  \"data\": %s,\n  \"cases\": [\n", encode(f.Now), encode(f.Data))
	for i, c := range f.Cases {
		comma := ","
		if i == len(f.Cases)-1 {
			comma = ""
		}
		fmt.Fprintf(o, "    %s%s\n", encode(c), comma)
	}
	fmt.Fprint(o, "  ]\n}\n")
}
