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
		Prompt: `.9.14.235
4.596.18.
8.237.4..
2..5.769.
579...8.3
6814.97.2
3...5...6
...71..24
16.293.78`,
		Seed: &seed,
	})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Text)
	fmt.Println(result.Reason)
	// Output:
	// 796148235
	// 435962187
	// 812375469
	// 243587691
	// 579621843
	// 681439752
	// 327854916
	// 958716324
	// 164293578
	// stop
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
