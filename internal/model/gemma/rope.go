package gemma

import (
	"fmt"
	"maps"
	"slices"
)

// parseRope reads the rotary parameters, with the official values where the file
// is silent.
func (c *config) parseRope(file map[string]*fileRope) error {
	c.sliding = rope{theta: 1e4, partial: 1, factor: 1}
	c.full = rope{theta: 1e6, partial: 0.25, factor: 1}
	for _, key := range slices.Sorted(maps.Keys(file)) {
		dst, kind := &c.sliding, "default"
		switch key {
		case "sliding_attention":
		case "full_attention":
			dst, kind = &c.full, "proportional"
		default:
			return fmt.Errorf("config.json: text_config.rope_parameters.%s is no kind of layer", key)
		}
		f := file[key]
		if f == nil {
			continue
		}
		if f.Type != nil {
			kind = *f.Type
		}
		switch kind {
		case "default":
			dst.partial = 1
			if f.Partial != nil && *f.Partial != 1 {
				return fmt.Errorf("config.json: text_config.rope_parameters.%s: partial_rotary_factor with rope_type \"default\" is not supported", key)
			}
		case "proportional":
			dst.partial = 1
			if key == "full_attention" {
				dst.partial = 0.25
			}
			if f.Partial != nil {
				dst.partial = *f.Partial
			}
		default:
			return fmt.Errorf("config.json: text_config.rope_parameters.%s: rope_type %q is not supported", key, kind)
		}
		if f.Theta != nil {
			dst.theta = *f.Theta
		}
		if f.Factor != nil {
			if kind == "default" && *f.Factor != 1 {
				return fmt.Errorf("config.json: text_config.rope_parameters.%s: factor with rope_type \"default\" is not supported", key)
			}
			dst.factor = *f.Factor
		}
		if !dst.sound() || !(dst.partial > 0 && dst.partial <= 1) || !(dst.factor > 0 && dst.factor < 1e6) {
			return fmt.Errorf("config.json: text_config.rope_parameters.%s: theta %v, partial %v, factor %v are out of range", key, dst.theta, dst.partial, dst.factor)
		}
	}
	return nil
}

// sound reports whether the base of the frequencies can be used.
func (r *rope) sound() bool { return r.theta > 1 && r.theta < 1e12 }
