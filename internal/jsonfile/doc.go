// Package jsonfile decodes the small JSON files of a checkpoint folder and says
// what is wrong with them to a person: the key or the byte, what is wanted and
// what was found, in the words of JSON instead of those of Go. TokenIDs finds the special ids that
// such a file names.
package jsonfile
