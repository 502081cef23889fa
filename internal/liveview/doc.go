// Package liveview draws a canvas while it is denoised, one frame a denoising
// step, on a terminal.
//
//	engine.Draft ──Compose──▶ Frame ──Palette.Encode──▶ text ──View──▶ terminal
//	                            └────────▶ SVG picture (internal/liveview/svg)
//
// Compose and Encode are pure functions; the View alone writes, and it never
// reads: what a person types is none of its business.
//
// A frame has two panels. "canvas" is what the next denoising step will read:
// accepted positions carry their token, the others were renoised and carry a
// random one. "best guess" is the argmax canvas, where the cells that changed in
// this step stand out. Both break their lines where the best guess does, so that
// a grid looks like a grid from the moment the model has found its line ends.
package liveview
