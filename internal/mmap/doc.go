// Package mmap maps a whole file read-only into memory. Linux, macOS and
// Windows map; other systems read the file.
package mmap
