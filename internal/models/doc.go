// Package models opens a model by its name: one that is embedded in the program,
// or by its path a checkpoint folder in the Hugging Face layout or a GGUF file.
//
// Opening resolves the architecture by the model_type of config.json or the
// general.architecture of a GGUF file, loads the tokenizer where there is one, finds the ids that have a token, chooses the
// prompt form, and puts an engine on the backend. What a person should know about
// the model that was loaded is in its Notes.
//
// # Errors
//
// An unknown name is an *UnknownError, which suggests near ones. A folder that
// cannot be opened keeps the error of the file system (fs.ErrNotExist,
// fs.ErrPermission). A checkpoint whose content cannot be used is a
// *weights.RejectedError.
package models
