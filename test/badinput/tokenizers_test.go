package badinput

import "testing"

// tokenizer.json.
func TestTokenizers(t *testing.T) {
	tok := func(path string, value any) []edit { return []edit{set(tokenizerFile, path, value)} }
	runDamaged(t, []damaged{
		{name: "missing, with a prompt", edits: []edit{absent(tokenizerFile)}, inspected: new(int), want: want{code: 2, stderr: "PROMPT: the checkpoint has no tokenizer.json; a request to it gives token ids (--ids)"}},
		{name: "missing, with --raw", edits: []edit{absent(tokenizerFile)}, args: []string{"hi", "--raw"}, inspected: new(int), want: want{code: 2, stderr: "PROMPT: the checkpoint has no tokenizer.json; a request to it gives token ids (--ids)"}},
		{name: "missing, with --ids", edits: []edit{absent(tokenizerFile)}, args: []string{"--ids", "2,5,17"}, want: want{answer: true, notes: after("note: no tokenizer.json: prompts and answers are token ids")}},
		{name: "missing, with --ids and --stop", edits: []edit{absent(tokenizerFile)}, args: []string{"--ids", "2,5,17", "--stop", "x"}, inspected: new(int), want: want{code: 2, stderr: "--stop: the model has no tokenizer, so there is no text to stop at"}},
		{name: "missing, without a prompt", edits: []edit{absent(tokenizerFile)}, args: []string{}, inspected: new(int), want: want{code: 2, stderr: "MODEL needs a PROMPT (\"-\" reads standard input) or --ids"}},
		{name: "empty", edits: []edit{whole(tokenizerFile, "")}, want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: byte 0: want an object, found the end of the file"}},
		{name: "no JSON", edits: []edit{whole(tokenizerFile, "tokenizer\n")}, want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: byte 0: want an object, found 't'"}},
		{name: "truncated", edits: []edit{cut(tokenizerFile, 9000)}, want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: model.vocab: byte 9000: want a string, found the end of the file"}},
		{name: "no UTF-8", edits: []edit{replaced(tokenizerFile, "<|think|>", "<|th\xffnk|>")}, want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: byte 1370: not valid UTF-8"}},
		{name: "model type", edits: tok("model.type", "Unigram"), want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: model.type \"Unigram\" is not supported"}},
		{name: "model without a vocabulary", edits: tok("model.vocab", removed{}), want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: model: vocab is missing"}},
		{name: "empty vocabulary", edits: []edit{set(tokenizerFile, "model.vocab", map[string]int{}), set(tokenizerFile, "added_tokens", []int{}), set(tokenizerFile, "post_processor", nil)}, want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: model.unk_token: \"<unk>\" is not in the vocabulary"}},
		{name: "normalizer", edits: tok("normalizer", map[string]string{"type": "NFKC"}), want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: normalizer.type \"NFKC\" is not supported"}},
		{name: "normalizer with an unknown field", edits: tok("normalizer.form", "x"), want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: normalizer: key \"form\" is not known"}},
		{name: "normalizer with a number for a text", edits: tok("normalizer.content", 5), want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: normalizer: Content: want a text, found a number"}},
		{name: "normalizer missing", edits: tok("normalizer", nil), want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: normalizer.type null is not supported"}},
		{name: "pre-tokenizer", edits: tok("pre_tokenizer", map[string]any{"type": "ByteLevel", "add_prefix_space": false}), want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: pre_tokenizer.type \"ByteLevel\" is not supported"}},
		{name: "decoder", edits: tok("decoder", map[string]string{"type": "WordPiece"}), want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: decoder.type \"WordPiece\" is not supported"}},
		{name: "truncation", edits: tok("truncation", map[string]int{"max_length": 5}), want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: truncation {…} is not supported"}},
		{name: "unknown field", edits: tok("model.vocab_scores", []int{}), want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: model: field \"vocab_scores\" is not supported"}},
		{name: "one id for two pieces", edits: tok("model.vocab.<0xFE>", 383), want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: model.vocab: token \"<0xFF>\": id 383 is already that of \"<0xFE>\""}},
		{name: "one piece twice", edits: []edit{replaced(tokenizerFile, `"<0xFE>"`, `"<0xFF>"`)}, want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: model.vocab: token \"<0xFF>\" occurs twice"}},
		{name: "merge of absent pieces", edits: tok("model.merges", [][]string{{"q", "qq"}}), want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: model.merges[0]: piece \"qq\" is not in the vocabulary"}},
		{name: "merge into an absent piece", edits: tok("model.merges", [][]string{{"1", "2"}}), want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: model.merges[0]: piece \"12\" is not in the vocabulary"}},
		{name: "merge of three", edits: tok("model.merges", [][]string{{"1", "2", "3"}}), want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: model.merges[0]: has 3 pieces, want 2"}},
		{name: "id beyond the embedding", edits: tok("model.vocab.more", 384), want: want{code: 3, stderr: "MODEL: tokenizer.json has ids up to 384, the embedding only 384 rows"}},
		{name: "id negative", edits: tok("model.vocab.<0xFF>", -1), want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: model.vocab: token \"<0xFF>\": id -1 is out of range (0 to 18404 in a file of 18405 bytes)"}},
		{name: "id huge", edits: tok("model.vocab.<0xFF>", 1<<40), want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: model.vocab: token \"<0xFF>\": id 1099511627776 is out of range (0 to 18415 in a file of 18416 bytes)"}},
		{name: "added token without content", edits: tok("added_tokens.4.content", removed{}), want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: added_tokens[4]: content is missing or empty"}},
		{name: "added token without id", edits: tok("added_tokens.4.id", removed{}), want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: added_tokens[4]: id is missing"}},
		{name: "added token under another id", edits: tok("added_tokens.4.id", 3), want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: added_tokens[4]: token \"<mask>\": id 3 occurs twice"}},
		{name: "added token that strips", edits: tok("added_tokens.4.lstrip", true), want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: added_tokens[4]: token \"<mask>\": lstrip true is not supported"}},
		{name: "byte token missing", edits: []edit{set(tokenizerFile, "model.vocab.<0xFE>", removed{}), set(tokenizerFile, "model.unk_token", nil)}, want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: model.vocab: byte token <0xFE> is missing, and there is no unk_token"}},
		{name: "unk_token absent", edits: tok("model.unk_token", "<nothing>"), want: want{code: 3, stderr: "MODEL: tokenizer: tokenizer.json: model.unk_token: \"<nothing>\" is not in the vocabulary"}},
		{name: "without turn markers", edits: []edit{absent("prompt.json"), absent("tokenizer_config.json"), set(tokenizerFile, "added_tokens.5.special", false)}, want: want{answer: true, notes: after("note: the tokenizer has no <|turn>: the prompt is taken as it is (--raw)")}},
		{name: "row without a token", edits: tok("model.vocab.<0xFE>", removed{}), want: want{answer: true, notes: after("note: 1 row without a token")}},
		{name: "special id without a token", edits: []edit{set(tokenizerFile, "model.vocab.<0xFE>", removed{}), set(configFile, "mask_token_id", 382)}, want: want{code: 3, stderr: "MODEL: config.json: mask_token_id: id 382 has no token (the tokenizer has 384 ids)"}},
	})
}
