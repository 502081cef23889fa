package gemma

// finalNorm computes the input of the head from the last layer's output, in
// place.
func (f *forward) finalNorm(x []float32) []float32 {
	rows := len(x) / f.config.hidden
	f.team.RMSNorm(x, x, f.weights.norm, rows, f.config.eps, f.round)
	if f.probe != nil && f.probe.final != nil {
		f.probe.final(x, rows)
	}
	return x
}
