package canvas

// An Adjustment changes the logits of one position before everything else, in
// this order: a token in Repetition has its soft-capped logit divided by the
// factor when it is positive and multiplied by it when it is negative; then
// Bias is added. Both are sparse, in ascending id order, without repeats.
type Adjustment struct {
	Repetition []Factor
	Bias       []Bias
}

// Empty reports whether the adjustment changes nothing.
func (a Adjustment) Empty() bool { return len(a.Repetition) == 0 && len(a.Bias) == 0 }

// A Bias is added to the logit of a token.
type Bias struct {
	ID    int32
	Value float32
}

// A Factor divides or multiplies the logit of a token; see Adjustment.
type Factor struct {
	ID    int32
	Value float32 // > 0; 1 changes nothing
}

// A Filter keeps only part of a distribution before a token is drawn from it,
// in this order. At least one token always stays.
type Filter struct {
	// TopK keeps the k most likely tokens; 0 keeps all. Tokens tied with the
	// k-th stay.
	TopK int
	// TopP keeps the most likely tokens, in descending order, up to and
	// including the one with which their probability reaches TopP; 0 and 1 keep
	// all. The probabilities are those after TopK.
	TopP float32
	// MinP keeps the tokens whose probability is at least MinP times that of
	// the most likely one; 0 keeps all.
	MinP float32
}

// Empty reports whether the filter keeps everything.
func (f Filter) Empty() bool {
	return f.TopK == 0 && (f.TopP == 0 || f.TopP == 1) && f.MinP == 0
}

// Sampling is what is asked of one row of an Encode: a distribution over the
// next token and a draw from it.
type Sampling struct {
	Adjust Adjustment
	// Temperature divides the adjusted logits. 0 means that the token drawn is
	// the argmax, and that entropy and top-k are those at temperature 1.
	Temperature float32
	Filter      Filter
	// Allowed, when not nil, lists the only ids that may be drawn, ascending.
	Allowed []int32
	// Draw is the address of the draw.
	Draw Address
	// Score lists ids whose log-probabilities are wanted, under the model's own
	// distribution: temperature 1, before Adjust, Filter and Allowed.
	Score []int32
	// Top asks for this many most likely tokens, under the same distribution.
	Top int
}

// Candidates says how the candidate tokens of a denoising step are drawn. The
// zero value is not useful: the official sampler is Candidates{Temperature: 1}.
type Candidates struct {
	// Temperature divides the step's processed logits (those already divided by
	// the step's temperature) once more, for the draw alone. 1 is the official
	// sampler, 0 takes the argmax.
	Temperature float32
	Filter      Filter
}

// Stats is what is known about one position after a pass.
type Stats struct {
	// Argmax is the id with the highest processed logit; of equal ones the
	// lowest id.
	Argmax int32
	// Entropy is that of the processed distribution, before filters, in nats.
	Entropy float32
	// Sample is the token drawn.
	Sample int32
	// Scores answers Score, in its order.
	Scores []float32
	// Top answers Top: descending logits, equal ones by ascending id. Different
	// logits may have log-probabilities that are rounded to the same number.
	Top []Scored
	// NonFinite is set when a logit of the row was NaN or infinite; the other
	// fields are then meaningless.
	NonFinite bool
}

// A Scored is a token with the natural logarithm of its probability.
type Scored struct {
	ID      int32
	LogProb float32
}
