// Package tensor holds the sums about a tensor that a file describes: how many
// elements its shape has, and how many bytes they take, checked for overflow.
package tensor
