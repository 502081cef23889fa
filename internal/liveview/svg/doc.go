// Command svg draws a real run of an embedded model as a picture: some of its
// frames side by side, as the live view shows them.
//
//	go run ./internal/liveview/svg -prompt internal/liveview/svg/puzzle.txt -seed 0 -o docs/live.svg
//
// made the picture of the README. The run is that of "fresco run" with the same
// prompt and seed, so the picture is the same every time. puzzle.txt has 36 clues,
// few for this model, so that there is something to see between the first step
// and the last.
package main
