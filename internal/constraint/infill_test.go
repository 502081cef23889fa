package constraint

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/frescolm/fresco/internal/canvas"
)

func TestParseInfill(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []Part
	}{
		{"empty", "", nil},
		{"literal", "a b\n", []Part{{Text: "a b\n"}}},
		{"one position", "⟦⟧", []Part{{Free: 1}}},
		{"sized", "x⟦12⟧y", []Part{{Text: "x"}, {Free: 12}, {Text: "y"}}},
		{"zeros in front", "⟦007⟧", []Part{{Free: 7}}},
		{"two holes", "⟦2⟧⟦3⟧", []Part{{Free: 2}, {Free: 3}}},
		{"escaped", "⟦⟦3⟧⟧", []Part{{Text: "⟦3⟧"}}},
		{"bracket before a hole", "⟦⟦⟦2⟧", []Part{{Text: "⟦"}, {Free: 2}}},
		{"bracket after a hole", "⟦2⟧⟧⟧", []Part{{Free: 2}, {Text: "⟧"}}},
		{"largest", "⟦1000000⟧", []Part{{Free: 1_000_000}}},
		{"other brackets", "[3] ⟨3⟩", []Part{{Text: "[3] ⟨3⟩"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := ParseInfill(c.text)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseInfillErrors(t *testing.T) {
	for _, c := range []struct{ name, text, want string }{
		{"unclosed", "é⟦3", "infill: character 2 (byte 2): ⟦ is never closed (write ⟦⟦ for the bracket itself)"},
		{"unclosed at the end", "ab⟦", "infill: character 3 (byte 2): ⟦ is never closed (write ⟦⟦ for the bracket itself)"},
		{"odd doubled", "⟦⟦⟦", "infill: character 3 (byte 6): ⟦ is never closed (write ⟦⟦ for the bracket itself)"},
		{"letter", "⟦x⟧", `infill: character 1 (byte 0): a hole holds a number of positions, not "x"`},
		{"space", "⟦ 3⟧", `infill: character 1 (byte 0): a hole holds a number of positions, not " 3"`},
		{"negative", "⟦-3⟧", `infill: character 1 (byte 0): a hole holds a number of positions, not "-3"`},
		{"plus", "⟦+3⟧", `infill: character 1 (byte 0): a hole holds a number of positions, not "+3"`},
		{"fraction", "⟦1.5⟧", `infill: character 1 (byte 0): a hole holds a number of positions, not "1.5"`},
		{"hole in a hole", "⟦1⟦2⟧", `infill: character 1 (byte 0): a hole holds a number of positions, not "1⟦2"`},
		{"a page in a hole", "⟦" + strings.Repeat("long ", 99) + "⟧", `infill: character 1 (byte 0): a hole holds a number of positions, not "long long long long "…`},
		{"zero", "ab⟦0⟧", "infill: character 3 (byte 2): a hole of 0 positions"},
		{"huge", "⟦1000001⟧", "infill: character 1 (byte 0): a hole of 1000001 positions: more than 1000000"},
		{"beyond int64", "⟦99999999999999999999⟧", "infill: character 1 (byte 0): a hole of 99999999999999999999 positions: more than 1000000"},
		{"huge together", "⟦600000⟧⟦600000⟧", "infill: character 9 (byte 12): more than 1000000 free positions"},
		{"stray close", "ab⟧", "infill: character 3 (byte 2): ⟧ without a hole before it (write ⟧⟧ for the bracket itself)"},
		{"stray close after a hole", "⟦2⟧⟧", "infill: character 4 (byte 7): ⟧ without a hole before it (write ⟧⟧ for the bracket itself)"},
		{"not UTF-8", "a\xff", "infill: character 2 (byte 1): the text is not UTF-8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := ParseInfill(c.text)
			var e *InfillError
			if !errors.As(err, &e) {
				t.Fatalf("error %v is no *InfillError", err)
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestCells(t *testing.T) {
	encode := func(text string) []int32 {
		var ids []int32
		for _, r := range text {
			ids = append(ids, r)
		}
		return ids
	}
	got := Cells([]Part{{Text: "ab"}, {Free: 2}, {Free: 1}, {Text: "c"}}, encode)
	want := []canvas.Cell{
		{Kind: canvas.Pinned, ID: 'a'}, {Kind: canvas.Pinned, ID: 'b'},
		{}, {}, {},
		{Kind: canvas.Pinned, ID: 'c'},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if got := Cells(nil, encode); len(got) != 0 {
		t.Errorf("no parts gave %v", got)
	}
}

// FuzzInfill: what is read comes back when it is written and read again, its
// parts are well formed, and errors point into the text.
func FuzzInfill(f *testing.F) {
	for _, text := range []string{"", "a⟦3⟧b", "⟦⟦⟧⟧", "⟦⟧⟦2⟧⟧⟧", "⟦x⟧", "⟧", "⟦0⟧", "⟦1000001⟧", "\xff⟦"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		parts, err := ParseInfill(text)
		if err != nil {
			var e *InfillError
			if !errors.As(err, &e) || e.Byte < 0 || e.Byte >= len(text) || e.Rune > e.Byte {
				t.Fatalf("error %v", err)
			}
			return
		}
		for i, part := range parts {
			if (part.Text == "") == (part.Free == 0) || part.Free < 0 {
				t.Errorf("part %d is %+v", i, part)
			}
			if i > 0 && part.Free == 0 && parts[i-1].Free == 0 {
				t.Errorf("literals %d and %d touch", i-1, i)
			}
		}
		again, err := ParseInfill(formatInfill(parts))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(parts, again); diff != "" {
			t.Error(diff)
		}
	})
}

// formatInfill writes parts so that ParseInfill gives them back.
func formatInfill(parts []Part) string {
	escape := strings.NewReplacer(openHole, openHole+openHole, closeHole, closeHole+closeHole)
	var b strings.Builder
	for _, part := range parts {
		switch {
		case part.Free == 1:
			b.WriteString(openHole + closeHole)
		case part.Free > 1:
			b.WriteString(openHole + strconv.Itoa(part.Free) + closeHole)
		default:
			b.WriteString(escape.Replace(part.Text))
		}
	}
	return b.String()
}
