// Package weights opens a checkpoint, a folder in the Hugging Face layout or a GGUF
// file, and binds its tensors to the slots that an architecture expects. It knows no
// architecture itself: the slots (official name, aliases, shape, types) and the
// groups of tensors to set aside are handed to it.
//
// A folder holds config.json and either model.safetensors or
// model.safetensors.index.json with its shards. It is read from a directory,
// memory-mapped, or from an fs.FS that is built into the program. A GGUF file is
// told by its content, and has its configuration in its metadata.
//
// Bind is strict: every slot has exactly one tensor, of its shape and of a type
// that can be used, and small tensors are free of NaN and infinity. What does
// not fit is listed completely, with the stored names that come closest to a
// missing one. An error about the content of a folder is a *RejectedError;
// errors of the file system are passed on as they are.
package weights
