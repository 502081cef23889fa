// Package models opens a model by its name: one that is embedded in the program,
// or a checkpoint folder in the Hugging Face layout.
//
// Opening resolves the architecture by the model_type of config.json, loads the
// tokenizer where there is one, finds the ids that have a token, chooses the
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
