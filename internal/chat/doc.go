// Package chat turns what a person says into the prompt of a model.
//
// How a checkpoint wants to be asked is its Form:
//
//   - Task, for a model trained for one thing: a heading before the input. It is
//     read from prompt.json beside the checkpoint.
//   - Turns, Gemma's turns: <bos><|turn>user … <turn|><|turn>model (docs/model.md
//     §8.2), one user message without system turn, tools or thinking.
//   - Raw: the text as it is.
//
// Choose finds the form of a checkpoint. A form gives a Prompt: segments of
// control text, in which special tokens count, and of the user's own text, in
// which a spelled-out special token is just text, so that nobody can forge a
// turn. Encode makes token ids of it.
package chat
