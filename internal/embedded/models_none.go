//go:build noembed

package embedded

// models is empty: the program was built without them.
var models []Model
