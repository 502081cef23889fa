package diffusion

// Temperature is that of the step with cur steps remaining, itself included:
// cur counts down from Steps to 1 (docs/model.md §5.1),
//
//	T(cur) = t_min + (t_max − t_min) · (cur / S)
//
// in float32, each operation rounded. Only the difference of the two bounds is
// taken in float64 first, as the official code does. T falls from TMax in the
// first step and never reaches TMin. With the temperature off it is 1.
func (s Settings) Temperature(cur int) float32 {
	if s.TemperatureOff {
		return 1
	}
	rest := float32(cur) / float32(s.Steps)
	rise := float32(float32(s.TMax-s.TMin) * rest)
	return float32(s.TMin) + rise
}
