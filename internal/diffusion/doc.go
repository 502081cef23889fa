// Package diffusion is the block-diffusion sampler: the rules by which a canvas
// of random tokens becomes an answer. It is a pure state machine. It knows no
// clock, no goroutine, no tensor and no model; it sees a canvas.Stats per
// position and answers with the next canvas. The rules are those of docs/model.md
// §5, the official sampler of DiffusionGemma.
//
//	Begin ─▶ Step ─▶ (one Denoise of a backend) ─▶ Observe ─┬─▶ Best ─▶ Ending.Finalize
//	          ▲                                             │
//	          └──────────────── not stopped ────────────────┘
//
// Where things are:
//
//	settings.go      what a request may set, and what is refused
//	schedule.go      the temperature of a step
//	draws.go         where random ids come from: addresses, Philox, injection
//	entropybound.go  which positions a step accepts
//	renoise.go       the next canvas: accepted samples and fresh noise
//	stop.go          stable and confident: when a canvas is done
//	finish.go        end token, padding and limits of a finished canvas
//	sampler.go       the state machine that puts them in order
//	testdata/        scripts that teach each rule, and run as tests
//
// # Contract with the caller
//
//  1. New once for an answer, or for one choice and one attempt of it. Begin
//     once for every canvas, with Index counting up from 0. A canvas that is
//     drawn again is begun again with the same Index and Redraw set.
//  2. While Stopped says NotStopped: ask Step for a Pass, run it on the backend,
//     and hand the statistics of every position to Observe. Step changes
//     nothing, so a pass that was cancelled can be asked for again.
//  3. Run the pass as it says: its ids, its temperature, and candidates drawn at
//     its address with Position replaced by the index in the canvas. The
//     self-conditioning state starts empty on Begin and is kept between the
//     passes of one canvas.
//  4. Look for NaN and infinity before Observe, which refuses them. After an
//     error of Observe the state is as before the call.
//  5. Read what a Decision, a Pass, Begin and Best point to before the next call
//     of Begin or Observe; do not change it. Copy what must last.
//  6. After the last pass take Best, the argmax canvas of the last pass that ran,
//     not the current canvas; put it through Ending.Finalize; commit the result,
//     unless the answer is finished.
//  7. A Sampler belongs to one goroutine.
//
// # What always holds
//
//   - The same settings, answer, cells and statistics give the same decisions.
//   - Every pass accepts at least one free position.
//   - Acceptance is decided anew in every pass: a position accepted before may
//     be renoised.
//   - A pinned position has its token in every canvas, is neither accepted nor
//     renoised, counts as entropy 0 in the acceptance sum, and is left out of
//     mean entropy and stability. When all are pinned no pass is needed.
//   - Begin forgets the stability memory: canvases do not know each other.
//   - Step and Observe allocate nothing once a canvas of that length was begun.
package diffusion
