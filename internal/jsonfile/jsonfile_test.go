package jsonfile

import (
	"errors"
	"testing"
)

type file struct {
	Size  int      `json:"size"`
	Small int8     `json:"small"`
	Share float32  `json:"share"`
	On    bool     `json:"on"`
	Names []string `json:"names"`
	Inner *struct {
		Name string `json:"name"`
	} `json:"inner"`
	Own refusing `json:"own"`
}

type refusing struct{}

var errRefused = errors.New("refused")

func (refusing) UnmarshalJSON([]byte) error { return errRefused }

func TestErrors(t *testing.T) {
	for _, test := range []struct{ data, want, strict string }{
		{data: `{"size": 5, "inner": {"name": "x"}}`},
		{data: `null`},
		{data: "", want: "the file is empty"},
		{data: " \n", want: "the file is empty"},
		{data: `{"size": 5`, want: "byte 10: the JSON ends early"},
		{data: `{"size": NaN}`, want: "byte 9: invalid character 'N' looking for beginning of value"},
		{data: "size = 5", want: "byte 0: invalid character 's' looking for beginning of value"},
		{data: "\ufeff{}", want: "byte 0: a byte order mark, which JSON does not have"},
		{data: `{} {}`, want: "byte 3: invalid character '{' after top-level value", strict: "byte 2: more after the value"},
		{data: `[]`, want: "want an object, found a list"},
		{data: `{"size": "5"}`, want: "size: want a whole number, found a text"},
		{data: `{"size": 5.5}`, want: "size: want a whole number, found 5.5"},
		{data: `{"size": 1e3}`, want: "size: want a whole number, found 1e3"},
		{data: `{"size": 99999999999999999999}`, want: "size: 99999999999999999999 is out of range"},
		{data: `{"small": -129}`, want: "small: -129 is out of range"},
		{data: `{"share": 1e99}`, want: "share: 1e99 is out of range"},
		{data: `{"share": []}`, want: "share: want a number, found a list"},
		{data: `{"on": 1}`, want: "on: want true or false, found a number"},
		{data: `{"names": {}}`, want: "names: want a list, found an object"},
		{data: `{"names": [1]}`, want: "names: want a text, found a number"},
		{data: `{"inner": true}`, want: "inner: want an object, found true or false"},
		{data: `{"inner": {"name": 1}}`, want: "inner.name: want a text, found a number"},
		{data: `{"other": 1}`, strict: `key "other" is not known`},
		{data: `{"own": 1}`, want: "refused"},
	} {
		strict := test.strict
		if strict == "" {
			strict = test.want
		}
		for name, decode := range map[string]struct {
			run  func([]byte, any) error
			want string
		}{"Unmarshal": {Unmarshal, test.want}, "Strict": {Strict, strict}} {
			text := ""
			err := decode.run([]byte(test.data), &file{})
			if err != nil {
				text = err.Error()
			}
			if text != decode.want {
				t.Errorf("%s of %q: got %q, want %q", name, test.data, text, decode.want)
			}
		}
	}
	if err := Unmarshal([]byte(`{"own": 1}`), &file{}); !errors.Is(err, errRefused) {
		t.Errorf("an error of the value itself: %v", err)
	}
}
