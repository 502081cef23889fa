// Package tokenizer turns text into token ids and back, by a tokenizer.json
// of Gemma's form: byte-pair encoding by merge rank over the whole text
// between added tokens, with byte fallback.
//
// # Encoding
//
//  1. Added tokens are cut out of the raw text: leftmost match, and of those
//     the longest.
//  2. In what lies between them every space is read as U+2581 (▁). Nothing
//     splits the text further: a word of a million letters is one input of
//     the next step.
//  3. Each character becomes the piece of that character, or else one byte
//     token <0xXX> per byte of its UTF-8 form, or else, in a vocabulary
//     without those byte tokens, the unknown token.
//  4. The neighbours whose merge has the lowest rank are joined, the leftmost
//     of equals first, until no neighbours have a merge. The cost is
//     O(n log n) in the length of the text.
//
// Text that is not valid UTF-8 is encoded too: each byte that belongs to no
// character becomes the byte token of that byte.
//
// # Decoding
//
// U+2581 becomes a space, byte tokens become their bytes, and all is joined. A
// maximal run of byte tokens is decoded together: a run that is not valid
// UTF-8 as a whole gives one U+FFFD per byte, its valid parts included.
// Special tokens that are to be skipped are dropped before that, so that the
// bytes on both sides of one join. An id without a token gives U+FFFD; Check
// tells such ids apart.
//
// For valid UTF-8 without U+2581, Decode(Encode(text)) is text again, as long
// as special tokens are not skipped and the vocabulary has the byte tokens and
// ▁. (A U+2581 in the text comes back as a space.)
//
// # What a file may say
//
// Everything in the file that would change the ids or the text and is not
// described above is refused by an error that names it: other model types,
// normalizers, pre-tokenizers, decoders and post-processors, added tokens that
// strip or need word borders or are matched in normalized text, dropout,
// prefixes and suffixes of pieces, truncation, padding to a length, and fields
// that are not known. A pre-tokenizer that splits on " " is accepted because
// it never finds one after the normalizer. Ignored as harmless are the form for
// pairs of texts and the padding of a batch to its longest text.
//
// # GGUF
//
// A GGUF file holds the same tokenizer in parts, from which [FromParts] makes one.
//
// The definition is docs/model.md §8.1 together with the behaviour of Hugging Face
// tokenizers 0.23.
package tokenizer
