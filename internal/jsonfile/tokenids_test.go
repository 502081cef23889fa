package jsonfile

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestTokenIDs(t *testing.T) {
	for _, test := range []struct {
		data    string
		want    []NamedIDs
		problem string
	}{
		{data: `{}`},
		{data: `{"token_id": 1, "ids": [2], "eos_token": 3}`},
		{
			data: `{"text_config": {"pad_token_id": 0}, "eos_token_id": [1, 106], "bos_token_id": 2, "mask_token_id": null}`,
			want: []NamedIDs{
				{"bos_token_id", []int64{2}}, {"eos_token_id", []int64{1, 106}}, {"mask_token_id", nil},
				{"text_config.pad_token_id", []int64{0}},
			},
		},
		{data: `{"eos_token_id": []}`, want: []NamedIDs{{"eos_token_id", []int64{}}}},
		{data: `{"eos_token_id": -99999999999}`, want: []NamedIDs{{"eos_token_id", []int64{-99999999999}}}},
		{data: `{"eos_token_id": [null]}`, problem: "eos_token_id: want a whole number, found null"},
		{data: `{"eos_token_id": [1, null]}`, problem: "eos_token_id: want a whole number, found null"},
		{data: `{"eos_token_id": "<eos>"}`, problem: "eos_token_id: want a whole number, found a text"},
		{data: `{"eos_token_id": [1.5]}`, problem: "eos_token_id: want a whole number, found 1.5"},
		{data: `{"text_config": {"eos_token_id": {}}}`, problem: "text_config.eos_token_id: want a whole number, found an object"},
		{data: `{"text_config": 5}`, problem: "text_config: want an object, found a number"},
		{data: `[]`, problem: "want an object, found a list"},
	} {
		got, err := TokenIDs([]byte(test.data))
		problem := ""
		if err != nil {
			problem = err.Error()
		}
		if problem != test.problem {
			t.Errorf("%s: got %q, want %q", test.data, problem, test.problem)
		}
		if diff := cmp.Diff(test.want, got); diff != "" && problem == "" {
			t.Errorf("%s (-want +got):\n%s", test.data, diff)
		}
	}
}
