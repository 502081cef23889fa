package weights

import (
	"fmt"
	"strconv"
	"strings"
)

// A RejectedError says that a checkpoint was found and read, and that its
// content cannot be used.
type RejectedError struct {
	// Path is the folder, as it was named when it was opened.
	Path string
	Err  error

	named bool // Err's text names the folder itself
}

func (e *RejectedError) Error() string {
	if e.named {
		return e.Err.Error()
	}
	return e.Path + ": " + e.Err.Error()
}

// Unwrap returns Err.
func (e *RejectedError) Unwrap() error { return e.Err }

// A MismatchError says that the tensors of a checkpoint are not those that its
// architecture expects. Its text names the first of each kind; Report has all.
type MismatchError struct {
	Report Report
}

// maxListed is the number of tensors of one kind that an error text names.
const maxListed = 10

func (e *MismatchError) Error() string {
	var b strings.Builder
	missing, wrong := e.Report.Missing, e.Report.Wrong
	switch {
	case len(wrong) == 0:
		fmt.Fprintf(&b, "%s missing:", tensors(len(missing)))
	case len(missing) == 0:
		fmt.Fprintf(&b, "%s unusable:", tensors(len(wrong)))
	default:
		fmt.Fprintf(&b, "%s missing, %s unusable:", tensors(len(missing)), tensors(len(wrong)))
	}
	list(&b, missing, Missing.String)
	list(&b, wrong, Wrong.String)
	return b.String()
}

func tensors(n int) string {
	if n == 1 {
		return "1 tensor is"
	}
	return fmt.Sprintf("%d tensors are", n)
}

func list[T any](b *strings.Builder, all []T, text func(T) string) {
	for i, x := range all {
		if i == maxListed {
			fmt.Fprintf(b, "\n  and %d more", len(all)-i)
			return
		}
		b.WriteString("\n  " + text(x))
	}
}

// String names the slot, its hint, and the nearest stored names.
func (m Missing) String() string {
	text := "missing " + Show(m.Slot.Name)
	if m.Slot.Hint != "" {
		text += " (" + m.Slot.Hint + ")"
	}
	if len(m.Nearest) > 0 {
		names := make([]string, len(m.Nearest))
		for i, name := range m.Nearest {
			names[i] = Show(name)
		}
		text += "; nearest: " + strings.Join(names, ", ")
	}
	return text
}

// String names the stored tensor, its file, and the reason.
func (w Wrong) String() string {
	return fmt.Sprintf("%s in %s: %s", Show(w.Info.Name), w.Info.File, w.Reason)
}

// Show gives a name from a file as it is, quoted where it could garble a
// terminal, and cut where it is too long.
func Show(name string) string {
	const limit = 200
	if len(name) > limit || strings.ContainsFunc(name, func(r rune) bool { return !strconv.IsGraphic(r) }) {
		return fmt.Sprintf("%.*q", limit, name)
	}
	return name
}
