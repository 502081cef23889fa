package main

import (
	"fmt"
	"strings"

	"github.com/frescolm/fresco/internal/models"
)

// listCommand is "fresco list".
type listCommand struct {
	JSON bool `name:"json" help:"Print one JSON object."`
}

// Run lists the embedded models.
func (l *listCommand) Run(c *console) error {
	list, err := models.List()
	if err != nil {
		return err
	}
	if l.JSON {
		return writeJSON(c.out, struct {
			Models []models.Entry `json:"models"`
		}{list})
	}
	if len(list) == 0 {
		c.note("This program embeds no model; \"fresco run FOLDER\" runs a checkpoint folder.")
		return nil
	}
	width := len("name")
	for _, entry := range list {
		width = max(width, len(entry.Name))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%-*s  %10s  %s\n", width, "name", "weights", "about")
	for _, entry := range list {
		fmt.Fprintf(&b, "%-*s  %10s  %s\n", width, entry.Name, bytesText(entry.Bytes), entry.About)
	}
	_, err = c.out.Write([]byte(b.String()))
	return err
}
