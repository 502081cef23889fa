package fresco_test

import (
	"context"
	"fmt"
	"log"

	"github.com/frescolm/fresco"
)

// A puzzle is solved by the embedded model. A seed makes the answer repeatable.
func Example() {
	m, err := fresco.Open("sudoku", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()

	seed := uint64(7)
	result, err := m.Answer(context.Background(), fresco.Options{
		Prompt: `496.2..7.
8176.43..
..2897..6
3.8......
2..3.94..
169..5783
.23..6..8
7.1..8..4
6...1293.`,
		Seed: &seed,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text)
	fmt.Println(result.Reason)
	// Output:
	// 496123875
	// 817654392
	// 532897146
	// 348761259
	// 275389461
	// 169245783
	// 923476518
	// 751938624
	// 684512937
	// stop
}

// Answer does not look whether the answer is right. Check does, for a task with
// rules, and the next attempt of the same seed is another answer.
func ExampleModel_Check() {
	m, err := fresco.Open("sudoku", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()

	seed := uint64(7)
	options := fresco.Options{Seed: &seed, Prompt: `496.2..7.
8176.43..
..2897..6
3.8......
2..3.94..
169..5783
.23..6..8
7.1..8..4
6...1293.`}
	for options.Attempt = range 4 {
		result, err := m.Answer(context.Background(), options)
		if err != nil {
			log.Fatal(err)
		}
		problem, checked := m.Check(options.Prompt, result.Text)
		if !checked {
			log.Fatal("the prompt is no puzzle")
		}
		if problem == "" {
			fmt.Println("solved at attempt", options.Attempt)
			return
		}
		fmt.Println("not solved:", problem)
	}
	// Output:
	// solved at attempt 0
}

// Generate yields what happens while it happens: here every denoising step, and
// each piece of text as soon as it will not change any more.
func ExampleModel_Generate() {
	m, err := fresco.Open("sudoku", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer m.Close()

	seed := uint64(7)
	options := fresco.Options{Prompt: "How do you do?", Seed: &seed, MaxSteps: 2, MaxTokens: 1, Drafts: true}
	for event, err := range m.Generate(context.Background(), options) {
		if err != nil {
			log.Fatal(err)
		}
		switch e := event.(type) {
		case *fresco.Started:
			fmt.Println("prompt tokens:", e.PromptTokens)
		case *fresco.Draft:
			fmt.Printf("step %d of %d at temperature %.2f\n", e.Step, e.Steps, e.Temperature)
		case *fresco.Committed:
			fmt.Println("new tokens:", len(e.IDs))
		case *fresco.Finished:
			fmt.Println("finished:", e.Reason)
		}
	}
	// Output:
	// prompt tokens: 15
	// step 1 of 2 at temperature 0.80
	// step 2 of 2 at temperature 0.79
	// new tokens: 1
	// finished: length
}
